"""Debian's own kernel in real time. KVM's place takes QEMU's software here: slower, and the same in all else."""

from __future__ import annotations

import tomllib

import pytest
from harness import Place
from scenarios import flow, path

import dumbbell
from dumbbell.analysis.rules.rule import NOTHING_TO_JUDGE
from dumbbell.doctor.finding import Level
from dumbbell.doctor.kernels import real_time
from dumbbell.engines.kvm.engine import KvmEngine
from dumbbell.kernels import find, ready

pytestmark = [pytest.mark.xdist_group("ready"), pytest.mark.thorough]

NAME = "debian-6.12"
SOFTWARE = "tcg,thread=multi"
BOOTS_S = 120.0
"""Software boots it in some four seconds, and beside other tests in more."""


@pytest.fixture(scope="module", autouse=True)
def kernel() -> ready.Image:
    """The kernel of Debian's package, as `dumbbell kernel add` fetches it."""
    return ready.named(NAME) or ready.add(NAME)


@pytest.mark.real_time
def test_what_happens_inside_is_an_emulated_run_whose_evidence_is_recorded_there(here: Place) -> None:
    engine = KvmEngine(SOFTWARE, BOOTS_S)
    slow = tomllib.loads(path(flow(cc="cubic"), duration="2 s", rate="2 Mbit/s"))
    run = dumbbell.run(slow, {"emulate.kernel": NAME}, here.directory, engine=engine, report=True)
    told = run.manifest["kernel"]
    assert (told["clock"], told["accelerator"]) == ("real", SOFTWARE)
    assert told["version"].startswith("6.12.")
    assert told["wall_s"] > 2, "two seconds take as long"
    checks = {one["check"]: one for one in run.summary["checks"]}
    # Those of an emulated run judge it.
    for name in ("lateness", "stall", "emulator-starved", "traffic-starved", "steal", "cpus", "clock-steps"):
        assert NOTHING_TO_JUDGE not in checks[name]["measured"], checks[name]
    assert NOTHING_TO_JUDGE in checks["virtual-cpu"]["measured"]
    assert "p99" in checks["lateness"]["measured"]
    (one,) = run.summary["flows"]
    assert one["goodput_bps"] > 1e6, "2 Mbit/s are little, even for software"
    assert "in a virtual machine" in run.report().read_text()


def test_a_boot_says_whether_a_kernel_runs_in_real_time() -> None:
    machine = find(NAME).machine
    assert machine is not None
    assert ready.why_not_in_real_time(machine, SOFTWARE, BOOTS_S) is None
    told = ready.why_not_in_real_time(machine, SOFTWARE, 0.05)
    assert told == "it did not boot within 0.05 s (the virtual machine is silent)"
    assert real_time(SOFTWARE, BOOTS_S).level is Level.OK


def test_where_kvm_does_not_work_it_is_refused_by_its_key(here: Place) -> None:
    machine = find(NAME).machine
    assert machine is not None
    if ready.why_not_in_real_time(machine) is None:
        pytest.skip("this machine has KVM")
    done = here.invoke("run", "single-flow", "--engine", "kvm", "--kernel", NAME)
    assert done.returncode == 2, done.stderr
    assert "emulate.kernel" in done.stderr
    assert "cannot run in real time: " in done.stderr
    assert "--engine virtual runs debian-6.12 without KVM" in done.stderr
    assert real_time().level is Level.WARN

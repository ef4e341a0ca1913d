"""The engine of virtual time before any kernel starts: its plans, what it refuses, its CPUs, and what stands still."""

from __future__ import annotations

import fcntl
import math
import os
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

import dumbbell
from dumbbell.cc.bundled import BUNDLED
from dumbbell.cc.core import parameters_of
from dumbbell.cli import invoke
from dumbbell.command import rebuild
from dumbbell.engines.names import VIRTUAL
from dumbbell.engines.registry import engine
from dumbbell.engines.virtual import slot, spot
from dumbbell.engines.virtual.engine import INIT, VirtualEngine
from dumbbell.engines.virtual.guest import UserMode
from dumbbell.engines.virtual.machine import Boot
from dumbbell.engines.virtual.standstill import Process, Standstill, Watch, below
from dumbbell.errors import InputError
from dumbbell.kernels import Kernel
from dumbbell.pipeline.planned import planned
from dumbbell.plan.algorithms import programs, with_parameters
from dumbbell.plan.identity import run_id
from dumbbell.plan.types import KernelSource, LinkedSource, TunedSource
from dumbbell.studies.cells import parse

KERNEL = Kernel(
    name="6.12",
    version="6.12.94",
    path=Path("/nowhere/linux"),
    hash="ab" * 32,
    patches=(),
    algorithms=("bbr", "bbr3", "cubic", "reno"),
    qdiscs=(),
    sysctls=("net.ipv4.conf.default.forwarding", "net.ipv4.tcp_ecn", "net.ipv4.tcp_rmem"),
)


@pytest.fixture(autouse=True)
def kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    def find(name: str, programs: object = ()) -> Kernel:
        if name not in ("6.12", "6.1"):
            raise InputError(f"there is no kernel {name}", "built are 6.12", "dumbbell kernel build")
        return replace(KERNEL, name=name, hash=("ab" if name == "6.12" else "cd") * 32)

    monkeypatch.setattr("dumbbell.kernels.find", find)


def refused(name: str, *overrides: str) -> list[str]:
    scenario = dumbbell.load("single-flow", overrides)
    found = engine(name)
    return [problem.text() for problem in found.check(scenario, planned(found, scenario))]


def test_a_plan_names_its_kernel_and_has_nothing_that_has_no_meaning() -> None:
    plan = planned(engine(VIRTUAL), dumbbell.load("single-flow"))
    assert (plan.emulate.kernel, plan.emulate.kernel_sha256) == ("6.12", "ab" * 32)
    assert plan.emulate.spin_ns == 0


def test_a_kernels_first_process_needs_no_library_that_a_machine_may_lack() -> None:
    told = subprocess.run(["readelf", "--dynamic", INIT], capture_output=True, text=True, check=True).stdout
    needed = {line.partition("[")[2].rstrip("]") for line in told.splitlines() if "(NEEDED)" in line}
    assert needed <= {"libc.so.6", "libm.so.6", "libgcc_s.so.1", "ld-linux-x86-64.so.2"}


def test_a_part_that_was_not_built_is_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dumbbell.engines.virtual.engine.INIT", Path("/nowhere/guest_init"))
    (said,) = refused(VIRTUAL)
    assert "there is no /nowhere/guest_init" in said
    assert "hint: make kernel" in said


def test_the_kernel_is_a_part_of_the_identity() -> None:
    plans = [
        planned(engine(VIRTUAL), dumbbell.load("single-flow", [f"emulate.kernel={name}"])) for name in ("6.1", "6.12")
    ]
    assert len({run_id(plan, VIRTUAL, "1") for plan in plans}) == 2
    rebuilt = replace(plans[0], emulate=replace(plans[0].emulate, kernel_sha256="ef" * 32))
    assert run_id(rebuilt, VIRTUAL, "1") != run_id(plans[0], VIRTUAL, "1")


def test_plans_of_other_engines_have_no_kernel() -> None:
    assert planned(engine("emulate"), dumbbell.load("single-flow")) == dumbbell.expand(dumbbell.load("single-flow"))


def test_what_comes_with_dumbbell_is_the_kernels_own() -> None:
    plan = planned(engine(VIRTUAL), dumbbell.load("single-flow", ["flows.0.cc=bbr3"]))
    (algorithm,) = plan.algorithms
    assert (algorithm.label, algorithm.source, algorithm.sha256) == ("bbr3", KernelSource(name="bbr3"), None)


def test_what_comes_with_dumbbell_and_has_parameters_is_linked_to_the_kernel(tmp_path: Path) -> None:
    ends = {"from": "h1", "to": "h2"}
    scenario = dumbbell.load(
        {
            "name": "x",
            "duration": "1 s",
            "topology": {"kind": "path", "rtt": "20 ms", "bottleneck": {"rate": "20 Mbit/s"}},
            "flows": [{**ends, "cc": {"name": "bbr3", "parameters": {"beta_keep": 200}}}, {**ends, "cc": "bbr3"}],
        }
    )
    plan = planned(engine(VIRTUAL), scenario)
    assert engine(VIRTUAL).check(scenario, plan) == []
    tuned, own = plan.algorithms
    assert (tuned.label, own.label) == ("bbr3 (beta_keep=200)", "bbr3")
    assert own.source == KernelSource(name="bbr3")
    assert isinstance(tuned.source, TunedSource)
    (program,) = programs(plan, tmp_path)
    assert (tuned.source.of, tuned.source.name) == ("bbr3", program.registered)
    assert tuned.parameters == {"beta_keep": 200}
    assert b"X(__u32, beta_keep, 200)" in program.content
    assert b"X(__u32, headroom, 38)" in program.content


def test_every_algorithm_with_parameters_has_a_source_to_give_them_to() -> None:
    found = {label: known.known for label in BUNDLED if (known := parameters_of(label)) is not None and known.known}
    assert {"bbr2", "bbr3", "bpf_cubic", "bpf_dctcp"} <= set(found)
    for label, parameters in found.items():
        for one in parameters:
            value = not one.default if one.bits == 1 else one.bounds[0]
            program = with_parameters("mine", label, {one.name: value})
            assert f", {one.name}, {int(value)})" in program.content.decode(), label


def test_settings_of_interfaces_are_those_of_others() -> None:
    assert refused(VIRTUAL, "hosts.sysctl={'net.ipv4.conf.eth0.forwarding'='1'}") == []


def test_a_name_of_a_kernel_is_no_number() -> None:
    assert dumbbell.load("single-flow", ["emulate.kernel=6.10"]).emulate.kernel == "6.10"
    with pytest.raises(InputError, match=r"there is no kernel 6\.10"):
        refused(VIRTUAL, "emulate.kernel=6.10")


def test_a_kernel_is_an_option_of_the_command_and_an_argument(capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["run", "single-flow", "--engine", VIRTUAL, "--kernel", "6.10"]) == 2
    assert "there is no kernel 6.10" in capsys.readouterr().err
    for overrides in ((), {"duration": "1 s"}, "duration=1 s"):
        with pytest.raises(InputError, match=r"there is no kernel 6\.10"):
            dumbbell.run("single-flow", overrides, engine=VIRTUAL, kernel="6.10")


def test_kernels_can_be_varied() -> None:
    assert parse(["emulate.kernel=6.1,6.10"]) == {"emulate.kernel": ["6.1", "6.10"]}


@pytest.mark.parametrize(
    ("override", "wrong", "hint"),
    [
        ("flows.0.cc=bbr2", "the kernel 6.12 has no bbr2", "--engine emulate loads bbr2 as a BPF program"),
        ("flows.0.cc=cubik", "the kernel 6.12 has no such congestion control", "did you mean cubic?"),
        ("emulate.cpus=1", "a kernel in virtual time has one CPU", "leave it out"),
        (
            "hosts.sysctl={'net.ipv4.tcp_ecm'='1'}",
            "the kernel 6.12 does not have this setting",
            "mean net.ipv4.tcp_ecn?",
        ),
        ("hosts.sysctl={'net.mptcp.enabled'='1'}", "the kernel 6.12 does not have this setting", "--kernel NAME"),
    ],
)
def test_what_a_kernel_cannot_do_is_refused_with_what_to_use_instead(override: str, wrong: str, hint: str) -> None:
    (said,) = refused(VIRTUAL, override)
    assert wrong in said
    assert hint in said.partition("hint: ")[2]


def test_parts_that_are_missing_are_one_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dumbbell.engines.virtual.engine.INIT", Path("/nowhere/guest_init"))
    scenario = dumbbell.load("single-flow")
    incomplete = VirtualEngine(links=Path("/nowhere/guest_links.so"))
    (problem,) = incomplete.check(scenario, planned(incomplete, scenario))
    assert problem.why == "there is no /nowhere/guest_init, no /nowhere/guest_links.so"
    assert problem.hint == rebuild("kernel")


def test_a_bpf_program_becomes_part_of_the_kernel_and_an_object_is_refused(tmp_path: Path) -> None:
    program = tmp_path / "mine.bpf.c"
    program.write_text("int mine;")
    plans = [
        planned(engine(VIRTUAL), dumbbell.load("single-flow", [f'flows.0.cc={{{key}="{program}"}}']))
        for key in ("bpf", "kernel")
    ]
    by_bpf, by_kernel = (plan.algorithms[0].source for plan in plans)
    assert isinstance(by_bpf, LinkedSource)
    assert isinstance(by_kernel, LinkedSource)
    assert (by_bpf.path, by_bpf.name) == ("algorithms/mine.bpf.c", by_kernel.name)
    compiled = tmp_path / "mine.bpf.o"
    compiled.write_bytes(b"object")
    (said,) = refused(VIRTUAL, f'flows.0.cc={{bpf="{compiled}"}}')
    assert "loads no BPF programs" in said
    assert "name its source, my_cc.bpf.c" in said


@pytest.mark.parametrize("name", ["emulate", "simulate"])
def test_engines_without_a_kernel_refuse_one(name: str) -> None:
    said = "\n".join(refused(name, "emulate.kernel=6.12"))
    assert "--engine virtual" in said


def test_the_command_line_of_a_kernel_is_the_same_on_every_machine() -> None:
    first, second = (Boot(Path(place, "linux"), 7, 1 << 30, links=None).command()[1:] for place in ("/a", "/b"))
    assert first == second
    assert "random-seed=7" in first


def test_runs_at_once_have_a_cpu_each() -> None:
    """Each in a process of its own: a CPU is taken for all that a process starts."""
    code = "from dumbbell.engines.virtual import slot; cpu, claim = slot.take(); print(cpu, flush=True); input()"
    cpus = sorted(os.sched_getaffinity(0))
    with started(*(code for _ in range(len(cpus) + 1))) as processes:
        taken = [int(process.stdout.readline()) for process in processes if process.stdout]
        kept = [os.sched_getaffinity(process.pid) for process in processes]
    # Others may have some already, in layers of their own: then ours go on from there.
    assert kept == [{cpu} for cpu in taken]
    assert len(set(taken)) == len(cpus)


def test_a_cpu_is_free_again_when_its_process_ends() -> None:
    before = os.sched_getaffinity(0)
    names = []
    try:
        for _ in range(2):
            _, claim = slot.take()
            names.append(claim.getsockname())
            claim.close()
            os.sched_setaffinity(0, before)
    finally:
        os.sched_setaffinity(0, before)
    assert names[0] == names[1]


def _look_for_ever(watch: Watch) -> None:
    while True:
        watch.look()


@contextmanager
def started(*codes: str) -> Iterator[list[subprocess.Popen[str]]]:
    processes = [
        subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        for code in codes
    ]
    try:
        yield processes
    finally:
        for process in processes:
            process.kill()
            process.communicate()


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Watches look at once, and ask no kernel."""
    monkeypatch.setattr("dumbbell.engines.virtual.standstill._QUIET_S", 0.0)
    monkeypatch.setattr("dumbbell.engines.virtual.standstill._LOOK_S", 0.01)
    monkeypatch.setattr("dumbbell.engines.virtual.standstill.current", lambda first: None)


# On a busy machine, a process that computes may get no CPU for longer than any limit: each case has one limit.
@pytest.mark.parametrize(
    ("code", "spin_s", "hang_s", "why"),
    [("while True: pass", 0.3, math.inf, "of computing"), ("input()", math.inf, 0.5, "in which nothing computed")],
)
@pytest.mark.usefixtures("impatient")
def test_what_stands_still_is_noticed_and_what_has_events_is_not(
    code: str, spin_s: float, hang_s: float, why: str
) -> None:
    with started(code) as (process,):
        # A process that a watched process starts counts, too.
        assert process.pid in [one.pid for one in below(os.getpid())]
        watch = Watch(process.pid, spin_s, hang_s)
        for _ in range(20):
            watch.alive()
            watch.look()
        with pytest.raises(Standstill) as found:
            _look_for_ever(watch)
    assert why in found.value.why


@pytest.mark.parametrize(
    ("share", "noticed_s", "why"),
    [(1.0, 90, "of computing"), (0.1, 900, "of computing"), (0.0, 60, "in which nothing computed")],
)
@pytest.mark.usefixtures("impatient")
def test_a_kernel_that_computes_may_compute_slowly(
    share: float, noticed_s: float, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The kernel gets a share of a CPU, by a clock that the test turns."""
    clock = SimpleNamespace(now_s=0.0)
    module = "dumbbell.engines.virtual.standstill"
    monkeypatch.setattr(f"{module}.time", SimpleNamespace(monotonic=lambda: clock.now_s))
    monkeypatch.setattr(f"{module}.below", lambda first: [Process(first, "R", share * clock.now_s)])

    def watched() -> Iterator[None]:
        watch = Watch(1)
        while True:
            clock.now_s += 1
            watch.look()
            yield

    with pytest.raises(Standstill) as raised:
        deque(watched(), maxlen=0)
    assert clock.now_s == pytest.approx(noticed_s, abs=12)
    assert why in raised.value.why


def test_symbols_tell_the_source_of_a_function(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The last symbols of each object name its source; a static name may be in several objects."""
    table = [
        ("tcp_ack", 0x1000, 0x100, 2),
        ("__initcall__kmod_af_packet__819_4998_packet_init6", 0x9000, 8, 1),
        ("reno_cong_avoid", 0x2000, 0x20, 2),
        ("__initcall__kmod_westwood__699_89_bpf_westwood_register7", 0x9008, 8, 1),
        ("db_license_westwood", 0x9100, 13, 1),
        ("reno_cong_avoid", 0x3000, 0x20, 2),
        ("__initcall__kmod_user_d534d396fc10__699_67_mine_register7", 0x9010, 8, 1),
        ("helper", 0x3020, 0x10, 2),
        ("db_license_user_d534d396fc10", 0x9110, 13, 1),
        ("time_travel_time", 0xA000, 8, 1),
    ]
    monkeypatch.setattr(spot, "_symbols", lambda elf: table)
    (tmp_path / "linux").touch()
    symbols = spot.Symbols(tmp_path / "linux")
    assert symbols.clock == 0xA000
    assert symbols.at(0x2010) == spot.Spot("reno_cong_avoid", "westwood")
    assert symbols.at(0x3010) == spot.Spot("reno_cong_avoid", "user_d534d396fc10")
    assert symbols.at(0x3020) == spot.Spot("helper", "user_d534d396fc10")
    assert [symbols.at(address) for address in (0xFFF, 0x1100, 0x3030)] == [None] * 3
    plan = [
        {"source": {"kind": "bundled", "name": "bbr3"}},
        {"source": {"kind": "linked", "path": "algorithms/mine.c", "name": "mine_d534d"}},
    ]
    assert spot.own_program("user_d534d396fc10", plan) == "mine.c"
    assert spot.own_program("user_aaaaaaaaaaaa", plan) is None
    assert spot.own_program("westwood", plan) is None


def test_a_process_is_seen_computing_and_goes_on() -> None:
    with started("n = 0\nwhile n < 10**7: n += 1\nprint(n)") as (process,):
        addresses = [spot.instruction(process.pid) for _ in range(3)]
        assert all(addresses)
        assert process.stdout is not None
        assert process.stdout.read() == "10000000\n"
    assert spot.instruction(process.pid) is None


def _signals(ours: int, theirs: int) -> int:
    """How many signals a process that asks for them gets as another reads twice what it wrote once."""
    caught = []
    before = signal.signal(signal.SIGIO, lambda *_: caught.append(1))
    try:
        # As a user-mode kernel does with a console.
        fcntl.fcntl(theirs, fcntl.F_SETOWN, os.getpid())
        fcntl.fcntl(theirs, fcntl.F_SETFL, fcntl.fcntl(theirs, fcntl.F_GETFL) | os.O_ASYNC | os.O_NONBLOCK)
        os.set_blocking(ours, False)
        os.write(theirs, b"line\n")
        assert os.read(ours, 100) == b"line\n"
        with pytest.raises(BlockingIOError):
            os.read(ours, 100)
        os.close(theirs)
        assert os.read(ours, 100) == b""
        os.close(ours)
    finally:
        signal.signal(signal.SIGIO, before)
    return len(caught)


def test_reading_a_kernels_log_does_not_interrupt_it() -> None:
    assert _signals(*UserMode.log()) == 0
    assert _signals(*os.pipe()) > 0, "a pipe tells its writer"

"""Congestion controls that are BPF programs, for real: those that come with dumbbell, and one's own."""

from __future__ import annotations

import json
import os
import shutil
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from bbr_phases import VERSIONS, acks, assert_phases_follow
from harness import ORDINARY, Place, place, until
from scenarios import checks, flow, link, path
from stages import thorough_after

import dumbbell

TUTORIAL = Path(__file__).parents[2] / "docs" / "tutorial"

pytestmark = pytest.mark.skipif(
    os.geteuid() != 0 or not Path("/sys/kernel/btf/vmlinux").exists(),
    reason="loading congestion controls takes root, and a kernel with type information",
)


def known() -> set[str]:
    """Names of all congestion controls of this kernel."""
    return set(Path("/proc/sys/net/ipv4/tcp_available_congestion_control").read_text().split())


@pytest.fixture(autouse=True)
def _nothing_stays(here: Place) -> Iterator[None]:
    """Nothing stays of the registrations of the test's runs, by their manifests. Other runs on this machine come and go
    meanwhile."""
    yield
    manifests = [json.loads(file.read_text()) for file in here.directory.glob("runs/*/manifest.json")]
    ones = [one for manifest in manifests for one in manifest.get("algorithms", ())]
    registered = {one["registered"] for one in ones if one["loaded"] == "run"}
    until(lambda: not registered & known(), 60, f"the end of {registered}")


def algorithms(run: dumbbell.Run) -> dict[str, Any]:
    """The manifest's algorithms, by label."""
    return {one["label"]: one for one in run.manifest["algorithms"]}


def goodput(run: dumbbell.Run) -> list[float]:
    """The goodput of each flow, in Mbit/s."""
    return [flow["goodput_bps"] / 1e6 for flow in run.summary["flows"]]


@pytest.mark.real_time
def test_those_that_come_with_dumbbell(here: Place) -> None:
    """Bundled algorithms run side by side, one twice with other parameters, and records have their labels alone."""
    labels = ["bbr2", "bbr3", "bbr3 (beta_keep=200)", "bpf_reno", "bpf_cubic", "bpf_dctcp", "bpf_htcp", "bpf_westwood"]
    given: list[Any] = ["bbr2", "bbr3", {"name": "bbr3", "parameters": {"beta_keep": 200}}, *labels[3:]]
    run = here.run(path(*(flow(cc=cc) for cc in given), rate="30 Mbit/s", duration="3 s"))
    assert [flow["cc"] for flow in run.summary["flows"]] == labels
    assert all(rate > 0.3 for rate in goodput(run))
    assert sum(goodput(run)) > 20
    found = algorithms(run)
    assert list(found) == labels
    assert found["bbr3"]["registered"].startswith("db3_")
    assert found["bbr3"]["registered"] != found["bbr3 (beta_keep=200)"]["registered"]
    assert found["bbr3"]["object_sha256"] == found["bbr3 (beta_keep=200)"]["object_sha256"]
    assert {one["loaded"] for one in found.values()} == {"run"}
    for name in (file for file in run.directory.glob("*.json") if file.name not in ("manifest.json", "lab.json")):
        assert "db3_" not in name.read_text(), name


@pytest.mark.thorough
@pytest.mark.real_time
def test_phases_of_bbr_follow_one_another(here: Place) -> None:
    """Their times are exact in virtual time: `test_virtual_bbr.py`."""
    run = here.run(path(*(flow(cc=cc) for cc in VERSIONS), rate="20 Mbit/s", rtt="40 ms", duration="7 s"))
    for cc, name in zip(VERSIONS, ("f1", "f2"), strict=True):
        assert_phases_follow(acks(run).filter(pl.col("flow").cast(pl.String) == name), cc)


@pytest.mark.skipif(shutil.which("iperf3") is None, reason="iperf3 is not installed")
@pytest.mark.parametrize("cc", thorough_after(1, ["bbr3", "reno"]))
def test_a_program_is_told_the_kernel_s_name(cc: str, here: Place) -> None:
    command = "iperf3 -c {server} -p {port} -t 1 -C {cc}"
    run = here.run(path(flow(command=command, server_command="iperf3 -s -1 -p {port}", cc=cc), duration="3 s"))
    assert [flow["cc"] for flow in run.summary["flows"]] == [cc]
    assert checks(run)["commands"]["verdict"] == "valid", checks(run)["commands"]
    assert goodput(run)[0] > 0


@pytest.fixture
def tutorial(here: Place) -> Place:
    """The tutorial's files where they are to be copied to."""
    for name in ("calm.bpf.c", "calm.toml"):
        shutil.copy(TUTORIAL / name, here.directory)
    return here


def ran(here: Place, scenario: str, *overrides: str) -> dumbbell.Run:
    """A run, shortened."""
    options = [word for text in ("duration=6 s", *overrides) for word in ("--set", text)]
    done = here.invoke("run", scenario, "--quiet", *options)
    assert done.returncode in (0, 3), done.stderr
    return dumbbell.open(here.directory / done.stdout.splitlines()[-1].removesuffix("/report.html"))


@pytest.mark.real_time
def test_the_tutorial(tutorial: Place) -> None:
    """The tutorial's program does what the tutorial says: the link is used, and `target` packets of 0.6 ms each
    wait."""
    with ThreadPoolExecutor() as pool:
        overrides = ([], ["flows.0.cc.parameters.target=20"], ["flows.0.cc=cubic"])
        calm, more, cubic = pool.map(lambda words: ran(tutorial, "calm.toml", *words), overrides)
    assert [flow["cc"] for flow in calm.summary["flows"]] == ["calm"]
    assert algorithms(calm)["calm"]["registered"].startswith("calm_")
    assert goodput(calm)[0] > 15
    waits = [link(run)["queue_ms"]["p50"] for run in (calm, more)]
    assert waits[0] < 6 < waits[1] < 20
    assert link(cubic)["queue_ms"]["p50"] > 20


def test_a_run_of_one_s_own_is_repeated_from_its_directory(tutorial: Place) -> None:
    first = ran(tutorial, "calm.toml", "duration=1 s")
    (tutorial.directory / "calm.bpf.c").unlink()
    again = ran(tutorial, f"{first.directory}/scenario.toml", "duration=1 s")
    assert again.run_id == first.run_id
    assert algorithms(again)["calm"]["object_sha256"] == algorithms(first)["calm"]["object_sha256"]


def test_check_says_what_the_verifier_says(tutorial: Place) -> None:
    done = tutorial.invoke("cc", "check", "calm.bpf.c")
    assert done.returncode == 0, done.stderr
    assert "calm_op_cong_avoid" in done.stdout
    assert "packets of this flow that may wait" in done.stdout
    source = tutorial.directory / "calm.bpf.c"
    good = source.read_text()
    source.write_text(good.replace("acked);\n", "acked), tp->srtt_us = 0;\n", 1))
    refused = tutorial.invoke("cc", "check", "calm.bpf.c")
    assert refused.returncode == 1
    assert "refuses the program calm_op_cong_avoid" in refused.stderr
    assert "calm.bpf.c:38: " in refused.stderr
    assert "hint: a congestion control may write few fields" in refused.stderr
    source.write_text(good.replace("state->rtt_us = ~0;", "state->rtt_us = nothing;", 1))
    broken = tutorial.invoke("cc", "check", "calm.bpf.c")
    assert broken.returncode == 1
    assert "calm.bpf.c does not compile" in broken.stderr
    assert "use of undeclared identifier 'nothing'" in broken.stderr


def test_an_ordinary_user_s_run_uses_what_root_has_loaded(tutorial: Place) -> None:
    parameters = "beta_keep=211"
    with place(ordinary=True) as ordinary:
        shutil.copy(TUTORIAL / "calm.bpf.c", ordinary.directory)
        given = {"name": "bbr3", "parameters": {"beta_keep": 211}}
        scenario = path(flow(cc=given), flow(cc={"bpf": "calm.bpf.c"}), duration="2 s")
        alone = ordinary.invoke("run", ordinary.write(scenario), "--quiet")
        assert alone.returncode == 2
        assert "CAP_BPF and CAP_PERFMON" in alone.stderr
        assert "dumbbell cc load bbr3 --set beta_keep=211" in alone.stderr
        assert "dumbbell cc load calm.bpf.c" in alone.stderr
        loads = (["bbr3", "--set", parameters], ["calm.bpf.c"])
        names = []
        try:
            for words in loads:
                told = tutorial.invoke("cc", "load", *words, "--json")
                assert told.returncode == 0, told.stderr
                names.append(json.loads(told.stdout)["name"])
            run = ordinary.run(scenario)
            assert [flow["cc"] for flow in run.summary["flows"]] == ["bbr3", "calm"]
            assert [one["registered"] for one in run.manifest["algorithms"]] == names
            assert {one["loaded"] for one in run.manifest["algorithms"]} == {"stay"}
            assert checks(run)["algorithm"]["verdict"] == "valid"
            assert all(rate > 0 for rate in goodput(run))
            listed = json.loads(tutorial.invoke("cc", "list", "--json").stdout)
            assert set(names) <= {one["name"] for one in listed["stay"]}
        finally:
            for name in names:
                gone = tutorial.invoke("cc", "unload", name)
                assert gone.returncode == 0, gone.stderr
        assert not set(names) & known()


STEM = f"dbt{os.getpid() % 100_000}"
"""Name of a program that nobody else on this machine has."""


def ours() -> set[str]:
    """The registrations of the tutorial's program."""
    return {name for name in known() if name.startswith(f"{STEM}_")}


def with_ours(here: Place, **parameters: int) -> str:
    """A scenario with a flow of the tutorial's program under this name, which lies in `here` now.

    The flow goes on until the test ends it, slowly: its records are few, so that they are judged.
    """
    shutil.copy(TUTORIAL / "calm.bpf.c", here.directory / f"{STEM}.bpf.c")
    return path(flow(cc={"bpf": f"{STEM}.bpf.c", "parameters": parameters}), rate="1 Mbit/s", duration="600 s")


def test_users_share_what_root_has_loaded_beside_a_run_of_root_s(here: Place) -> None:
    with (
        place(ordinary=True) as one,
        place(ordinary=True, uid=ORDINARY + 1) as other,
        here.running(with_ours(here, target=5)) as roots,
    ):
        (run_s,) = ours()
        words = [f"{STEM}.bpf.c", "--set", "target=5"]
        loads = [here.invoke("cc", "load", *words, "--json") for _ in range(2)]
        assert [json.loads(load.stdout)["already"] for load in loads] == [False, True]
        name = json.loads(loads[0].stdout)["name"]
        try:
            assert ours() == {run_s, name}
            refused = one.invoke("run", one.write(with_ours(one, target=6)), "--quiet")
            assert (refused.returncode, f"{STEM}.bpf.c --set target=6" in refused.stderr) == (2, True)
            with (
                one.running(with_ours(one, target=5)) as first,
                other.running(with_ours(other, target=5)) as second,
            ):
                for user in (one, other):
                    assert user.invoke("cc", "load", *words).returncode != 0
                    assert user.invoke("cc", "unload", name).returncode != 0
                roots.process.send_signal(signal.SIGINT)
                assert roots.end() == 130
                assert ours() == {name}
                assert here.invoke("cc", "unload", STEM).returncode == 0
                for live in (first, second):
                    live.process.send_signal(signal.SIGINT)
                    assert live.end() == 130
                    told = [json.loads(file.read_text()) for file in live.runs.glob("*/manifest.json")]
                    used = [(it["registered"], it["loaded"]) for run in told for it in run.get("algorithms") or ()]
                    assert used == [(name, "stay")]
        finally:
            here.invoke("cc", "unload", name)
    assert ours() == set()


@pytest.mark.thorough
def test_two_runs_side_by_side_have_one_each_and_nothing_stays(here: Place) -> None:
    with (
        place(ordinary=False) as there,
        here.running(with_ours(here, target=5)) as one,
        there.running(with_ours(there, target=5)) as two,
    ):
        assert len(ours()) == 2
        for live in (one, two):
            live.process.send_signal(signal.SIGINT)
        assert {live.end() for live in (one, two)} == {130}
    assert ours() == set()


@pytest.mark.thorough
def test_a_killed_run_leaves_none_registered(here: Place) -> None:
    with here.running(with_ours(here)) as live:
        assert len(ours()) == 1
        live.process.kill()
        until(lambda: not ours(), 60, "the algorithm's end")

"""A kernel in virtual time: the same bytes each time, whatever else the machine does, and nothing left behind."""

from __future__ import annotations

import hashlib
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path

import psutil
import pytest
from graphs import flow as drawn_flow
from graphs import graph, link
from harness import ORDINARY, Live, Place, until
from scenarios import flow, path
from stages import thorough_after

import dumbbell
from dumbbell import kernels
from dumbbell.engines.names import VIRTUAL
from dumbbell.engines.virtual.engine import GUARD, VirtualEngine
from dumbbell.errors import InputError, RunFailed
from dumbbell.kernels import cache

SHORT = path(flow(), flow(cc="bbr"), flow(protocol="udp", rate="1 Mbit/s"), duration="1 s")
ROUTED = graph(
    link("h1", "r1"),
    link("r1", "r2", rate="10 Mbit/s", delay="5 ms"),
    link("r2", "h2"),
    drawn_flow(cc="cubic"),
    nodes={name: {"asn": asn, "routing": ["bgp"]} for name, asn in (("r1", 100), ("r2", 200))},
    duration="1 s",
)
"""Routers find their routes by daemons."""
LONG = path(flow(), duration="600 s")
"""Killed long before its end."""
ENGINE = ("--engine", VIRTUAL)
CALM = Path(__file__).parents[2] / "docs" / "tutorial" / "calm.bpf.c"


@pytest.fixture(autouse=True, scope="session")
def kernel() -> None:
    """The kernel of these tests, which `make kernel` builds."""
    kernels.find(kernels.DEFAULT)


@pytest.fixture
def anyone_with_kernel(anyone: Place) -> Place:
    """A working directory of root's, then one of an ordinary user's, who has a kernel of their own."""
    if anyone.becomes_ordinary:
        own = anyone.directory / ".cache" / "dumbbell" / "kernels"
        # Snapshots of ready kernels are large, and no test here needs one.
        shutil.copytree(cache.root(), own, ignore=shutil.ignore_patterns(".*", "booted"))
        subprocess.run(["chown", "-R", f"{ORDINARY}:{ORDINARY}", anyone.directory / ".cache"], check=True)
        # The files that a kernel is linked from belong to its identity.
        for name in ("kernel", "bpf"):
            shutil.copytree(Path(dumbbell.__file__).parents[2] / name, anyone.directory / ".view" / name)
    return anyone


def digests(run: dumbbell.Run) -> Mapping[str, str]:
    """The digest of each table."""
    tables = sorted(run.directory.glob("*.parquet"))
    return {table.name: hashlib.sha256(table.read_bytes()).hexdigest() for table in tables}


@contextmanager
def load() -> Iterator[None]:
    """Every CPU is busy, twice."""
    code = "while True: pass"
    busy = [subprocess.Popen([sys.executable, "-c", code]) for _ in range(2 * len(os.sched_getaffinity(0)))]
    try:
        yield
    finally:
        for process in busy:
            process.kill()
            process.wait()


@pytest.mark.parametrize("beside", [nullcontext, pytest.param(load, marks=pytest.mark.thorough)])
def test_a_run_is_valid_and_the_same_bytes_whatever_runs_beside_it(
    here: Place, beside: Callable[[], AbstractContextManager[None]]
) -> None:
    with beside():
        other = here.run(SHORT, *ENGINE, "--output", "other")
    calm = here.run(SHORT, *ENGINE, "--output", "calm")
    assert other.verdict == calm.verdict == "valid"
    assert len(digests(calm)) == 5
    assert digests(other) == digests(calm)
    assert other.run_id == calm.run_id
    told = calm.manifest["kernel"]
    assert told["sha256"] == calm.plan.emulate.kernel_sha256 == kernels.find(kernels.DEFAULT).hash
    assert told["memory_bytes"] < 300 << 20


@pytest.mark.thorough
def test_runs_at_once_are_the_same_bytes_as_one_alone(here: Place) -> None:
    scenario = here.write(SHORT)
    alone = here.run(SHORT, *ENGINE, "--output", "alone")
    command = here.command("run", scenario, "--quiet", *ENGINE)
    going = [subprocess.Popen([*command, "--output", f"at-once-{i}"], cwd=here.directory) for i in range(3)]
    assert [process.wait(120) for process in going] == [0, 0, 0]
    for i in range(3):
        assert digests(dumbbell.open(here.directory / f"at-once-{i}" / alone.directory.name)) == digests(alone)


LOOKS = """
import sys
from dumbbell.engines.virtual import guard
guard.LOOK_MS = int(sys.argv.pop(1))
sys.exit(guard.main())
"""
"""A guard that looks for the kernel's news as often as its first argument says."""


@pytest.mark.parametrize("name", ["6.12", "6.1"])
def test_when_the_kernel_is_looked_at_does_not_change_its_random_numbers(name: str, tmp_path: Path) -> None:
    """The kernel takes new random numbers from its pool from the second second on: what was mixed into that shows."""
    try:
        kernels.find(name)
    except InputError as error:
        assert name != kernels.DEFAULT
        pytest.skip(f"{error}: make kernel KERNEL={name} builds it")
    scenario = {**program("sleep 2.5; od -An -tx1 -N32 /dev/urandom"), "duration": "3 s", "emulate": {"kernel": name}}
    drawn = set()
    for look_ms in (1, 20, 300):
        engine = VirtualEngine((sys.executable, "-P", "-c", LOOKS, str(look_ms)))
        run = dumbbell.run(scenario, directory=tmp_path / str(look_ms), engine=engine, report=False)
        drawn.add((run.directory / "logs" / "f1.stdout").read_text())
    assert len(drawn) == 1
    assert len(drawn.pop().split()) == 32


def test_another_seed_gives_another_run(here: Place) -> None:
    first, second = (here.run(SHORT, *ENGINE, "--set", f"seed={seed}") for seed in (1, 2))
    # A seed decides on initial sequence numbers, at the least.
    assert digests(first)["packets.parquet"] != digests(second)["packets.parquet"]


@pytest.mark.thorough
def test_who_runs_it_does_not_matter(anyone_with_kernel: Place, here: Place) -> None:
    for text in (SHORT, ROUTED):
        ours, theirs = here.run(text, *ENGINE), anyone_with_kernel.run(text, *ENGINE)
        assert theirs.verdict == "valid", theirs.summary["reasons"]
        assert digests(theirs) == digests(ours)
    assert "routes.parquet" in digests(ours)
    assert (ours.directory / "logs" / "r1" / "bgpd.log").exists()


def chain(live: Live) -> dict[str, psutil.Process]:
    """The command, and each process that the one before has started: a guest process is the last."""
    found = {"command": psutil.Process(live.process.pid)}
    for name in ("guard", "first", "kernel", "guest process"):
        found[name] = list(found.values())[-1].children()[-1]
    return found


@pytest.mark.parametrize("victim", thorough_after(2, ["command", "kernel", "guard", "first", "guest process"]))
def test_whatever_is_killed_no_process_stays(anyone_with_kernel: Place, victim: str) -> None:
    with anyone_with_kernel.running(LONG, *ENGINE) as live:
        parts = [*psutil.Process(live.process.pid).children(recursive=True), psutil.Process(live.process.pid)]
        chain(live)[victim].kill()
        code = live.end()
        until(lambda: not any(map(_lives, parts)), 60, "the end of all that the run made")
    said = live.output()
    if victim == "command":
        assert code == -signal.SIGKILL
        return
    assert code == 1
    causes = {
        "guard": ["error: the lab ended while running\n  killed by SIGKILL"],
        "first": ["error: the kernel ended in mid-run\n  killed by SIGKILL"],
        "kernel": ["error: the kernel ended in mid-run\n  killed by SIGKILL"],
        # If the kernel was mapping memory for it at that instant, and not running it, the kernel panics.
        "guest process": ["process ended in mid-run", "error: the kernel panicked: do_syscall_stub"],
    }
    assert any(cause in said for cause in causes[victim]), said
    assert "the measurements until then are in runs/test-" in said


def _lives(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def test_an_interrupt_while_the_kernel_boots_is_kept_until_it_listens(here: Place) -> None:
    with here.running(LONG, *ENGINE) as live:
        command = psutil.Process(live.process.pid)
        until(lambda: any(one.name() == "linux" for one in command.children(recursive=True)), 30, "a kernel that boots")
        live.process.send_signal(signal.SIGINT)
        assert live.end() == 130
        assert "error: the run was interrupted" in live.output()


def test_an_interrupt_keeps_what_was_measured(here: Place) -> None:
    with here.running(LONG, *ENGINE) as live:
        time.sleep(1)
        live.process.send_signal(signal.SIGINT)
        assert live.end() == 130
        assert "error: the run was interrupted" in live.output()
    (kept,) = here.runs()
    run = dumbbell.open(live.runs / kept, incomplete=True)
    assert run.manifest["status"] == "interrupted"
    checks = {check["check"]: check["verdict"] for check in run.summary["checks"]}
    assert checks["complete"] == "invalid"
    assert checks["conservation"] == checks["packet-log"] == checks["interfaces"] == "valid"
    assert run.samples.height > 10


def program(command: str) -> dict[str, object]:
    """A scenario with a program as its only flow."""
    topology = {"kind": "path", "rtt": "20 ms", "bottleneck": {"rate": "20 Mbit/s", "buffer": "1 bdp"}}
    flows = [{"from": "h1", "to": "h2", "command": command}]
    return {"name": "test", "duration": "1 s", "topology": topology, "flows": flows}


def failing(command: str, directory: Path) -> str:
    """The error of a run whose kernel stands still after 2 s of computing."""
    engine = VirtualEngine((*GUARD, "--spin-s", "2"))
    with pytest.raises(RunFailed) as failed:
        dumbbell.run(program(command), directory=directory, engine=engine, report=False)
    return str(failed.value)


def test_a_program_that_computes_for_ever_is_ended_and_named(tmp_path: Path) -> None:
    said = failing("exec awk 'BEGIN { while (1) n++ }'", tmp_path)
    assert "awk spins" in said or "mawk spins" in said or "gawk spins" in said
    assert "s of computing" in said
    assert "let it sleep" in said


def looping(directory: Path) -> Path:
    """The tutorial's congestion control with a loop that does not end once its window has 30 packets."""
    text = CALM.read_text(encoding="utf-8")
    begin = "\tif (slow_start && is_cwnd_limited(tp))\n"
    assert text.count(begin) == 1
    loop = "\tfor (volatile int n = 0; tp->snd_cwnd > 30; n++)\n\t\t;\n"
    (directory / "endless.c").write_text(text.replace(begin, loop + begin), encoding="utf-8")
    return directory / "endless.c"


def test_one_interrupt_ends_a_program_of_the_users_that_loops(here: Place) -> None:
    """Nothing inside can obey: the loop is where the kernel handles packets. The error names the program."""
    looping(here.directory)
    with here.running(path(flow(cc={"kernel": "endless.c"}), duration="2 s"), *ENGINE) as live:
        time.sleep(2)
        live.process.send_signal(signal.SIGINT)
        sent = time.monotonic()
        assert live.end() == 1
        took_s = time.monotonic() - sent
        assert "error: the kernel's clock stands still: calm_cong_avoid() of endless.c loops\n" in live.output()
    assert took_s < 60, "by itself it would have ended after 90 s of computing"


def test_a_users_program_is_one_file_in_the_kernel_and_in_the_simulator(tmp_path: Path) -> None:
    scenario = tmp_path / "own.toml"
    scenario.write_text(path(flow(cc=str(CALM)), duration="5 s"))
    waits = []
    for name in (VIRTUAL, "simulate"):
        run = dumbbell.run(scenario, directory=tmp_path, engine=name, report=False)
        assert run.verdict == "valid"
        assert [flow["cc"] for flow in run.summary["flows"]] == ["calm"]
        waits += [one["queue_ms"]["p50"] for one in run.summary["links"] if one["name"] == "bottleneck"]
    # Within two packets, which take 0.6 ms each; CUBIC's wait is many times as long.
    assert waits[1] == pytest.approx(waits[0], abs=1.2)
    assert waits[0] < 4


def test_the_watchdog_names_a_program_of_the_users_that_loops(tmp_path: Path) -> None:
    topology = {"kind": "path", "rtt": "20 ms", "bottleneck": {"rate": "20 Mbit/s", "buffer": "1 bdp"}}
    flows = [{"from": "h1", "to": "h2", "cc": {"kernel": str(looping(tmp_path))}}]
    scenario = {"name": "test", "duration": "2 s", "topology": topology, "flows": flows}
    engine = VirtualEngine((*GUARD, "--spin-s", "2"))
    with pytest.raises(RunFailed, match=r"calm_cong_avoid\(\) of endless.c loops\n  no event came for [23] s of comp"):
        dumbbell.run(scenario, directory=tmp_path, engine=engine, report=False)


def test_a_panic_is_told_with_the_kernels_last_lines(tmp_path: Path) -> None:
    said = failing("echo c >/proc/sysrq-trigger", tmp_path)
    assert said.startswith("the kernel panicked: sysrq triggered crash\n")
    (kept,) = tmp_path.glob("*.failed-1")
    assert "sysrq triggered crash" in (kept / "logs" / "kernel.log").read_text()


def test_a_program_sees_the_files_of_the_machine_and_cannot_change_them(tmp_path: Path) -> None:
    there, mine = tmp_path / "there", tmp_path / "mine"
    there.write_text("from outside")
    run = dumbbell.run(
        program(f"cat {there}; echo no >{mine}; echo no >/etc/mine; echo no >{Path.home()}/mine"),
        directory=tmp_path / "runs", engine=VIRTUAL, report=False,
    )  # fmt: skip
    out = (run.directory / "logs" / "f1.stdout").read_text()
    assert out == "from outside"
    # What is below /tmp, where this test is, can be written to by name: it stays inside.
    assert not mine.exists()
    said = (run.directory / "logs" / "f1.stderr").read_text()
    assert "cannot create /etc/mine: Read-only file system" in said
    assert not Path("/etc/mine").exists()


def test_a_program_is_a_flow_as_elsewhere(tmp_path: Path) -> None:
    run = dumbbell.run(program("sleep 0.5; id -u"), directory=tmp_path, engine=VIRTUAL, report=False)
    assert run.verdict == "valid"
    assert (run.directory / "logs" / "f1.stdout").read_text() == "0\n"


def test_a_study_runs_on_all_cores_and_each_run_once(here: Place) -> None:
    done = here.invoke("run", here.write(path(flow(), duration="300 ms")), "--repeat", "3", "--quiet", *ENGINE)
    assert done.returncode == 0, done.stderr
    (study,) = (here.directory / "studies").glob("test-*")
    assert dumbbell.Study(study).runs["verdict"].to_list() == ["valid"] * 3


def test_a_full_disk_is_told(here: Place) -> None:
    small = here.directory / "small"
    small.mkdir()
    command = here.command("run", here.write(path(flow(), duration="5 s")), "--quiet", *ENGINE, "--output", str(small))
    line = 'mount -t tmpfs -o size=256k none "$0" && exec "$@"'
    done = subprocess.run(
        ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", line, str(small), *command],
        cwd=here.directory, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert "No space left on device" in done.stderr
    assert "Traceback" not in done.stderr

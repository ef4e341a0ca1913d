"""The conduct of the helper: events, failures, silence and interrupts, with a real process on the other side."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import known_run
import psutil
import pytest

from dumbbell.engines.emulate.engine import SILENCE_S, EmulateEngine
from dumbbell.engines.events import Event
from dumbbell.engines.protocol import Outcome
from dumbbell.engines.realm.algorithms import has_algorithm
from dumbbell.errors import Interrupted, RunFailed
from dumbbell.pipeline.run import execute as run
from dumbbell.plan.expand import expand
from dumbbell.scenario import bundled, load

FAKE = Path(__file__).with_name("fake_helper.py")


def engine(mode: str, **silence_s: float) -> EmulateEngine:
    bounds = SILENCE_S | {phase.replace("_", " "): seconds for phase, seconds in silence_s.items()}
    return EmulateEngine((sys.executable, str(FAKE), mode, str(known_run.written())), bounds)


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    (tmp_path / "logs").mkdir()
    return tmp_path


@pytest.fixture
def lock(directory: Path) -> Iterator[int]:
    descriptor = os.open(directory / "lock", os.O_RDWR | os.O_CREAT)
    yield descriptor
    os.close(descriptor)


class Events(list[Event]):
    """Collects events; sends itself a signal when a kind of event comes."""

    def __init__(self, interrupt_at: str = "", times: int = 1, number: int = signal.SIGINT) -> None:
        super().__init__()
        self.interrupt_at, self.times, self.number = interrupt_at, times, number

    def __call__(self, event: Event) -> None:
        self.append(event)
        if event["event"] == self.interrupt_at and self.times:
            self.times -= 1
            os.kill(os.getpid(), self.number)

    @property
    def kinds(self) -> list[str]:
        return [event["event"] for event in self]

    @property
    def helper_is_gone(self) -> bool:
        return not psutil.pid_exists(self[0]["pid"])


def execute(mode: str, directory: Path, lock: int, events: Events, **silence_s: float) -> Outcome:
    return run(engine(mode, **silence_s), known_run.plan(), directory, lock, events)


def test_a_run_from_start_to_end(directory: Path, lock: int) -> None:
    events = Events()
    assert execute("good", directory, lock, events) == Outcome(interrupted=False)
    assert events.kinds == ["helper", "lab", "ready", "ready", "started", "progress", "done", "done", "end"]
    assert events.helper_is_gone
    assert (directory / "samples.parquet").exists()


@pytest.mark.parametrize(
    ("mode", "what", "why"),
    [
        ("crash", "ended while setting up", "exit code 101\nthread 'main' panicked at the lab"),
        ("killed", "ended while running", "killed by SIGKILL"),
        ("refuse", "cannot make a namespace", "EPERM"),
        ("measured-then-failed", "the emulator died", "signal 9"),
        ("nonsense", "wrote a line that is not an event", "'Hello'"),
    ],
)
def test_failures_say_what_and_why(mode: str, what: str, why: str, directory: Path, lock: int) -> None:
    events = Events()
    with pytest.raises(RunFailed) as failure:
        execute(mode, directory, lock, events)
    assert what in failure.value.what
    assert why in failure.value.why
    assert events.helper_is_gone


def test_silence_is_a_failure_that_ends_the_helper(directory: Path, lock: int) -> None:
    events = Events()
    with pytest.raises(RunFailed, match="sent no events while setting up"):
        execute("silent", directory, lock, events, setting_up=0.2)
    assert events.helper_is_gone


def test_each_phase_has_its_own_bound(directory: Path, lock: int) -> None:
    events = Events()
    execute("slow-writer", directory, lock, events, running=1.0)
    assert events.kinds[-1] == "end"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_one_interrupt_stops_early_and_keeps_what_was_measured(number: int, directory: Path, lock: int) -> None:
    events = Events("progress", number=number)
    assert execute("until-stopped", directory, lock, events) == Outcome(interrupted=True)
    assert events.kinds[-4:] == ["stopping", "done", "done", "end"]
    assert (directory / "samples.parquet").exists()
    assert events.helper_is_gone


def test_an_interrupt_after_the_traffic_s_end_stops_nothing(directory: Path, lock: int) -> None:
    """The records are complete: they are being written."""
    events = Events("done")
    assert execute("slow-writer", directory, lock, events) == Outcome(interrupted=False)
    assert events.kinds[-4:] == ["done", "done", "done", "end"]
    assert "stopping" not in events.kinds


def test_a_second_interrupt_ends_the_run_at_once(directory: Path, lock: int) -> None:
    events = Events("progress")
    events_twice = Events("stopping")

    def on_event(event: Event) -> None:
        events(event)
        events_twice(event)

    with pytest.raises(Interrupted, match="second interrupt"):
        run(engine("deaf"), known_run.plan(), directory, lock, on_event)
    assert events.helper_is_gone
    assert (directory / "pipe-closed").exists()


def test_an_interrupt_before_the_start_has_a_bound(directory: Path, lock: int) -> None:
    """A lab that stops responding during its setup ends soon after one Ctrl-C, not when the silence has lasted long
    enough."""
    events = Events("lab")
    stuck = EmulateEngine((sys.executable, str(FAKE), "stuck", str(known_run.written())), stopping_s=0.3)
    with pytest.raises(Interrupted, match="before it started"):
        run(stuck, known_run.plan(), directory, lock, events)
    assert events.kinds == ["helper", "lab", "stopping"]
    assert events.helper_is_gone


def test_an_error_in_the_callback_ends_the_helper(directory: Path, lock: int) -> None:
    events = Events()

    def on_event(event: Event) -> None:
        events(event)
        if event["event"] == "started":
            raise BrokenPipeError

    with pytest.raises(BrokenPipeError):
        run(engine("until-stopped"), known_run.plan(), directory, lock, on_event)
    assert events.helper_is_gone


def test_signal_handlers_are_given_back(directory: Path, lock: int) -> None:
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    execute("good", directory, lock, Events())
    assert [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)] == before


def test_the_helper_is_in_a_session_of_its_own(directory: Path, lock: int) -> None:
    sessions: list[int] = []

    def on_event(event: Event) -> None:
        if event["event"] == "helper":
            sessions.append(os.getsid(event["pid"]))

    with pytest.raises(RunFailed):
        run(engine("silent", setting_up=0.2), known_run.plan(), directory, lock, on_event)
    assert sessions != [os.getsid(0)]


def scenario(**flow: Any) -> dict[str, Any]:
    topology = {"kind": "path", "bottleneck": {"rate": "10 Mbit/s", "buffer": "1 bdp"}, "rtt": "20 ms"}
    return {"name": "x", "duration": "1 s", "topology": topology, "flows": [{"from": "h1", "to": "h2", **flow}]}


def problems(**flow: Any) -> list[str]:
    loaded = load(scenario(**flow))
    return [problem.text() for problem in EmulateEngine().check(loaded, expand(loaded))]


def test_an_algorithm_that_the_kernel_lacks_is_a_problem() -> None:
    assert has_algorithm("reno")
    assert not has_algorithm("no-such-one")
    assert [text for text in problems(cc="reno") if "congestion control" in text] == []
    (text,) = (text for text in problems(cc="lettuce") if "congestion control" in text)
    assert "modprobe" in text


def test_a_sysctl_that_the_kernel_lacks_is_a_problem(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    text = bundled.text("single-flow") + '\n[hosts]\nsysctl = { "net.ipv4.tcp_sackk" = 0, "net.ipv4.tcp_sack" = 0 }\n'
    file.write_text(text + '[hosts.h1]\nsysctl = { "net.nonsense" = 1, "net.ipv4.conf.veth9.forwarding" = 0 }\n')
    loaded = load(file)
    wrong, nonsense = EmulateEngine().check(loaded, expand(loaded))
    line = text.splitlines().index("[hosts]") + 2
    assert wrong.what == f'{file}:{line}: hosts.sysctl."net.ipv4.tcp_sackk" = 0: this kernel does not have this setting'
    assert wrong.hint == "did you mean net.ipv4.tcp_sack?"
    assert nonsense.what.startswith(f'{file}:{line + 2}: hosts.h1.sysctl."net.nonsense"')


def test_more_cpus_than_there_are_is_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dumbbell.engines.realm.machine.cores", lambda: 2)

    def check(cpus: int) -> list[str]:
        loaded = load({**scenario(), "emulate": {"cpus": cpus}})
        return [problem.text() for problem in EmulateEngine().check(loaded, expand(loaded)) if "cpus" in problem.what]

    assert check(2) == []
    (text,) = check(3)
    assert "emulate.cpus = 3: this machine lets dumbbell use 2" in text
    assert "hint: emulate.cpus = 2, or leave it out" in text


def test_a_program_that_is_not_installed_is_a_problem() -> None:
    assert [text for text in problems(command="ls {server}") if "program" in text] == []
    (text,) = (text for text in problems(command="no-such-program {server}") if "program" in text)
    assert "apt-get install no-such-program" in text


def test_what_only_a_shell_can_tell_is_no_problem() -> None:
    for line in ("X=1 ls", "cd /tmp && ls", "$SHELL -c ls", "(ls)"):
        assert [text for text in problems(command=line) if "program" in text] == []

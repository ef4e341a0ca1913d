"""The simulation engine's own part: what it refuses and where, interrupts, errors. The simulator itself is a fake."""

from __future__ import annotations

import json
import os
import signal
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import known_run
import pytest

from dumbbell.engines.events import Event
from dumbbell.engines.protocol import Outcome
from dumbbell.engines.simulate import engine, refusals
from dumbbell.engines.simulate.engine import SimulateEngine
from dumbbell.errors import Interrupted, RunFailed
from dumbbell.pipeline.run import execute as run
from dumbbell.plan.expand import expand
from dumbbell.scenario.file.loading import load

GoOn = Callable[[str], bool]
Fake = Callable[[str, bool, GoOn], bool]

SCENARIO = """\
name = "mine"
duration = "1 s"
[topology]
kind = "path"
rtt = "20 ms"
bottleneck = { rate = "10 Mbit/s", buffer = "1 bdp" }
[[flows]]
from = "h1"
to = "h2"
[[flows]]
id = "second"
from = "h1"
to = "h2"
cc = "cubic"
"""


def progress(time_ns: int = 0) -> str:
    return json.dumps({"event": "progress", "time_ns": time_ns, "flows": []})


def execute(monkeypatch: pytest.MonkeyPatch, fake: Fake, on_event: Callable[[Event], None] = print) -> Outcome:
    monkeypatch.setattr(engine, "core", SimpleNamespace(simulate=fake))
    return run(SimulateEngine(), known_run.plan(), Path("run"), 0, on_event)


def test_it_is_told_where_and_how_and_what_it_tells_is_passed_on(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []

    def fake(directory: Path, tso: bool, go_on: GoOn) -> bool:
        asked.extend([directory, tso, go_on(progress(1))])
        return False

    told: list[Event] = []
    assert execute(monkeypatch, fake, told.append) == Outcome(interrupted=False)
    assert asked == [Path("run"), True, True]
    assert [event["event"] for event in told] == ["simulating", "progress"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_it_early_and_it_says_so(monkeypatch: pytest.MonkeyPatch, number: signal.Signals) -> None:
    def fake(directory: Path, tso: bool, go_on: GoOn) -> bool:
        assert go_on(progress())
        os.kill(os.getpid(), number)
        return not go_on(progress())

    told: list[Event] = []
    before = signal.getsignal(number)
    assert execute(monkeypatch, fake, told.append) == Outcome(interrupted=True)
    assert [event["event"] for event in told] == ["simulating", "progress", "progress", "stopping"]
    assert signal.getsignal(number) is before


def test_a_second_signal_ends_it_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    def deaf(directory: Path, tso: bool, go_on: GoOn) -> bool:
        for _ in range(2):
            os.kill(os.getpid(), signal.SIGINT)
            go_on(progress())
        raise AssertionError("it goes on")

    with pytest.raises(Interrupted, match="ended at once by a second interrupt"):
        execute(monkeypatch, deaf)


def test_an_error_says_what_and_why(monkeypatch: pytest.MonkeyPatch) -> None:
    def fake(directory: Path, tso: bool, go_on: GoOn) -> bool:
        raise RuntimeError("cannot write run/packets.parquet: no space left: os error 28\nhint: make room")

    with pytest.raises(RunFailed) as failure:
        execute(monkeypatch, fake)
    assert failure.value.what == "cannot write run/packets.parquet"
    assert (failure.value.why, failure.value.hint) == ("no space left: os error 28", "make room")


def test_who_listens_may_end_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def fake(directory: Path, tso: bool, go_on: GoOn) -> bool:
        return go_on(progress())

    def leave(event: Event) -> None:
        if event["event"] == "progress":
            raise BrokenPipeError

    with pytest.raises(BrokenPipeError):
        execute(monkeypatch, fake, leave)


@pytest.fixture
def scenario(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("mine.toml").write_text(SCENARIO)
    return Path("mine.toml")


def check(*overrides: str) -> list[str]:
    loaded = load("mine.toml", overrides)
    return [problem.text() for problem in SimulateEngine().check(loaded, expand(loaded))]


def finding(monkeypatch: pytest.MonkeyPatch, problems: list[Any]) -> None:
    """Let the core find `problems` in any plan."""
    core = SimpleNamespace(simulate_check=lambda plan, tso, objects: json.dumps(problems))
    monkeypatch.setattr(refusals, "core", core)


def refusing(monkeypatch: pytest.MonkeyPatch, **told: Any) -> None:
    one = {"flow": None, "host": None, "what": "a thing", "why": "no", "hint": "--engine emulate"} | told
    finding(monkeypatch, [one])


def test_a_flow_s_algorithm_is_told_with_its_place(scenario: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    refusing(monkeypatch, flow="second", what="the congestion control cubic")
    assert check() == [
        'mine.toml:14: flows.1.cc = "cubic": it can\'t be simulated\n'
        "  the congestion control cubic: no\n"
        "hint: --engine emulate"
    ]
    assert check("flows.1.cc=bbr")[0].startswith("--set flows.1.cc=bbr: it can't be simulated\n")
    refusing(monkeypatch, flow="f1")
    assert check()[0].startswith("mine.toml:7: flows.0.cc: it can't be simulated\n")


def test_a_host_s_setting_is_told_where_it_is_set(scenario: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The problem is at the host's setting, or at that of all hosts; and not at a shorter one that begins alike."""
    sysctls = '"net.ipv4.tcp_sack" = 1, "net.ipv4.tcp_sack_more" = 2, "net.ipv4.tcp_frto" = 0'
    scenario.write_text(f"{SCENARIO}[hosts]\nsysctl = {{ {sysctls} }}\nh2.sysctl = {{ 'net.ipv4.tcp_frto' = 2 }}\n")
    refusing(monkeypatch, host="h1", what="sysctl net.ipv4.tcp_sack_more = 2")
    assert check()[0].startswith('mine.toml:16: hosts.sysctl."net.ipv4.tcp_sack_more" = 2: it can\'t be simulated\n')
    refusing(monkeypatch, host="h2", what="sysctl net.ipv4.tcp_frto = 2")
    assert check()[0].startswith('mine.toml:17: hosts.h2.sysctl."net.ipv4.tcp_frto" = 2: ')


def test_what_all_hosts_have_is_told_once(scenario: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scenario.write_text(f"{SCENARIO}[hosts]\nsysctl = {{ 'net.ipv4.tcp_sack' = 0 }}\n")
    both = [{"flow": None, "host": host, "what": "net.ipv4.tcp_sack", "why": "no", "hint": ""} for host in ("h1", "h2")]
    finding(monkeypatch, both)
    assert len(check()) == 1


def test_what_is_of_no_place_is_told_all_the_same(scenario: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    refusing(monkeypatch, what="no path")
    assert check() == ["mine.toml: it can't be simulated\n  no path: no\nhint: --engine emulate"]


def test_what_would_change_an_emulation_s_results_is_refused(scenario: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    finding(monkeypatch, [])
    assert check("emulate.path=gso", "emulate.spin=0 s", "emulate.ring=1 MiB", "record.acks=true") == []
    assert check("emulate.whole_bursts=true") == [
        "--set emulate.whole_bursts=true: in a simulation links carry single segments\n"
        "hint: run it with --engine emulate, or leave whole_bursts out"
    ]


def test_without_a_core_it_says_how_to_get_one(scenario: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(plan: str, tso: bool, objects: object) -> Any:
        raise RunFailed("the compiled core is missing", "there is none", "make build")

    monkeypatch.setattr(refusals, "core", SimpleNamespace(simulate_check=missing))
    assert check() == ["the compiled core is missing\n  there is none\nhint: make build"]

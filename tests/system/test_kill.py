"""Whatever part of a run is killed, nothing stays behind, and the run says what happened."""

from __future__ import annotations

import os
import random
import signal
import time
from contextlib import suppress

import polars as pl
import psutil
import pytest
from harness import Live, Place, until
from page import first_words
from remains import footprint, lives, outside
from scenarios import flow, path
from stages import thorough_after, thorough_but

import dumbbell
from dumbbell.report import write_html

LONG = path(flow(), flow(protocol="udp", rate="1 Mbit/s"), duration="120 s")
"""Killed a second after it begins."""
INSISTS = path(flow(), flow(protocol="udp", rate="1 Mbit/s"), duration="120 s", more="record = { acks = true }")
"""The same, and it must have the record of every ACK."""
SHORT = path(flow(), duration="500 ms")

SAID = {
    "helper": "error: the lab ended while running\n  killed by SIGKILL",
    "db-init": "error: the lab's first process was killed\n  signal SIGKILL",
    "db-emulator": "error: the emulator process ended in mid-run\n  killed by SIGKILL",
    "db-traffic": "error: the traffic process ended in mid-run\n  killed by SIGKILL",
    "db-probe": "error: the probe process ended in mid-run\n  killed by SIGKILL",
}


def assert_nothing_stays(live: Live, send: signal.Signals, name: str) -> None:
    before = outside()
    time.sleep(1)
    with footprint(live) as found:
        # The command, helper, init, emulator and traffic, and the probe where it is allowed; namespaces of the core and
        # of two hosts.
        parts = 5 + any(part.name() == "db-probe" for part in found.parts)
        assert len(found.parts) == parts
        assert sum(link.startswith("net:") for link in found.namespaces) == 3
        # The traces that must be gone later are there now: each process, a veth pair to each host, the holders of the
        # namespaces.
        there = [thing.split()[0] for thing in found.remains()]
        assert (there.count("process"), there.count("link")) == (parts, 2)
        assert "namespace" in there
        live.part(name).send_signal(send)
        # Within 25 s: the kernel keeps a network namespace until its last socket has closed.
        last = []
        try:
            until(lambda: not last.append(found.remains()) and not last[-1], 60, "the end of all that the run made")
        except AssertionError as error:
            raise AssertionError(f"{error}: {last[-1]}") from None
    live.end()
    assert outside() == before


@pytest.mark.parametrize(
    "victim",
    [
        "command",
        *(
            pytest.param(name, marks=pytest.mark.thorough)
            for name in ("helper", "db-init", "db-emulator", "db-traffic")
        ),
        "db-probe",
    ],
)
def test_a_killed_process_takes_the_run_with_it(anyone: Place, victim: str) -> None:
    if victim == "db-probe" and (anyone.becomes_ordinary or os.geteuid() != 0):
        pytest.skip("an ordinary user has no probe")
    with anyone.running(INSISTS if victim == "db-probe" else LONG) as live:
        assert_nothing_stays(live, signal.SIGKILL, victim)
        if victim == "command":
            assert live.end() == -signal.SIGKILL
            (partial,) = anyone.runs()
            assert partial.startswith(".partial-test-")
            with pytest.raises(dumbbell.InputError, match="did not complete"):
                dumbbell.open(live.runs / partial)
        else:
            assert live.end() == 1
            assert SAID[victim] in live.output()
            assert "\nhint: " in live.output()
            assert "the measurements until then are in runs/test-" in live.output()
    run = anyone.run(SHORT)
    failed, *complete = sorted(anyone.runs(), key=lambda name: ".failed-1" not in name)
    assert failed.endswith(".failed-1")
    assert complete == [run.directory.name]
    kept = dumbbell.open(live.runs / failed, incomplete=True)
    assert kept.manifest["status"] == "failed"
    # The one that survives writes down what it has measured; a second of it, less what a loaded machine needs to start.
    if victim in ("db-emulator", "db-probe"):
        assert kept.samples["time_ns"].max() > 500_000_000
        assert kept.samples["received_bytes"].max() > 100_000
    if victim in ("db-traffic", "db-probe"):
        assert kept.packets["arrival_ns"].max() > 500_000_000
        assert kept.links["time_ns"].max() > 500_000_000


@pytest.mark.skipif(os.geteuid() != 0, reason="an ordinary user has no probe")
def test_without_its_probe_a_run_goes_on_and_says_so(here: Place) -> None:
    with here.running(path(flow(), duration="2 s")) as live:
        live.part("db-probe").kill()
        run = live.result()
        said = [line for line in live.output().splitlines() if "ACKs were not recorded" in line]
    assert len(said) == 1
    assert "the probe process ended in mid-run: killed by SIGKILL" in said[0]
    assert run.acks is None
    assert run.manifest["lab"]["acks"]["recorded"] is False
    assert "killed by SIGKILL" in run.manifest["lab"]["acks"]["why"]
    found = {check["check"]: check["measured"] for check in run.summary["checks"]}
    assert "killed by SIGKILL" in found["ack-rows"]
    assert run.samples["time_ns"].max() > 1_500_000_000


@pytest.mark.parametrize("send", thorough_after(1, [signal.SIGINT, signal.SIGTERM]))
def test_a_signal_stops_early_and_keeps_what_was_measured(anyone: Place, send: signal.Signals) -> None:
    with anyone.running(LONG) as live:
        assert_nothing_stays(live, send, "command")
        assert live.end() == 130
        assert "error: the run was interrupted" in live.output()
        assert "Traceback" not in live.output()
    (kept,) = anyone.runs()
    assert kept.endswith(".failed-1")
    run = dumbbell.open(live.runs / kept, incomplete=True)
    assert run.manifest["status"] == "interrupted"
    checks = {check["check"]: check["verdict"] for check in run.summary["checks"]}
    assert checks["complete"] == "invalid"
    # It was stopped, not cut off: all books are closed.
    assert checks["conservation"] == checks["packet-log"] == checks["interfaces"] == "valid"
    assert run.samples["time_ns"].max() > 500_000_000
    assert run.packets.filter(pl.col("link") == "bottleneck")["arrival_ns"].max() > 500_000_000


def test_failed_attempts_are_counted_and_told(here: Place) -> None:
    scenario = path(flow(), duration="1 s")
    with here.running(scenario) as live:
        live.part("db-traffic").kill()
        assert live.end() == 1
    (failed,) = here.runs()
    told = first_words(write_html(dumbbell.open(live.runs / failed, incomplete=True), here.directory / "failed.html"))
    assert told[0] == "invalid"
    assert any("the traffic process ended in mid-run" in text for text in told)
    run = here.run(scenario)
    assert run.summary["attempts"] == {"failed": 1, "excluded": 0}
    assert any("1 failed" in text for text in first_words(run.report()))


def test_a_second_interrupt_ends_at_once(here: Place) -> None:
    with here.running(LONG) as live:
        # Held up, the traffic process cannot answer to the first one.
        live.part("db-traffic").send_signal(signal.SIGSTOP)
        with footprint(live) as found:
            live.part("command").send_signal(signal.SIGINT)
            until(lambda: "stopping early" in live.output(), 60, "the answer to the first interrupt")
            live.part("command").send_signal(signal.SIGINT)
            # Without it, the run would fail: its traffic process hangs.
            assert live.end() == 130
            until(lambda: not found.remains(), 60, "the end of all that the run made")
    assert [name.endswith(".failed-1") for name in here.runs()] == [True]


def test_an_interrupt_before_the_start_ends_it_before_it_starts(here: Place) -> None:
    # A server that never listens on its port is waited for: time enough for a signal.
    slow = path(flow(command="true", server_command="sleep 30"), duration="5 s")
    with here.starting(slow) as live:
        until(lambda: "starting hosts" in live.output(), 60, "the lab")
        live.part("command").send_signal(signal.SIGINT)
        assert live.end(15) == 130
        assert "error: the run was interrupted before it started" in live.output()
        assert "panicked" not in live.output()
    assert [name.endswith(".failed-1") for name in here.runs()] == [True]


PHASES = {"checking": 1.0, "building the lab": 0.2, "running": 0.6, "judging the run": 0.3}
"""Word with which a phase begins, and its length in seconds, about."""


def assert_killed(place: Place, phase: str, draws: random.Random) -> None:
    """Kill a part of a run at a moment of a phase: nothing goes on, and only what is complete is called so."""
    with place.starting(SHORT) as live:
        until(lambda: phase in live.output() or live.process.poll() is not None, 180, phase)
        time.sleep(draws.uniform(0, PHASES[phase]))
        parts = [psutil.Process(live.process.pid)]
        with suppress(psutil.NoSuchProcess):
            parts += parts[0].children(recursive=True)
        with suppress(psutil.NoSuchProcess):
            draws.choice(parts).kill()
        code = live.end(180)
        complete = [path for path in live.runs.glob("test-*") if "." not in path.name]
        assert all(dumbbell.open(path).manifest["status"] == "complete" for path in complete)
        assert code in ((0, 1, 3, -signal.SIGKILL) if complete else (1, -signal.SIGKILL)), live.output()
        assert "Traceback" not in live.output()
        until(lambda: not any(map(lives, parts)), 180, "the end of all parts")


def assert_killed_anywhere(place: Place, phase: str, moments: int) -> None:
    """Kill runs at seeded moments of a phase. A run works after them, and files what they left."""
    draws = random.Random(phase)
    for _ in range(moments):
        assert_killed(place, phase, draws)
    place.run(SHORT)
    assert not [name for name in place.runs() if name.startswith(".")]


@pytest.mark.parametrize("phase", thorough_but(["building the lab", "running"], PHASES))
def test_killed_at_some_moments(here: Place, phase: str) -> None:
    assert_killed_anywhere(here, phase, 2)


@pytest.mark.thorough
@pytest.mark.exhaustive
@pytest.mark.parametrize("phase", PHASES)
def test_killed_at_many_moments(here: Place, phase: str) -> None:
    assert_killed_anywhere(here, phase, 100)

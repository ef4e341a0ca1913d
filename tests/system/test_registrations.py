"""Algorithms that a run has loaded are gone when it is, however it ends; and runs don't see each other's."""

from __future__ import annotations

import os
import secrets
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import polars as pl
import psutil
import pytest
from harness import Live, Place, place, until
from scenarios import flow, path
from stages import thorough_after

import dumbbell

pytestmark = pytest.mark.skipif(
    os.geteuid() != 0 or not Path("/sys/kernel/btf/vmlinux").exists(),
    reason="loading congestion controls takes root, and a kernel with type information",
)

AVAILABLE = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")

SOURCE = """
#include <dumbbell/congestion_control.h>

const volatile __u32 window = 10; /* packets: the window, always */

static void start(struct sock *sk) { tcp_sk(sk)->snd_cwnd = window; }
static __u32 keep(struct sock *sk) { return window; }
static void hold(struct sock *sk, __u32 ack, __u32 acked) { tcp_sk(sk)->snd_cwnd = window; }

CONGESTION_CONTROL(fixed, (init, start), (ssthresh, keep), (undo_cwnd, keep), (cong_avoid, hold));

char LICENSE[] SEC("license") = "Dual MIT/GPL";
"""


@dataclass(frozen=True)
class Fixed:
    """A congestion control that nobody else on this machine has: a window of a fixed size."""

    stem: str

    @property
    def source(self) -> str:
        """Name of its file."""
        return f"{self.stem}.bpf.c"

    def flow(self, window: int) -> str:
        """A flow that uses it."""
        return flow(cc={"bpf": self.source, "parameters": {"window": window}})

    def registered(self) -> list[str]:
        """The kernel's registrations of it now."""
        return [name for name in AVAILABLE.read_text().split() if name.startswith(f"{self.stem}_")]


@pytest.fixture
def fixed(here: Place) -> Iterator[Fixed]:
    """Its source in the working directory."""
    found = Fixed(f"dbt_{secrets.token_hex(2)}")
    (here.directory / found.source).write_text(SOURCE)
    yield found
    until(lambda: not found.registered(), 60, "the end of what the test has registered")


@pytest.mark.parametrize(
    "victim", thorough_after(2, ["command", "db-init", "helper", "db-emulator", "db-traffic", "db-probe"])
)
def test_a_killed_process_takes_the_registrations_with_it(here: Place, fixed: Fixed, victim: str) -> None:
    insists = "record = { acks = true }"
    with here.running(path(fixed.flow(10), fixed.flow(20), duration="120 s", more=insists)) as live:
        assert len(fixed.registered()) == 2
        live.part(victim).send_signal(signal.SIGKILL)
        until(lambda: not fixed.registered(), 60, "the end of its registrations")


@pytest.mark.parametrize("victim", thorough_after(1, ["command", "helper"]))
@pytest.mark.parametrize("after_ms", thorough_after(1, [50, 0]))
def test_one_that_is_killed_while_it_loads_leaves_nothing(
    here: Place, fixed: Fixed, victim: str, after_ms: int
) -> None:
    with loading(here, fixed) as live:
        time.sleep(after_ms / 1000)
        live.part(victim).send_signal(signal.SIGKILL)
        until(lambda: not fixed.registered(), 60, "the end of its registrations")
        assert live.end(15) != 0


@pytest.mark.parametrize("victim", thorough_after(1, ["db-init", "db-probe", "db-emulator"]))
def test_one_that_is_killed_before_its_start_leaves_nothing(here: Place, fixed: Fixed, victim: str) -> None:
    """Kill the victim as soon as it is there; the traffic process still waits for a server that never comes."""
    slow = flow(command="true", server_command="sleep 30")
    scenario = path(fixed.flow(10), slow, duration="120 s", more="record = { acks = true }")
    with here.starting(scenario) as live:
        until(lambda: is_there(live, victim), 120, victim)
        live.part(victim).send_signal(signal.SIGKILL)
        assert live.end(15) == 1
        until(lambda: not fixed.registered(), 60, "the end of its registrations")


def test_an_interrupt_while_it_loads_ends_it_as_soon_as_that_is_done(here: Place, fixed: Fixed) -> None:
    with loading(here, fixed) as live:
        live.part("command").send_signal(signal.SIGINT)
        # The program that is being verified is loaded first. The run alone would take two minutes.
        assert live.end() == 130
        until(lambda: not fixed.registered(), 60, "the end of its registrations")


def is_there(live: Live, name: str) -> bool:
    """True if the run has this process."""
    with suppress(psutil.NoSuchProcess, ValueError):
        return live.part(name).is_running()
    return False


@contextmanager
def loading(here: Place, fixed: Fixed) -> Iterator[Live]:
    """A run the first of whose algorithms can be seen, while others keep the verifier busy."""
    bbr = [flow(cc={"name": "bbr3", "parameters": {"beta_keep": 100 + i}}) for i in range(2)]
    with here.starting(path(fixed.flow(10), *bbr, fixed.flow(20), duration="120 s")) as live:
        until(lambda: bool(fixed.registered()), 120, "its first algorithm")
        yield live


def interrupted(live: Live) -> dumbbell.Run:
    """Ends a run early; what it has measured."""
    live.process.send_signal(signal.SIGINT)
    assert live.end() == 130, live.output()
    (kept,) = [path for path in live.runs.iterdir() if path.is_dir()]
    return dumbbell.open(kept, incomplete=True)


def test_two_runs_at_once_have_their_own(here: Place, fixed: Fixed) -> None:
    """One algorithm with the same parameters and with others: three registrations in two runs, and each is obeyed."""
    with place(ordinary=False) as there:
        (there.directory / fixed.source).write_text(SOURCE)
        # The buffer holds both windows, and the runs go on until the test ends them.
        link = {"rate": "5 Mbit/s", "bottleneck": 'buffer = "100 packets"', "duration": "600 s"}
        with (
            here.running(path(fixed.flow(10), fixed.flow(40), **link)) as first,
            there.running(path(fixed.flow(10), **link)) as second,
        ):
            assert len(fixed.registered()) == 3
            time.sleep(1)
            runs = [interrupted(live) for live in (first, second)]
        entries = [entry for run in runs for entry in run.manifest["algorithms"]]
        assert len({entry["registered"] for entry in entries}) == 3
        assert all(entry["registered"].startswith(fixed.stem) for entry in entries)
        windows = [
            run.samples.filter(pl.col("flow") == name)["cwnd_packets"].drop_nulls()
            for run, name in ((runs[0], "f1"), (runs[0], "f2"), (runs[1], "f1"))
        ]
        assert [window.unique().to_list() for window in windows] == [[10], [40], [10]]

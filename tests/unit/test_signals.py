"""Signals that end a command, and what it leaves behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from dumbbell.engines.signals import taken_over

PLANNING = """
import os, time
from dumbbell.studies.planning import planning_pool

def pid(number):
    time.sleep(0.05)
    return os.getpid()

with planning_pool(2) as pool:
    print(*set(pool.map(pid, range(20))), flush=True)
    time.sleep(60)
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP])
def test_processes_that_plan_end_with_the_command(number: signal.Signals) -> None:
    with subprocess.Popen([sys.executable, "-c", PLANNING], stdout=subprocess.PIPE, text=True) as command:
        assert command.stdout is not None
        workers = [int(pid) for pid in command.stdout.readline().split()]
        assert workers
        command.send_signal(number)
        command.wait(30)
    deadline = time.monotonic() + 30
    while any(Path(f"/proc/{pid}").exists() and not _is_dead(pid) for pid in workers):
        assert time.monotonic() < deadline, "a worker outlives its command"
        time.sleep(0.02)


def _is_dead(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] in "ZX"
    except OSError:
        return True


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_each_signal_is_taken_and_given_back(number: signal.Signals) -> None:
    before, noted = signal.getsignal(number), []
    with taken_over(lambda: noted.append(number)):
        os.kill(os.getpid(), number)
    assert noted == [number]
    assert signal.getsignal(number) == before


def test_a_hangup_that_is_ignored_stays_ignored(monkeypatch: pytest.MonkeyPatch) -> None:
    """Signals are set as nohup starts a command."""
    before, noted = signal.signal(signal.SIGHUP, signal.SIG_IGN), []
    try:
        with taken_over(lambda: noted.append("hangup")):
            os.kill(os.getpid(), signal.SIGHUP)
        assert noted == []
    finally:
        signal.signal(signal.SIGHUP, before)

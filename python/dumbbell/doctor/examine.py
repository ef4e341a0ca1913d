"""Checks everything that a run needs. Tries things where that is harmless, rather than guessing from versions."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator

from dumbbell.command import rebuild
from dumbbell.doctor import bpf, installation, kernels, machine, network, quic, routing
from dumbbell.doctor.finding import Finding, Level
from dumbbell.engines.realm.outside import lacking
from dumbbell.records.manifest import core_version

_PROBE = (sys.executable, "-P", "-m", "dumbbell.doctor.probe")
_PROBE_S = 30.0


def examine() -> list[Finding]:
    """All findings, in the order in which a run needs them."""
    return [
        machine.kernel(),
        *core(),
        *installation.examine(),
        *network.algorithms(),
        network.qdiscs(),
        machine.priority(),
        machine.cores(),
        machine.load(),
        machine.clocksource(),
        machine.scheduler_statistics(),
        *bpf.examine(),
        *kernels.examine(),
        *routing.examine(),
        network.outside(lacking()),
        quic.examine(),
        *machine.tools(),
    ]


def core() -> Iterator[Finding]:
    """The compiled core, and the namespaces that it can make, which every emulated run needs."""
    version = core_version()
    if version is None:
        why = "dumbbell._core cannot be imported"
        yield Finding("compiled core", Level.MISSING, why, rebuild())
        return
    yield Finding("compiled core", Level.OK, f"version {version}; --engine simulate needs nothing else")
    yield from trial_lab()


def trial_lab(command: tuple[str, ...] = _PROBE) -> Iterator[Finding]:
    """Builds a lab, and yields what it found."""
    try:
        probe = subprocess.run(command, capture_output=True, text=True, timeout=_PROBE_S)
    except subprocess.TimeoutExpired:
        yield Finding("lab", Level.MISSING, f"the trial lab was not ready within {_PROBE_S:.0f} s", "look for overload")
        return
    if probe.returncode != 0:
        last = (probe.stderr.strip().splitlines() or [f"exit code {probe.returncode}"])[-1]
        yield Finding("lab", Level.MISSING, f"the trial lab failed: {last}", rebuild())
        return
    for fact in json.loads(probe.stdout):
        level = Level.OK if fact["ok"] else Level.MISSING
        yield Finding(fact["name"], level, fact["detail"], fact["fix"])

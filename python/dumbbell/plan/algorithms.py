"""Which congestion controls the kernel has."""

from __future__ import annotations

import difflib
from collections.abc import Collection
from pathlib import Path

from dumbbell.errors import Problem
from dumbbell.scenario.flows import TcpFlow
from dumbbell.scenario.model import Scenario
from dumbbell.scenario.source import Finding

_AVAILABLE = Path("/proc/sys/net/ipv4/tcp_available_congestion_control")


def available() -> list[str]:
    """What is built in or loaded now, in the kernel's order; empty where the kernel does not say.

    `tcp_allowed_congestion_control` does not matter: inside a namespace of its own a user may set any of them.
    """
    try:
        return _AVAILABLE.read_text().split()
    except OSError:
        return []


def lacking(scenario: Scenario, available: Collection[str]) -> list[Problem]:
    """A problem for each flow whose algorithm is not `available`."""
    return [
        scenario.source.problem(_finding(i, flow.cc, available))
        for i, flow in enumerate(scenario.flows)
        if isinstance(flow, TcpFlow) and flow.cc not in available
    ]


def _finding(i: int, cc: str, available: Collection[str]) -> Finding:
    close = difflib.get_close_matches(cc, available, n=1, cutoff=0.7)
    modprobe = f"if it is a module, load it: sudo modprobe tcp_{cc}"
    hint = f"did you mean {close[0]}? {modprobe[0].upper()}{modprobe[1:]}" if close else modprobe
    key = ("flows", i, "cc")
    return Finding(key, "this kernel has no such congestion control", f"one of {', '.join(sorted(available))}", hint)

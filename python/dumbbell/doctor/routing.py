"""Checks of routing daemons, and of what some of them need of the kernel."""

from __future__ import annotations

from collections.abc import Iterator

from dumbbell.doctor.finding import Finding, Level
from dumbbell.errors import RunFailed
from dumbbell.routing import frr
from dumbbell.routing.kernel import FEATURES, Feature


def examine() -> Iterator[Finding]:
    """The daemons, then the parts of the kernel."""
    try:
        yield daemons(frr.version())
    except RunFailed:
        # The compiled core has a line of its own.
        return
    yield from map(feature, FEATURES)


def daemons(version: str | None) -> Finding:
    """The finding on FRRouting."""
    if version is None:
        why = "FRRouting is not installed; needed only for routers with `routing`"
        return Finding("routing daemons", Level.WARN, why, frr.PACKAGE)
    return Finding("routing daemons", Level.OK, version)


def feature(feature: Feature) -> Finding:
    """The finding on a part of this machine's kernel."""
    needs = f"needed only for {' and '.join(feature.daemons)}"
    if feature.shown_by.exists():
        return Finding(feature.name, Level.OK, f"this kernel has it; {needs}")
    return Finding(feature.name, Level.WARN, f"this kernel lacks it; {needs}", feature.fix)

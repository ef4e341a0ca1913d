"""Events of routing daemons, and those that cannot happen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from dumbbell.hints import nearest, some
from dumbbell.scenario.links.changes import DaemonChange, daemon_timeline
from dumbbell.scenario.model import Scenario
from dumbbell.scenario.resolve.outline import NetworkNode
from dumbbell.scenario.source import Finding, Key

ZEBRA: Final = "zebra"
"""The daemon that every router with daemons has."""


def resolve_daemons(scenario: Scenario, nodes: Sequence[NetworkNode], wrong: list[Finding]) -> tuple[DaemonChange, ...]:
    """The changes of routing daemons in order of time; complete if nothing was added to `wrong`."""
    daemons = {node.name: (ZEBRA, *node.routing.daemons) for node in nodes if node.routing is not None}
    known = [
        finding for index, event in enumerate(scenario.events) if event.router is not None
        for finding in _names(("events", index), event.router, event.daemon or "", daemons)
    ]  # fmt: skip
    changes = daemon_timeline(scenario.events, scenario.duration)
    wrong += known or _states(changes)
    return tuple(changes)


def _names(at: Key, router: str, daemon: str, daemons: Mapping[str, Sequence[str]]) -> list[Finding]:
    if not daemons:
        hint = 'give routers a protocol: r1 = { kind = "router", routing = ["ospf"] }'
        return [Finding((*at, "router"), "no router has routing daemons", "the name of a router with daemons", hint)]
    if router not in daemons:
        what = f"no router with daemons is called {router}"
        return [Finding((*at, "router"), what, some(list(daemons)), nearest(router, list(daemons)))]
    own = list(daemons[router])
    if daemon not in own:
        return [Finding((*at, "daemon"), f"{router} has no such daemon", some(own), nearest(daemon, own))]
    return []


def _states(changes: Sequence[DaemonChange]) -> list[Finding]:
    """Checks that killed daemons run, and that started ones do not."""
    down: set[tuple[str, str]] = set()
    for change in changes:
        which = (change.router, change.daemon)
        if change.up == (which not in down):
            state = "runs already" if change.up else "does not run any more"
            what = f"{change.daemon} of {change.router} {state} at {change.at}"
            hint = "leave the event out" if change.up else "start it before, with up = true"
            return [Finding(("events", change.index), what, "an event that changes something", hint)]
        if change.up:
            down.discard(which)
        else:
            down.add(which)
    return []

"""A lab as the browser draws it: nodes, links as they are now, what was changed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from dumbbell.labs import changes, daemons, place, rewire
from dumbbell.labs.network import Network
from dumbbell.labs.shell.look import described
from dumbbell.plan.types import Link
from dumbbell.server.lab_messages import LabEvent, LabLink, LabNode, LabState, TerminalState
from dumbbell.units import Rate


def standing(lab: Path, mine: bool, terminals: Sequence[TerminalState]) -> LabState:
    """The state of the lab in this directory."""
    network, facts = Network.of(lab), place.facts(lab)
    running = daemons.states(lab)
    return LabState(
        id=lab.name,
        scenario=str(facts.get("scenario", "")),
        started=str(facts.get("started", "")),
        mine=mine,
        outside=network.outside,
        nodes=[*(_node(network, name, running.get(name, {})) for name in network.nodes), *_waiting(lab)],
        links=[_link(one) for one in changes.states(lab).values()],
        cables=[list(cable.links) for cable in network.cables],
        changes=_events(lab),
        recording=place.is_recorded(lab),
        terminals=list(terminals),
    )


def _node(network: Network, name: str, running: dict[str, bool]) -> LabNode:
    kind = network.kind(name)
    return LabNode(
        name=name,
        kind="switch" if kind == "bridge" else kind,  # type: ignore[arg-type]
        interfaces=network.interfaces(name),
        daemons=running,
        runs_programs=name in network.places,
        waits=False,
    )


def _waiting(lab: Path) -> Iterator[LabNode]:
    for name, keys in rewire.waiting(lab).items():
        kind = keys.get("kind", "host")
        yield LabNode(name=name, kind=kind, interfaces=[], daemons={}, runs_programs=False, waits=True)


def _link(link: Link) -> LabLink:
    return LabLink(
        name=link.name,
        sender=link.from_,
        receiver=link.to,
        up=link.up,
        rate="" if link.rate_bps is None else str(Rate(link.rate_bps)),
        rate_bps=link.rate_bps,
        delay=f"{link.delay_ns / 1e6:g} ms",
        words=described(link),
    )


def _events(lab: Path) -> list[LabEvent]:
    links = [
        LabEvent(at_s=one.time_ns / 1e9, what=f"{one.link}: {', '.join(f'{k} {v}' for k, v in one.keys.items())}")
        for one in changes.changes(lab)
    ]
    killed = [
        LabEvent(at_s=one.time_ns / 1e9, what=f"{one.router}: {one.daemon} {'started' if one.up else 'killed'}")
        for one in daemons.changes(lab)
    ]
    return sorted([*links, *killed], key=lambda event: event.at_s)

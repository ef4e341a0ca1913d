"""Where a run's own capture is read: at its flows' senders, or at their receivers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from dumbbell.errors import InputError
from dumbbell.plan.network import network
from dumbbell.plan.types import Flow, Plan

FILE: Final = "capture.pcapng"
"""The capture of a run with `record.capture`, in the run's directory."""
PLACES: Final = ("sender", "receiver")


def interfaces(plan: Plan, at: str) -> list[str]:
    """The interfaces at which a run's capture shows each packet of its flows once, at senders or receivers.

    A link has two: `NAME:in`, where packets come to it, and `NAME:out`, where they leave it.

    Raises:
        InputError: a flow's packets would be seen twice, as those of flows in opposite directions are; or `at` is none
            of `PLACES`.
    """
    if at not in PLACES:
        raise InputError(
            f"a run's capture cannot be read in its {at}",
            "a path may have many places between its ends",
            "name the interfaces: --interface LINK:in --interface LINK:out",
        )
    ways = [_ways(plan, flow) for flow in plan.flows]
    chosen: set[str] = set()
    for there, back in ways:
        if not there or not back:
            raise InputError(
                "the capture has no packets of a flow",
                "its path has no link with a rate, a delay or a loss, and only such links are recorded",
                "give a link of its path a rate or a delay",
            )
        chosen |= {f"{there[0]}:in", f"{back[-1]}:out"} if at == "sender" else {f"{there[-1]}:out", f"{back[0]}:in"}
    for way in (way for pair in ways for way in pair):
        if sum(f"{link}:{side}" in chosen for link in way for side in ("in", "out")) != 1:
            raise InputError(
                f"the capture cannot be read at every flow's {at}",
                "packets of one flow would count twice, as they pass where another flow's are read",
                "name the interfaces: --interface LINK:in --interface LINK:out",
            )
    return sorted(chosen)


def _ways(plan: Plan, flow: Flow) -> tuple[Sequence[str], Sequence[str]]:
    """Names of the recorded links there and back."""
    found = network(plan)
    there, back = (
        [link.name for link in links if not found.facts[link.name].is_transparent]
        for links in (found.there(flow), found.back(flow))
    )
    return there, back

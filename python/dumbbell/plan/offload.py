"""How packets cross the boundary between kernel and emulator: one choice for all runs of a study."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from dumbbell.plan.links import peak_bps
from dumbbell.plan.routes import Routes

GSO_ABOVE_BPS = 400_000_000
"""Rate of a link from which on its packets cross as bursts.

One by one, a core moves about 300,000 packets a second in both directions together; at this rate a flow and its
acknowledgements take a sixth of that, and the hosts need the rest.
"""

MERGE_NS = 100_000
"""How far apart segments may be due that cross together, if the scenario does not say."""


def settle(plans: Sequence[dict[str, Any]]) -> None:
    """Fill in what the scenarios left open: `auto` for the path, nothing for how far apart merged segments may be."""
    open_ = [plan for plan in plans if plan["emulate"]["path"] == "auto"]
    chosen = choose(open_)
    for plan in open_:
        plan["emulate"]["path"] = chosen
    for plan in plans:
        emulate = plan["emulate"]
        if emulate["path"] == "wire":
            emulate["merge_ns"] = 0
        elif emulate["merge_ns"] is None:
            emulate["merge_ns"] = MERGE_NS


def choose(plans: Sequence[Mapping[str, Any]]) -> Literal["wire", "gso"]:
    """`gso` if a run of `plans` asks for it by its rates, so that all of a study's runs are carried out alike.

    One does if a link that a flow crosses is faster than `GSO_ABOVE_BPS` at any time, or if no link on a flow's path
    is limited, or if bursts shall stay whole.
    """
    return "gso" if any(map(_asks, plans)) else "wire"


def _asks(plan: Mapping[str, Any]) -> bool:
    rates: dict[str, list[int | None]] = {}
    for link in [*plan["links"], *(event["link"] for event in plan["events"])]:
        rates.setdefault(link["name"], []).append(peak_bps(link))
    routes = Routes(plan)
    # Thousands of flows may have the same ends.
    for ends in dict.fromkeys((flow["from"], flow["to"]) for flow in plan["flows"]):
        crossed = [rates[link["name"]] for link in routes.path(*ends) + routes.path(*reversed(ends))]
        limits = [rate for of_link in crossed for rate in of_link if rate is not None]
        if not limits or max(limits) > GSO_ABOVE_BPS:
            return True
    return bool(plan["emulate"]["whole_bursts"])

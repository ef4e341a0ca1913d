"""Colours of flows, the same in every plot, on the page and on paper."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from dumbbell.records import Run
from dumbbell.report.facts import summary_list
from dumbbell.report.model import Group

MOST_FLOWS_IN_LEGEND: Final = 12

# Okabe & Ito, "Color Universal Design" (2008), without its yellow and black, which vanish on white and on black.
# On dark ground each hue is raised until it stands out 4.5 : 1.
HUES: Final = (
    ("#0072b2", "#3d9fe0"),
    ("#d55e00", "#f07f2e"),
    ("#009e73", "#23bf92"),
    ("#cc79a7", "#dc93bb"),
    ("#e69f00", "#eeb23a"),
    ("#56b4e9", "#8fd0f5"),
)
_DASHES: Final[tuple[tuple[int, ...], ...]] = ((), (6, 3), (2, 2))


def groups(run: Run) -> tuple[Group, ...]:
    """One group per flow; with more than `MOST_FLOWS_IN_LEGEND`, one per congestion control or protocol."""
    flows = run.plan["flows"]
    labels = {flow["id"]: flow.get("label") or flow["id"] for flow in summary_list(run, "flows")}
    if len(flows) <= MOST_FLOWS_IN_LEGEND:
        return tuple(
            _group(i, _name(labels.get(flow["id"], flow["id"]), flow), (flow["id"],)) for i, flow in enumerate(flows)
        )
    kinds: dict[str, list[str]] = {}
    for flow in flows:
        kinds.setdefault(_kind(flow), []).append(flow["id"])
    return tuple(_group(i, f"{kind} x {len(ids)}", tuple(ids)) for i, (kind, ids) in enumerate(kinds.items()))


def _group(index: int, label: str, flows: tuple[str, ...]) -> Group:
    light, dark = HUES[index % len(HUES)]
    return Group(label, flows, light, dark, _DASHES[index // len(HUES) % len(_DASHES)])


def _name(label: str, flow: Mapping[str, Any]) -> str:
    return label if _kind(flow) in label else f"{label} {_kind(flow)}"


def _kind(flow: Mapping[str, Any]) -> str:
    workload = flow["workload"]
    return str(workload.get("cc") or workload["kind"])

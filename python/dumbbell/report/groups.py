"""Colours of flows, the same in every plot, on the page and on paper."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from dumbbell.plan.parts import cc, group, size
from dumbbell.plan.types import Flow
from dumbbell.records import Run
from dumbbell.report.facts import summary_list
from dumbbell.report.model import Group
from dumbbell.units import Size

MOST_FLOWS_IN_LEGEND: Final = 12

# Okabe & Ito, "Color Universal Design" (2008), without its yellow and black, which vanish on white and on black.
# On a dark ground each hue is lighter, until its contrast is 4.5 : 1.
HUES: Final = (
    ("#0072b2", "#3d9fe0"),
    ("#d55e00", "#f07f2e"),
    ("#009e73", "#23bf92"),
    ("#cc79a7", "#dc93bb"),
    ("#e69f00", "#eeb23a"),
    ("#56b4e9", "#8fd0f5"),
)
HUE_OF: Final = {name: hue for hue, name in enumerate(("cubic", "bbr", "reno", "bbr3", "bbr2", "vegas"))}
"""Index in `HUES` of the algorithms that are compared most: each has its colour in all pictures."""
_DASHES: Final[tuple[tuple[int, ...], ...]] = ((), (6, 3), (2, 2))


def groups(run: Run) -> tuple[Group, ...]:
    """One group per flow; with more than `MOST_FLOWS_IN_LEGEND`, one for all flows of a kind.

    Connections are of one kind if they come from one entry of the scenario and have the same congestion control (or
    protocol) and size. Single flows differ by their congestion control alone.
    """
    labels = {flow["id"]: flow.get("label") or flow["id"] for flow in summary_list(run, "flows")}
    return of_flows(run.plan.flows, labels)


def of_flows(flows: Sequence[Flow], labels: Mapping[str, str]) -> tuple[Group, ...]:
    """The same of a plan's flows. `labels`: how a run has named them, where there is one."""
    if len(flows) <= MOST_FLOWS_IN_LEGEND:
        named = [(_name(labels.get(flow.id, flow.id), flow), (flow.id,)) for flow in flows]
        return tuple(numbered(place, *one) for place, one in zip(_places([cc(f) for f in flows]), named, strict=True))
    kinds: dict[str, list[str]] = {}
    for flow in flows:
        kinds.setdefault(_kind_among_many(flow), []).append(flow.id)
    return tuple(
        numbered(i, f"{kind} x {len(ids)}" if len(ids) > 1 else labels.get(ids[0], ids[0]), tuple(ids))
        for i, (kind, ids) in enumerate(kinds.items())
    )


def _places(algorithms: Sequence[str | None]) -> list[int]:
    """The number of each flow, of which its colour comes: that of its algorithm, if each flow has another one."""
    if len(set(algorithms)) < len(algorithms) or len(algorithms) > len(HUES):
        return list(range(len(algorithms)))
    known = {HUE_OF[name] for name in algorithms if name in HUE_OF}
    free = iter([hue for hue in range(len(HUES)) if hue not in known])
    return [HUE_OF[name] if name in HUE_OF else next(free) for name in algorithms]


def has_kinds(groups: Sequence[Group]) -> bool:
    """True if the groups have several flows each, except perhaps some."""
    return any(len(group.flows) > 1 for group in groups)


def numbered(index: int, label: str, flows: tuple[str, ...]) -> Group:
    """The group with this number: of its place come its colour and dashes."""
    light, dark = HUES[index % len(HUES)]
    return Group(label, flows, light, dark, _DASHES[index // len(HUES) % len(_DASHES)])


def _name(label: str, flow: Flow) -> str:
    return label if _kind(flow) in label else f"{label} {_kind(flow)}"


def _kind_among_many(flow: Flow) -> str:
    """`web cubic 300 kB`."""
    entry, sent = group(flow), size(flow)
    if entry == flow.id:
        return _kind(flow)
    return " ".join([entry, _kind(flow), *([] if sent is None else [str(Size(sent))])])


def _kind(flow: Flow) -> str:
    return cc(flow) or flow.workload.kind

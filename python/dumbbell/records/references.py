"""Names of a plan in the tables and the summary of its run: readers join them, so each must be there."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

from dumbbell.plan.types import Plan

if TYPE_CHECKING:
    import polars as pl

_NO_FLOW: Final = "other"
"""Flow of packets that belong to none."""
_TABLES: Final[Mapping[str, str]] = {"flow": "flow", "link": "link", "router": "node"}
"""Column of a table -> what it names."""
_FLOWS: Final[Mapping[str, str]] = {"id": "flow", "from": "node", "to": "node", "bottleneck": "link"}
"""Column of `flows`, and key of a flow in the summary -> what it names."""
_LINKS: Final[Mapping[str, str]] = {"name": "link", "from": "node", "to": "node"}
_NULLABLE: Final = ("bottleneck",)


def of_table(table: str, frame: pl.LazyFrame, plan: Plan) -> str:
    """The first name in a run's table that its plan lacks, as a sentence; empty if it has all.

    Raises an error of polars if the table cannot be read.
    """
    import polars as pl

    has = frame.collect_schema().names()
    columns = {column: kind for column, kind in (_FLOWS if table == "flows" else _TABLES).items() if column in has}
    if not columns:
        return ""
    # All columns in one pass: tables of packets are large.
    each = frame.select(pl.col(column).unique().implode() for column in columns).collect(engine="streaming")
    extra = [_NO_FLOW] if table == "packets" else []
    for column, kind in columns.items():
        values = each[column].explode().cast(pl.String).to_list()
        if why := _lacking(column, kind, values, plan, extra):
            return why
    return ""


def of_summary(summary: Mapping[str, Any], plan: Plan) -> str:
    """The same of a run's summary."""
    for part, keys in (("flows", _FLOWS), ("links", _LINKS)):
        for key, kind in keys.items():
            values = [one[key] for one in summary[part] if key in one]
            if why := _lacking(f"{part}: {key}", kind, values, plan):
                return why
    outages = [one["flow"] for event in summary.get("rerouting") or () for one in event["outages_s"] or ()]
    return _lacking("rerouting: flow", "flow", outages, plan)


def _lacking(place: str, kind: str, values: Iterable[str | None], plan: Plan, extra: Collection[str] = ()) -> str:
    known = _known(kind, plan)
    for value in sorted(values, key=str):
        if value is None:
            if not place.endswith(_NULLABLE):
                return f"{place}: a row names no {kind}"
        elif value not in known and value not in extra:
            return f"{place}: the plan has no {kind} {value!r}"
    return ""


def _known(kind: str, plan: Plan) -> set[str]:
    match kind:
        case "flow":
            return {flow.id for flow in plan.flows}
        case "link":
            return {link.name for link in plan.links}
    return {node.name for node in plan.nodes} | {flow.to for flow in plan.flows}

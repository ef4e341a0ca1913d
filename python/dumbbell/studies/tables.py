"""A run's figures as rows of a study's tables, the same columns that simulated studies have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from dumbbell.analysis.judging import reasons
from dumbbell.plan.network import network
from dumbbell.plan.parts import hosts
from dumbbell.plan.types import Plan
from dumbbell.records.columns import LINK_KEYS, STUDY_TABLES
from dumbbell.records.run import Run
from dumbbell.records.schema import polars_schema

SCHEMAS: Final[Mapping[str, Mapping[str, Any]]] = {table: polars_schema(table, STUDY_TABLES) for table in STUDY_TABLES}
"""Table -> column -> type."""

_OWN: Final = ("run", "run_id")


def rows(run: Run, own: Mapping[str, Any], placed: Mapping[str, Any]) -> dict[str, list[dict[str, object]]]:
    """A run's rows by table.

    Args:
        run: that can be used.
        own: `run` and `run_id`.
        placed: `cell`, `repetition` and `seed`.
    """
    summary = run.summary
    # Summaries of earlier versions lack keys of figures that came later.
    start_s, stop_s = summary.get("jain_window_s") or (None, None)
    packets = sum(link["arrived_packets"] for link in summary["links"] if link["from"] in _hosts(run.plan))
    told = {"jain_index": summary.get("jain_index"), "jain_start_s": start_s, "jain_stop_s": stop_s}
    told["rpm"] = (summary.get("responsiveness") or {}).get("rpm")
    told |= _rerouting(summary.get("rerouting"))
    told |= {"verdict": run.verdict, "reasons": reasons(summary["reasons"])}
    return {
        "runs": [{**own, **placed, "error": None, "packets": packets, **told}],
        "flows": [{**own, **row} for row in run.flows.iter_rows(named=True)],
        "links": [{**own, **row} for row in _links(run)],
    }


def _rerouting(episodes: Sequence[Mapping[str, Any]] | None) -> dict[str, object]:
    """The longest reconvergence and outage of all events, and the packets that were lost."""
    converged = [one["converged_s"] for one in episodes or () if one["converged_s"] is not None]
    outages = [outage["outage_s"] for one in episodes or () for outage in one["outages_s"] or ()]
    lost = [one["lost_packets"] for one in episodes or () if one["lost_packets"] is not None]
    return {
        "reconvergence_s": max(converged, default=None),
        "outage_s": max(outages, default=None),
        "rerouting_lost": sum(lost) if lost else None,
    }


def _hosts(plan: Plan) -> set[str]:
    return {host.name for host in hosts(plan)}


def _links(run: Run) -> Iterator[dict[str, object]]:
    """Links on which something can happen to a packet."""
    plain = network(run.plan).transparent
    columns = [column for column in STUDY_TABLES["links"] if column not in _OWN]
    for link in run.summary["links"]:
        if link["name"] not in plain:
            yield {column: _at(link, LINK_KEYS.get(column, (column,))) for column in columns}


def _at(group: Any, keys: Sequence[str]) -> Any:
    """The value at the end of the keys; `None` where a group is null."""
    for key in keys:
        group = None if group is None else group.get(key)
    return group

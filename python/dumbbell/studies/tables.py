"""A run's figures as rows of a study's tables, the same columns that simulated studies have."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import polars as pl

from dumbbell.analysis.judging import reasons
from dumbbell.plan.routes import transparent_links
from dumbbell.records.run import Run
from dumbbell.records.schema import polars_schema

_OWN: Final[Mapping[str, Any]] = {"run": pl.UInt64, "run_id": pl.String}
_FATES: Final = ("tail", "head", "early", "policed", "delay_line", "down")
_COUNTS: Final = ("duplicates", "reordered", "corrupted", "arrived_packets", "delivered_packets", "delivered_bytes")

SCHEMAS: Final[Mapping[str, Mapping[str, Any]]] = {
    "runs": {
        **_OWN,
        "cell": pl.UInt32,
        "repetition": pl.UInt32,
        "seed": pl.UInt64,
        "error": pl.String,
        "packets": pl.UInt64,
        "jain_index": pl.Float64,
        "jain_start_s": pl.Float64,
        "jain_stop_s": pl.Float64,
        "verdict": pl.String,
        "reasons": pl.String,
    },
    "flows": {
        **_OWN,
        **{k: pl.String if isinstance(t, pl.Categorical) else t for k, t in polars_schema("flows").items()},
    },
    "links": {
        **_OWN,
        "link": pl.String,
        "utilisation": pl.Float64,
        "drops": pl.UInt64,
        **{f"dropped_{fate}": pl.UInt64 for fate in _FATES},
        "losses": pl.UInt64,
        "marks": pl.UInt64,
        "marked_share": pl.Float64,
        **dict.fromkeys(_COUNTS, pl.UInt64),
        **dict.fromkeys(("queue_p50_ms", "queue_p95_ms", "queue_max_ms"), pl.Float64),
    },
}
"""Table -> column -> type."""


def rows(run: Run, own: Mapping[str, Any], placed: Mapping[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """A run's rows by table.

    Args:
        run: that can be used.
        own: `run` and `run_id`.
        placed: `cell`, `repetition` and `seed`.
    """
    summary = run.summary
    start_s, stop_s = summary["jain_window_s"] or (None, None)
    packets = sum(link["arrived_packets"] for link in summary["links"] if link["from"] in _hosts(run.plan))
    told = {"jain_index": summary["jain_index"], "jain_start_s": start_s, "jain_stop_s": stop_s}
    told |= {"verdict": run.verdict, "reasons": reasons(summary["reasons"])}
    return {
        "runs": [{**own, **placed, "error": None, "packets": packets, **told}],
        "flows": [{**own, **row} for row in run.flows.iter_rows(named=True)],
        "links": [{**own, **row} for row in _links(run)],
    }


def _hosts(plan: Mapping[str, Any]) -> set[str]:
    return {node["name"] for node in plan["nodes"] if node["kind"] == "host"}


def _links(run: Run) -> Iterator[dict[str, Any]]:
    """Of links on which something can happen to a packet."""
    plain = transparent_links(run.plan)
    for link in run.summary["links"]:
        if link["name"] in plain:
            continue
        queue = link["queue_ms"] or {}
        drops = {f"dropped_{fate}": link["drops_by_reason"].get(f"dropped-{fate.replace('_', '-')}") for fate in _FATES}
        kept = ("utilisation", "drops", "losses", "marks", "marked_share", *_COUNTS)
        yield {"link": link["name"], **{key: link[key] for key in kept}, **drops} | {
            f"queue_{key}_ms": queue.get(key) for key in ("p50", "p95", "max")
        }

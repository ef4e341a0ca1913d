"""The figures of a run that are compared."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, Literal

from dumbbell.frozen import dataclass
from dumbbell.records import Run
from dumbbell.scenario.traffic.flows import KINDS

Scope = Literal["run", "flow", "link"]

TOTAL_GOODPUT: Final = "total goodput"
JAIN: Final = "Jain's index"
RTT_P50: Final = "RTT p50"
RETRANSMITTED: Final = "retransmitted"
QUEUE_P50: Final = "queue p50"
QUEUE_P95: Final = "queue p95"
UTILISATION: Final = "utilisation"


@dataclass(frozen=True)
class What:
    """A quantity of a run."""

    scope: Scope
    of: str
    """The flow's id or the link's name; empty for the run itself."""
    measure: str
    unit: str


_what: Final = lru_cache(maxsize=4096)(What)
"""Returns a quantity; many runs have the same ones."""
Figures = Mapping[What, float]
"""Figures that a run's records give."""


def figures(run: Run) -> Figures:
    """All compared figures of `run`, from its summary; `docs/reference/metrics.md` has the formulas.

    The total goodput is what all flows received over the run's duration. Links without a rate have no queue and no
    utilisation, and are left out.
    """
    return of_summary(run.summary)


def of_summary(summary: Mapping[str, Any]) -> Figures:
    """Returns the figures as `figures`, by the content of a `summary.json`."""
    return {what: float(value) for what, value in _all(summary) if value is not None}


def _all(summary: Mapping[str, Any]) -> Iterator[tuple[What, float | None]]:
    received = sum(flow["received_bytes"] or 0 for flow in summary["flows"])
    lasted_s = summary["duration_s"]
    yield _what("run", "", TOTAL_GOODPUT, "Mbit/s"), 8e-6 * received / lasted_s if lasted_s else None
    yield _what("run", "", JAIN, ""), summary["jain_index"]
    for flow in summary["flows"]:
        yield from _flow(flow)
    for link in summary["links"]:
        if link["rate_bps"] is not None:
            yield from _link(link)


def _flow(flow: Mapping[str, Any]) -> Iterator[tuple[What, float | None]]:
    goodput = flow["goodput_bps"]
    yield _what("flow", flow["id"], "goodput", "Mbit/s"), None if goodput is None else goodput / 1e6
    for key in ("min", "p50", "p95"):
        yield _what("flow", flow["id"], f"RTT {key}", "ms"), flow["rtt_ms"][key]
    yield from _queue("flow", flow["id"], flow["queue_ms"])
    yield _what("flow", flow["id"], RETRANSMITTED, "segments"), flow["retransmitted_segments"]
    for name, kind in KINDS.items():
        if own := flow.get(name):
            for (measure, unit), key in kind.compared.items():
                yield _what("flow", flow["id"], measure, unit), own[key]


def _link(link: Mapping[str, Any]) -> Iterator[tuple[What, float | None]]:
    yield _what("link", link["name"], UTILISATION, ""), link["utilisation"]
    yield from _queue("link", link["name"], link["queue_ms"])
    for key in ("drops", "losses", "marks"):
        yield _what("link", link["name"], key, "packets"), link[key]


def _queue(scope: Scope, of: str, queue: Mapping[str, float] | None) -> Iterator[tuple[What, float | None]]:
    for key in ("p50", "p95", "max"):
        yield _what(scope, of, f"queue {key}", "ms"), (queue or {}).get(key)


def common(runs: Sequence[Figures]) -> list[What]:
    """Quantities that all of `runs` have, in the order of the first."""
    return [what for what in runs[0] if all(what in figures for figures in runs)] if runs else []

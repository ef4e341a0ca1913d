"""The view of a run or a study that is the value of a notebook's cell."""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from matplotlib.figure import Figure

from dumbbell.records import Run
from dumbbell.report import words
from dumbbell.report.groups import groups, has_kinds
from dumbbell.report.render.group_rows import COLUMNS
from dumbbell.report.render.group_rows import rows as group_rows
from dumbbell.report.render.markup import Html, el, join


class Picture(Figure):
    """A figure that a notebook shows, also if nobody has imported `matplotlib.pyplot`, which prepares it."""

    def _repr_png_(self) -> bytes:
        out = io.BytesIO()
        self.savefig(out, format="png", dpi=120)
        return out.getvalue()


def of_run(run: Run) -> str:
    """The verdict with its reasons, and the flows; of many flows their kinds."""
    summary, kinds = run.summary, groups(run)
    reasons = [f"{one['check']}: {one['measured']} (allowed: {one['threshold']})" for one in summary["reasons"]]
    return join(
        el("p", el("b", f"{run.name}: {run.verdict}"), f" ({run.directory})"),
        el("ul", (el("li", reason) for reason in reasons)) if reasons else Html(""),
        table(COLUMNS, group_rows(summary["flows"], kinds)) if has_kinds(kinds) else _flows(summary["flows"]),
    )


def _flows(flows: Sequence[Mapping[str, Any]]) -> Html:
    rows = [
        [
            flow["label"],
            f"{flow['from']} > {flow['to']}",
            words.measured_rate(flow["goodput_bps"]),
            words.milliseconds(flow["rtt_ms"]["p50"]),
            words.count(flow["retransmitted_segments"]),
        ]
        for flow in flows
    ]
    return table(["flow", "path", "goodput", "RTT p50 (ms)", "retransmitted"], rows)


def table(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> Html:
    """A plain table, in the notebook's own style."""
    head = el("tr", (el("th", column) for column in columns))
    return el(
        "table", el("thead", head), el("tbody", (el("tr", (el("td", str(cell)) for cell in row)) for row in rows))
    )

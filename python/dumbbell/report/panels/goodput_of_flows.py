"""The goodput that flows had over their lives, of thousands of flows: its cumulative distribution for each kind."""

from __future__ import annotations

from typing import Final

import numpy as np
import polars as pl

from dumbbell.plan.parts import kind
from dumbbell.report import words
from dumbbell.report.definition import OfTables
from dumbbell.report.facts import summary_list
from dumbbell.report.model import Across, Line, Panel, View
from dumbbell.report.source import Source

_STEPS: Final = 200
"""Parts of the vertical axis: a curve has a point at each end."""
_FARTHEST: Final = 1.5
"""The axis goes to this multiple of the 99th percentile of all flows, or to the highest goodput if that is less."""


def _panel(source: Source) -> Panel | None:
    """The panel; `None` if flows have curves of their own, or no flow delivered anything."""
    if not source.has_too_many_flows:
        return None
    measured = {flow.id for flow in source.run.plan.flows if kind(flow).has_goodput}
    goodput = {flow["id"]: flow["goodput_bps"] for flow in summary_list(source.run, "flows") if flow["id"] in measured}
    of_kinds = [
        [rate for flow in group.flows if (rate := goodput.get(flow)) is not None] for group in source.groups
    ]  # fmt: skip
    every = np.array([rate for rates in of_kinds for rate in rates])
    if not len(every) or not every.max():
        return None
    right = min(float(every.max()), _FARTHEST * float(np.percentile(every, 99)) or float(every.max()))
    factor, unit = words.rate_unit(right)
    share = np.linspace(0, 100, _STEPS + 1)
    lines = tuple(
        Line(pl.Series(share), index, name=group.label, x=pl.Series(np.percentile(rates, share) / factor))
        for index, (group, rates) in enumerate(zip(source.groups, of_kinds, strict=True))
        if rates
    )
    note = f"Share of the flows of each kind with at most this goodput while they were active; {len(every):,} flows."
    view = View(
        "", pl.Series([], dtype=pl.Float64), lines, note, low=0.0, top=100.0,
        key="flows_percent", per_unit=1.0, title="Flows", unit="%",
    )  # fmt: skip
    across = Across("goodput_bps", factor, "goodput", unit, right / factor)
    return Panel("goodput_of_flows", 1.0, PANEL.title, "%", (view,), across=across, is_stacked=True)


PANEL: Final = OfTables(105, "Distribution of goodput", _panel)

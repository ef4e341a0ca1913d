"""Code of buffa-2020: the sentences below its parts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import polars as pl

from dumbbell.published.comparing import listed
from dumbbell.published.figures import Figures

if TYPE_CHECKING:
    from dumbbell.studies import Study

CASE: Final = "case"
PLOTTED: Final = "0 ms, 10 %"
"""The case that they plot without printing its numbers."""


def plotted(study: Study) -> str:
    """Our goodput where theirs is in a plot only, and what limited the flows."""
    figures = Figures(study)
    found = {cc: figures.interval("goodput", cc, {CASE: PLOTTED}) for cc in sorted(study.flows["cc"].unique())}
    said = f"With 10 % of loss, which they plot without numbers: {listed(found, 1e6, 'Mbit/s')}."
    return f"{said} {limited(study)}"


def limited(study: Study) -> str:
    """The share of the time in which the receive window was the limit, where it was for more than a hundredth of it."""
    rows = study.flows.group_by(CASE, "cc", maintain_order=True).agg(pl.col("rwnd_limited_share").mean().alias("share"))
    said = [
        f"{case}: {cc} {100 * share:.0f} %"
        for case, cc, share in rows.select(CASE, "cc", "share").iter_rows()
        if share is not None and share > 0.01
    ]
    if not said:
        return "The receive window was no limit."
    return f"Share of the time in which the receive window was the limit: {'; '.join(said)}.{_doubts(study)}"


def _doubts(study: Study) -> str:
    """Reasons why runs were suspect: a receive window that limits is that of their kernel here, and meant."""
    reasons = study.runs.filter(pl.col("verdict") == "suspect")["reasons"].value_counts(sort=True)
    said = ", ".join(f"{reason} ({count})" for reason, count in reasons.iter_rows())
    return f" Checks that made runs suspect: {said}." if said else ""

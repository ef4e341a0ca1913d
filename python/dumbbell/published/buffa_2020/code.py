"""Code of buffa-2020: the sentences below its parts."""

from __future__ import annotations

from collections.abc import Sequence
from math import log
from typing import TYPE_CHECKING, Final

import polars as pl

from dumbbell.published.comparing import compared, listed
from dumbbell.published.figures import Figures
from dumbbell.published.judging import NOT_RUN, all_of, interval_text
from dumbbell.published.model import Judged, Status
from dumbbell.statistics.factorial import effects

if TYPE_CHECKING:
    from dumbbell.studies import Study

CASE: Final = "case"
PLOTTED: Final = "0 ms, 10 %"
"""The case that they plot without printing its numbers."""


FACTORS: Final = ("limit", "delay", "loss", "algorithm")


def matter_most(study: Study, others: Sequence[Study], first: Sequence[str]) -> Judged:
    """Judges whether these factors of test 2, in this order, have the largest shares of the variation of the logarithm
    of goodput.

    `study` has the limit of the rate, and `others` has not. A share that overlaps the next one tells nothing.
    """
    runs: dict[tuple[str, ...], list[float]] = {}
    for limit, one in (("10 Mbit/s", study), ("none", others[0])):
        figures = Figures(one)
        for case in figures.along(CASE):
            for cc in figures.along("flows.0.cc"):
                found = figures.samples("goodput", None, {CASE: case, "flows.0.cc": cc}).values()
                if found and min(found) > 0:
                    runs[limit, *case.split(", "), cc] = [log(value) for value in found]
    try:
        terms = effects(FACTORS, runs)
    except ValueError:
        return NOT_RUN
    statuses = []
    for name, term, below in zip(first, terms, terms[1:], strict=False):
        surely = compared(term.share, ">", below.share)
        statuses.append(surely if term.factors == (name,) else Status.FAILS if surely is Status.HOLDS else surely)
    said = ", ".join(f"{' and '.join(term.factors)} {interval_text(term.share, 0.01)}" for term in terms[:5])
    return Judged(all_of(statuses), f"shares of the variation: {said} %, n = {terms[0].share.n}")


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

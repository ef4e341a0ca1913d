"""Findings of bernardi-2020 on a machine with one core, scenario 4."""

from __future__ import annotations

from typing import Final

import polars as pl

from dumbbell.published.bernardi_2020.readings import CC
from dumbbell.published.comparing import listed
from dumbbell.published.figures import Figures
from dumbbell.published.judging import NOT_RUN, below, most, told
from dumbbell.published.model import Judged, Status, Studies
from dumbbell.published.ratios import ratio

CPUS: Final = "emulate.cpus"


def far_worse(studies: Studies) -> Judged:
    """On one CPU BBRv1 has less than 80 % of BBRv2."""
    if "4" not in studies:
        return NOT_RUN
    figures = Figures(studies["4"])
    one, two = (figures.samples("goodput", None, {CC: cc, CPUS: 1}) for cc in ("bbr", "bbr2"))
    alone = ratio(one, two)
    said = []
    for cpus in figures.along(CPUS):
        found = {cc: figures.interval("goodput", None, {CC: cc, CPUS: cpus}) for cc in figures.along(CC)}
        said.append(f"on {cpus}: {listed(found, 1e6, 'Mbit/s')}")
    if alone is not None:
        said.append(f"with one, BBRv1 {told(alone)} times BBRv2")
    return Judged(below(alone, 0.8), "CPUs " + "; ".join(said))


def detected(studies: Studies) -> Judged:
    """A check of what happened finds something in each run on one CPU. That of their number alone makes none valid."""
    if "4" not in studies:
        return NOT_RUN
    rows = studies["4"].runs.filter(pl.col(CPUS) == 1, pl.col("verdict").is_not_null())
    if rows.is_empty():
        return NOT_RUN
    counts = dict(rows["verdict"].value_counts().iter_rows())
    said = ", ".join(f"{count} {verdict}" for verdict, count in sorted(counts.items()))
    found = [bool(set(checks.split(", ")) - {"", "cpus"}) for checks in rows["reasons"].fill_null("")]
    # One without refutes it; that none is must be seen often enough.
    status, often = most(found)
    return Judged(
        status if all(found) else Status.FAILS, f"runs on one CPU: {said}; by another check than `cpus` {often}"
    )

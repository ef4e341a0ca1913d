"""The numbers that stand below each part of rincao-2021."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from dumbbell.published.figures import Figures
from dumbbell.published.rincao_2021.findings import beside_printed
from dumbbell.published.rincao_2021.grid import Mix
from dumbbell.published.rincao_2021.readings import Reading

if TYPE_CHECKING:
    from dumbbell.studies import Study


def of(mix: Mix, reading: Reading) -> Callable[[Study], str]:
    """The mean change from 10 to 30 % UDP of each algorithm, theirs and ours, and whether all transfers were
    complete."""

    def said(study: Study) -> str:
        figures = Figures(study)
        changes = [said for cc in mix.algorithms if (said := beside_printed(figures, mix, reading, cc))]
        mean = "Mean change from 10 to 30 % UDP over the numbers of connections: " + "; ".join(changes) + ". "
        return (mean if changes else "") + _completed(figures, mix)

    return said


def _completed(figures: Figures, mix: Mix) -> str:
    shares = [one for cc in mix.algorithms for one in figures.samples("completed_share", cc).values()]
    least = min(shares, default=1.0)
    if least == 1:
        return "All transfers were complete at the end of their runs."
    lacking = sum(one < 1 for one in shares)
    return (
        f"In {lacking} of {len(shares)} cases (a run's connections of one algorithm) some transfers were not complete "
        f"at the end, at worst {100 * (1 - least):.0f} % of them: these count with what they had sent."
    )

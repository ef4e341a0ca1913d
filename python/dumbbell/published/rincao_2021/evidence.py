"""The numbers that stand below each part of rincao-2021."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from dumbbell.published.figures import Figures
from dumbbell.published.rincao_2021.grid import Mix
from dumbbell.published.rincao_2021.judges import beside_printed
from dumbbell.published.rincao_2021.readings import Reading

if TYPE_CHECKING:
    from dumbbell.studies import Study


def of(mix: Mix, reading: Reading, called: Mapping[str, str] | None = None) -> Callable[[Study], str]:
    """The mean change from 10 to 30 % UDP of each algorithm, theirs and ours, and whether all transfers were
    complete. `called`: what stands in for an algorithm."""
    ours = {cc: (called or {}).get(cc, cc) for cc in mix.algorithms}

    def said(study: Study) -> str:
        figures = Figures(study)
        changes = [said for cc, own in ours.items() if (said := beside_printed(figures, mix, reading, cc, own))]
        mean = "Mean change from 10 to 30 % UDP over the numbers of connections: " + "; ".join(changes) + ". "
        return (mean if changes else "") + _completed(figures, list(ours.values()))

    return said


def _completed(figures: Figures, ccs: Sequence[str]) -> str:
    shares = [one for cc in ccs for one in figures.samples("completed_share", cc).values()]
    least = min(shares, default=1.0)
    if least == 1:
        return "All transfers were complete at the end of their runs."
    lacking = sum(one < 1 for one in shares)
    return (
        f"In {lacking} of {len(shares)} cases (a run's connections of one algorithm) some transfers were not complete "
        f"at the end, at worst {100 * (1 - least):.0f} % of them: these count with what they had sent."
    )

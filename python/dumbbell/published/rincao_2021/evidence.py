"""The numbers that stand below each part of rincao-2021."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from statistics import mean
from typing import TYPE_CHECKING

from dumbbell.published.figures import Figures
from dumbbell.published.rincao_2021.grid import Mix
from dumbbell.published.rincao_2021.judges import RETRANSMITTED, beside_printed
from dumbbell.published.rincao_2021.readings import Reading

if TYPE_CHECKING:
    from dumbbell.studies import Study


def of(mix: Mix, reading: Reading, called: Mapping[str, str] | None = None) -> Callable[[Study], str]:
    """The mean change from 10 to 30 % UDP of each algorithm, theirs and ours, what was sent again, and whether all
    transfers were complete. `called`: what stands in for an algorithm."""
    ours = {cc: (called or {}).get(cc, cc) for cc in mix.algorithms}

    def said(study: Study) -> str:
        figures = Figures(study)
        found = [said for cc, own in ours.items() if (said := beside_printed(figures, mix, reading, cc, own))]
        changes = f"Mean change from 10 to 30 % UDP over the numbers of connections: {'; '.join(found)}. "
        return (changes if found else "") + f"{_again(figures, ours.values())} {_completed(figures, ours.values())}"

    return said


def _again(figures: Figures, ccs: Iterable[str]) -> str:
    """How many segments were sent again: means over all runs of the part, the least and the most."""
    said = []
    for cc in ccs:
        if found := figures.samples(RETRANSMITTED, cc).values():
            said.append(f"{cc.upper()} {mean(found):,.0f} ({min(found):,.0f} to {max(found):,.0f})")
    return f"Segments sent again in a run: {'; '.join(said) or 'not known'}."


def _completed(figures: Figures, ccs: Iterable[str]) -> str:
    shares = [one for cc in ccs for one in figures.samples("completed_share", cc).values()]
    least = min(shares, default=1.0)
    if least == 1:
        return "All transfers were complete at the end of their runs."
    lacking = sum(one < 1 for one in shares)
    return (
        f"In {lacking} of {len(shares)} cases (a run's connections of one algorithm) some transfers were not complete "
        f"at the end, at worst {100 * (1 - least):.0f} % of them: these count with what they had sent."
    )

"""Code of rincao-2021: retransmissions, and whether all transfers were complete."""

from __future__ import annotations

from statistics import mean
from typing import TYPE_CHECKING

from dumbbell.published.figures import Figures

if TYPE_CHECKING:
    from dumbbell.studies import Study


def _algorithms(study: Study) -> list[str]:
    """CUBIC and what stands in for it, then BBR and what stands in for it."""
    found = set(study.flows["cc"].drop_nulls().unique().cast(str)) if study.has_runs else set()
    return [cc for cc in ("cubic", "bpf_cubic", "bbr", "bbr3") if cc in found]


def sent_again(study: Study) -> str:
    """How many segments were sent again: means over all runs of the part, the least and the most."""
    figures, said = Figures(study), []
    for cc in _algorithms(study):
        if found := figures.samples("retransmitted_segments", cc).values():
            said.append(f"{cc.upper()} {mean(found):,.0f} ({min(found):,.0f} to {max(found):,.0f})")
    return f"Segments sent again in a run: {'; '.join(said) or 'not known'}."


def completed(study: Study) -> str:
    """In how many cases some transfers were not complete at the end of a run."""
    figures = Figures(study)
    shares = [one for cc in _algorithms(study) for one in figures.samples("completed_share", cc).values()]
    least = min(shares, default=1.0)
    if least == 1:
        return "All transfers were complete at the end of their runs."
    lacking = sum(one < 1 for one in shares)
    return (
        f"In {lacking} of {len(shares)} cases (a run's connections of one algorithm) some transfers were not complete "
        f"at the end, at worst {100 * (1 - least):.0f} % of them: these count with what they had sent."
    )

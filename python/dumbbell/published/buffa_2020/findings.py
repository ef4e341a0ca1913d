"""The findings of buffa-2020."""

from __future__ import annotations

from typing import Final

from dumbbell.published.figures import Figures
from dumbbell.published.judging import NOT_RUN, above, all_of, any_of, below, told, within
from dumbbell.published.model import Finding, Judged, Studies
from dumbbell.published.ratios import ratio
from dumbbell.statistics.intervals import Interval

ALIKE: Final = (0.8, 1.25)
WORSE: Final = 0.75
FAR_MORE: Final = 30.0
PRINTED: Final = 45.0


def _ratio(studies: Studies, part: str, case: str, above_: str, below_: str) -> Interval | None:
    """The ratio of goodputs."""
    if part not in studies:
        return None
    figures = Figures(studies[part])
    one, other = (figures.samples("goodput", cc, {"case": case}) for cc in (above_, below_))
    return ratio(one, other)


def _alike_without_loss(studies: Studies) -> Judged:
    statuses, numbers = [], []
    for part, cases in (("2-10mbit", ("0 ms, 0 %", "10 ms, 0 %")), ("2-none", ("0 ms, 0 %",)), ("1", ("0 ms, 0 %",))):
        for case in cases:
            for cc in ("reno", "bbr"):
                found = _ratio(studies, part, case, cc, "cubic")
                if found is not None:
                    statuses.append(within(found, *ALIKE))
                    numbers.append(f"{part}, {case}: {cc} {told(found)} times cubic")
    return Judged(all_of(statuses), "; ".join(numbers)) if statuses else NOT_RUN


def _far_more_with_loss(studies: Studies) -> Judged:
    most: tuple[Interval, str] | None = None
    statuses = []
    for part in studies:
        if part.endswith("-one-link"):
            continue
        for case in Figures(studies[part]).along("case"):
            for cc in ("reno", "cubic"):
                found = None if case.endswith(", 0 %") else _ratio(studies, part, case, "bbr", cc)
                if found is None:
                    continue
                statuses.append(above(found, FAR_MORE))
                if most is None or found.value > most[0].value:
                    most = found, f"part {part}, {case}: BBR {told(found)} times {cc}"
    return Judged(any_of(statuses), f"most in {most[1]}, n = {most[0].n}") if most else NOT_RUN


def _worse_with_delay(studies: Studies) -> Judged:
    statuses, numbers = [], []
    for cc in ("reno", "cubic"):
        found = _ratio(studies, "3-10mbit", "1000 ms, 0 %", "bbr", cc)
        if found is not None:
            statuses.append(below(found, WORSE))
            numbers.append(f"BBR {told(found)} times {cc}")
    return Judged(all_of(statuses), f"{'; '.join(numbers)}; printed: 0.52 and 0.49") if statuses else NOT_RUN


def _at_a_gigabit(studies: Studies) -> Judged:
    found = _ratio(studies, "4", "0 ms, 5 %", "bbr", "cubic")
    if found is None:
        return NOT_RUN
    return Judged(within(found, PRINTED / 2, PRINTED * 2), f"BBR {told(found)} times CUBIC, n = {found.n}")


FINDINGS: Final = (
    Finding("Without loss all three algorithms carry alike (here: within 25 % of CUBIC)", _alike_without_loss),
    Finding(
        "With loss BBR carries up to about 100 times more (here: in some cell more than 30 times)", _far_more_with_loss
    ),
    Finding(
        "At 10 Mbit/s with a delay of 1 s and no loss BBR is worse, about half of the others (here: below 75 %)",
        _worse_with_delay,
    ),
    Finding("At 1 Gbit/s with 5 % loss BBR carries some 45 times what CUBIC does (here: 22 to 90)", _at_a_gigabit),
)

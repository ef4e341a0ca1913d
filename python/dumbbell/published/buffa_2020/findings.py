"""The findings of buffa-2020, for each reading of its set-up."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final, Literal

from dumbbell.published.buffa_2020.printed import Printed, mean_of, means, spread
from dumbbell.published.figures import Figures
from dumbbell.published.judging import NOT_RUN, above, all_of, below, told, within
from dumbbell.published.model import Finding, Judged, Status, Studies
from dumbbell.published.ratios import ratio
from dumbbell.statistics.intervals import Interval

CASE: Final = "case"
PARTS: Final = {
    "1": ("1", None), "2-none": ("2", None), "2-10mbit": ("2", 10.0), "3-none": ("3", None), "3-10mbit": ("3", 10.0),
    "4": ("4", 1000.0),
}  # fmt: skip
"""Part -> the test, and the limit of its rate in Mbit/s."""
LONG_MS: Final = 1000.0

ALIKE: Final = spread(lossy=False)
"""Without loss their own repetitions of one setting lie that far apart: what is nearer counts as alike."""
ABOUT: Final = spread(lossy=True)
"""The same with loss: "about 100" and "some 45" are that near to these numbers, or aren't."""

Pair = tuple[str, Printed, Printed, Interval]
"""A part, the printed rows of two algorithms in a case, and our ratio of the first to the second."""


def _pairs(studies: Studies, reading: str, lossy: bool, above_: Sequence[str], below_: Sequence[str]) -> Iterator[Pair]:
    """The goodput of one algorithm to that of another in all cases of all parts that were run, with loss or without."""
    for part, (test, mbit) in PARTS.items():
        if part + reading not in studies:
            continue
        figures = Figures(studies[part + reading])
        for one in means():
            if (one.test, one.mbit, one.loss > 0) != (test, mbit, lossy) or one.cc not in above_:
                continue
            for cc in below_:
                ours, others = (figures.samples("goodput", of, {CASE: one.case}) for of in (one.cc, cc))
                if (found := ratio(ours, others)) is not None:
                    yield part, one, mean_of(test, mbit, one.case, cc), found


def _said(pairs: Sequence[Pair]) -> str:
    """`2-none, 0 ms, 5 %: bbr 39 [30, 50] times cubic (printed 39)`."""
    said = [
        f"{part}, {one.case}: {one.cc} {told(found)} times {other.cc} (printed {_printed(one, other):.3g})"
        for part, one, other, found in pairs
    ]
    return f"{'; '.join(said)}; n = {min(found.n for *_, found in pairs)}"


def _printed(one: Printed, other: Printed) -> float:
    """The ratio of bytes, which have more digits than the rates."""
    return one.transferred / other.transferred


def _alike(studies: Studies, reading: str) -> Judged:
    pairs = [pair for pair in _pairs(studies, reading, False, ("reno", "bbr"), ("cubic",)) if not _is_long(pair)]
    if not pairs:
        return NOT_RUN
    return Judged(all_of([within(found, 1 / ALIKE, ALIKE) for *_, found in pairs]), _said(pairs))


def _is_long(pair: Pair) -> bool:
    return pair[1].delay_ms >= LONG_MS


def _more_with_loss(studies: Studies, reading: str) -> Judged:
    pairs = list(_pairs(studies, reading, True, ("bbr",), ("reno", "cubic")))
    if not pairs:
        return NOT_RUN
    least = min(pairs, key=lambda pair: pair[3].value)
    statuses = [above(found, 1) for *_, found in pairs]
    held = f"in {statuses.count(Status.HOLDS)} of {len(statuses)} comparisons"
    return Judged(all_of(statuses), f"{held}; least in {_said([least])}")


def _up_to_100(studies: Studies, reading: str) -> Judged:
    pairs = list(_pairs(studies, reading, True, ("bbr",), ("reno", "cubic")))
    if not pairs:
        return NOT_RUN
    most = max(pairs, key=lambda pair: pair[3].value)
    status, too_many = within(most[3], 100 / ABOUT, 100 * ABOUT), above(most[3], 100 * ABOUT)
    # A part that was not run could have more.
    known = too_many is Status.HOLDS or all(part + reading in studies for part in PARTS)
    return Judged(status if known else Status.UNKNOWN, f"most in {_said([most])}")


def _worse_with_delay(studies: Studies, reading: str) -> Judged:
    pairs = [pair for pair in _pairs(studies, reading, False, ("bbr",), ("reno", "cubic")) if _is_long(pair)]
    return Judged(all_of([below(found, 1) for *_, found in pairs]), _said(pairs)) if pairs else NOT_RUN


def _half_with_delay(studies: Studies, reading: str) -> Judged:
    pairs = [
        pair
        for pair in _pairs(studies, reading, False, ("bbr",), ("reno", "cubic"))
        if _is_long(pair) and pair[0] == "3-10mbit"
    ]
    statuses = [within(found, 0.5 / ALIKE, 0.5 * ALIKE) for *_, found in pairs]
    return Judged(all_of(statuses), _said(pairs)) if pairs else NOT_RUN


def _at_a_gigabit(studies: Studies, reading: str) -> Judged:
    pairs = [
        pair for pair in _pairs(studies, reading, True, ("bbr",), ("cubic",)) if pair[0] == "4" and not _is_long(pair)
    ]
    return Judged(all_of([within(one[3], 45 / ABOUT, 45 * ABOUT) for one in pairs]), _said(pairs)) if pairs else NOT_RUN


def _ratios(lossy: bool, ccs: Sequence[str], others: Sequence[str]) -> list[tuple[str, Printed, float]]:
    """The printed ratios of one algorithm to another in all cases: how they are said, the row, the ratio of bytes."""
    return [
        (f"{part}, {one.case}: {one.cc} {_printed(one, other):.3g} times {cc}", one, _printed(one, other))
        for part, (test, mbit) in PARTS.items()
        for one in means()
        if (one.test, one.mbit, one.loss > 0) == (test, mbit, lossy) and one.cc in ccs
        for cc in others
        for other in [mean_of(test, mbit, one.case, cc)]
    ]


def _print_alike() -> str:
    ratios = _ratios(False, ("reno", "bbr"), ("cubic",))
    found = [(said, value) for said, one, value in ratios if one.delay_ms < LONG_MS]
    beyond = [said for said, value in found if not 1 / ALIKE <= value <= ALIKE]
    inside = f"{len(found) - len(beyond)} of {len(found)} ratios to CUBIC are within that factor"
    return f"{inside}; their table contradicts their text in the others ({'; '.join(beyond)})"


def _print_up_to_100() -> str:
    found = _ratios(True, ("bbr",), ("reno", "cubic"))
    said, _, _ = max(found, key=lambda one: one[2])
    more = sum(value > 100 * ABOUT for *_, value in found)
    return f"their tables contradict their text: {more} of {len(found)} ratios are larger, most in {said}"


def _print_more() -> str:
    found = _ratios(True, ("bbr",), ("reno", "cubic"))
    more = sum(value > 1 for *_, value in found)
    said, _, _ = min(found, key=lambda one: one[2])
    return f"{more} of {len(found)} ratios are above 1, least in {said}"


def _print_long(*parts: str) -> str:
    found = _ratios(False, ("bbr",), ("reno", "cubic"))
    return "; ".join(said for said, one, _ in found if one.delay_ms >= LONG_MS and said.startswith(parts))


Reading = Literal["", "-one-link", "-mininet"]
READINGS: Final[dict[Reading, str]] = {"": "both links", "-one-link": "one link", "-mininet": "Mininet's links"}
"""What is behind a part's name -> the reading: delay and loss on both of the two host links or on one of them, or on
both of them as Mininet makes them, with whole bursts."""


def _findings(reading: Reading) -> tuple[Finding, ...]:
    def finding(text: str, judge: Callable[[Studies, str], Judged], printed: str, turns: str) -> Finding:
        return Finding(text, lambda studies: judge(studies, reading), printed, turns, reading=READINGS[reading])

    return (
        finding(
            f"Without loss all three algorithms carry alike (here: within a factor of {ALIKE:.3g}, by which their own "
            "repetitions of one setting differ)",
            _alike, _print_alike(), TURNS["alike"],
        ),
        finding(
            "With loss BBR carries more than the others (here: in every case)",
            _more_with_loss, _print_more(), TURNS["more"],
        ),
        finding(
            f"With loss BBR carries up to about 100 times more (here: the largest ratio is within a factor of "
            f"{ABOUT:.3g} of 100, by which their own repetitions with loss differ)",
            _up_to_100, _print_up_to_100(), TURNS["100"],
        ),
        finding(
            "With a long delay and no loss BBR is worse (here: 1 s, below both others, at 10 Mbit/s and unlimited)",
            _worse_with_delay, _print_long("3-none", "3-10mbit"), TURNS["worse"],
        ),
        finding(
            f"With a long delay and no loss BBR has about half of the others at 10 Mbit/s (here: within a factor of "
            f"{ALIKE:.3g})",
            _half_with_delay, _print_long("3-10mbit"), TURNS["half"],
        ),
        finding(
            f"At 1 Gbit/s with 5 % loss BBR carries some 45 times what CUBIC does (here: within a factor of "
            f"{ABOUT:.3g})",
            _at_a_gigabit,
            "194 and 4.13 Mbit/s, 47 times; their 45 is 1,370 by 30.4 MB, of which one is 1.37 GBytes of iperf's and "
            "the other 30.4 MBytes: 46 times",
            TURNS["45"],
        ),
    )  # fmt: skip


TURNS: Final = {"alike": "", "more": "", "100": "", "worse": "", "half": "", "45": ""}

FINDINGS: Final = tuple(one for reading in READINGS for one in _findings(reading))

"""The findings of buffa-2020, for each reading of its set-up."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Final, Literal

from dumbbell.published.buffa_2020.printed import Printed, mean_of, means, spread
from dumbbell.published.figures import Figures
from dumbbell.published.judging import NOT_RUN, above, all_of, told, within
from dumbbell.published.model import Finding, Judged, Status, Studies
from dumbbell.published.ratios import ratio
from dumbbell.report import words
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

OTHERS: Final = ("reno", "cubic")

Wanted = Callable[[str, Printed], bool]
"""Whether a finding is about a part and a printed row of it."""
Pair = tuple[str, Printed, Printed, Interval]
"""A part, the printed rows of two algorithms in a case, and our ratio of the first to the second."""


@dataclass(frozen=True)
class Pairs:
    """All comparisons that a finding is about."""

    found: Sequence[Pair]
    missing: Sequence[str]
    """The cases of the others, which a part left out or whose part was not run: `2-none, 10 ms, 0 %`."""

    @property
    def unknown(self) -> list[Status]:
        """What is missing could decide otherwise."""
        return [Status.UNKNOWN] * len(self.missing)

    @property
    def said(self) -> str:
        """`; left out: 2 of 10 comparisons (2-none, 10 ms, 0 %)`; empty if nothing is missing."""
        if not self.missing:
            return ""
        n, cases = len(self.found) + len(self.missing), "; ".join(dict.fromkeys(self.missing))
        return f"; left out: {len(self.missing)} of {n} comparisons ({cases})"


def _short(part: str, row: Printed) -> bool:
    return row.loss == 0 and row.delay_ms < LONG_MS


def _long(part: str, row: Printed) -> bool:
    return row.loss == 0 and row.delay_ms >= LONG_MS


def _long_at_10(part: str, row: Printed) -> bool:
    return part == "3-10mbit" and _long(part, row)


def _lossy(part: str, row: Printed) -> bool:
    return row.loss > 0


def _gigabit(part: str, row: Printed) -> bool:
    return part == "4" and row.delay_ms == 0


def _rows(wanted: Wanted, part: str, ccs: Sequence[str]) -> list[Printed]:
    test, mbit = PARTS[part]
    return [one for one in means() if (one.test, one.mbit) == (test, mbit) and one.cc in ccs and wanted(part, one)]


def _other(one: Printed, cc: str) -> Printed:
    """The same case of another algorithm."""
    return mean_of(one.test, one.mbit, one.case, cc)


def _pairs(studies: Studies, reading: str, wanted: Wanted, ccs: Sequence[str], others: Sequence[str]) -> Pairs:
    """The goodput of one algorithm to that of another in all cases of all parts."""
    found, missing = [], []
    for part in PARTS:
        asked = list(product(_rows(wanted, part, ccs), others))
        figures = Figures(studies[part + reading]) if asked and part + reading in studies else None
        for one, cc in asked:
            times = None
            if figures is not None:
                ours, theirs = (figures.samples("goodput", of, {CASE: one.case}) for of in (one.cc, cc))
                times = ratio(ours, theirs)
            if times is None:
                missing.append(f"{part}, {one.case}")
            else:
                found.append((part, one, _other(one, cc), times))
    return Pairs(found, missing)


def _said(pairs: Sequence[Pair]) -> str:
    """`2-none, 0 ms, 5 %: bbr 39 [30, 50] times cubic (printed 39); n = 10`."""
    said = [
        f"{part}, {one.case}: {one.cc} {told(found)} times {other.cc} (printed {words.number(_printed(one, other))})"
        for part, one, other, found in pairs
    ]
    return f"{'; '.join(said)}; n = {min(found.n for *_, found in pairs)}"


def _printed(one: Printed, other: Printed) -> float:
    """The ratio of bytes, which have more digits than the rates."""
    return one.transferred / other.transferred


def _all(pairs: Pairs, low: float, high: float) -> Judged:
    """Whether all ratios lie between two bounds."""
    if not pairs.found:
        return NOT_RUN
    statuses = [within(found, low, high) for *_, found in pairs.found]
    return Judged(all_of([*statuses, *pairs.unknown]), _said(pairs.found) + pairs.said)


def judge_alike(studies: Studies, reading: str) -> Judged:
    """All algorithms carry alike without loss."""
    return _all(_pairs(studies, reading, _short, ("reno", "bbr"), ("cubic",)), 1 / ALIKE, ALIKE)


def _more_with_loss(studies: Studies, reading: str) -> Judged:
    pairs = _pairs(studies, reading, _lossy, ("bbr",), OTHERS)
    if not pairs.found:
        return NOT_RUN
    least = min(pairs.found, key=lambda pair: pair[3].value)
    statuses = [above(found, 1) for *_, found in pairs.found]
    held = f"in {statuses.count(Status.HOLDS)} of {len(statuses)} comparisons"
    return Judged(all_of([*statuses, *pairs.unknown]), f"{held}; least in {_said([least])}{pairs.said}")


def judge_up_to_100(studies: Studies, reading: str) -> Judged:
    """BBR carries up to 100 times as much with loss."""
    pairs = _pairs(studies, reading, _lossy, ("bbr",), OTHERS)
    if not pairs.found:
        return NOT_RUN
    most = max(pairs.found, key=lambda pair: pair[3].value)
    status, too_many = within(most[3], 100 / ABOUT, 100 * ABOUT), above(most[3], 100 * ABOUT)
    # What was not run could have more.
    known = too_many is Status.HOLDS or not pairs.missing
    return Judged(status if known else Status.UNKNOWN, f"most in {_said([most])}{pairs.said}")


def judge_worse_with_delay(studies: Studies, reading: str) -> Judged:
    """BBR carries less than the others with delay."""
    return _all(_pairs(studies, reading, _long, ("bbr",), OTHERS), 0, 1)


def _half_with_delay(studies: Studies, reading: str) -> Judged:
    return _all(_pairs(studies, reading, _long_at_10, ("bbr",), OTHERS), 0.5 / ALIKE, 0.5 * ALIKE)


def judge_at_a_gigabit(studies: Studies, reading: str) -> Judged:
    """BBR carries a 45th of what CUBIC does at 1 Gbit/s."""
    return _all(_pairs(studies, reading, _gigabit, ("bbr",), ("cubic",)), 45 / ABOUT, 45 * ABOUT)


def _ratios(wanted: Wanted, ccs: Sequence[str], others: Sequence[str]) -> list[tuple[str, float]]:
    """The printed ratios of one algorithm to another in all cases, and how they are said."""
    found = [(part, one, _other(one, cc)) for part in PARTS for one in _rows(wanted, part, ccs) for cc in others]
    return [
        (f"{part}, {one.case}: {one.cc} {words.number(_printed(one, other))} times {other.cc}", _printed(one, other))
        for part, one, other in found
    ]


def printed_alike() -> str:
    """Returns in how many printed ratios the algorithms are alike."""
    found = _ratios(_short, ("reno", "bbr"), ("cubic",))
    beyond = [said for said, value in found if not 1 / ALIKE <= value <= ALIKE]
    inside = f"{len(found) - len(beyond)} of {len(found)} ratios to CUBIC are within that factor"
    return f"{inside}; their table contradicts their text in the others ({'; '.join(beyond)})"


def printed_up_to_100() -> str:
    """Returns how many printed ratios are above 100."""
    found = _ratios(_lossy, ("bbr",), OTHERS)
    said, _ = max(found, key=lambda one: one[1])
    more = sum(value > 100 * ABOUT for _, value in found)
    return f"their tables contradict their text: {more} of {len(found)} ratios are larger, most in {said}"


def _print_more() -> str:
    found = _ratios(_lossy, ("bbr",), OTHERS)
    said, _ = min(found, key=lambda one: one[1])
    return f"{sum(value > 1 for _, value in found)} of {len(found)} ratios are above 1, least in {said}"


def _print(wanted: Wanted) -> str:
    return "; ".join(said for said, _ in _ratios(wanted, ("bbr",), OTHERS))


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
            judge_alike, printed_alike(), TURNS["alike"],
        ),
        finding(
            "With loss BBR carries more than the others (here: in every case)",
            _more_with_loss, _print_more(), TURNS["more"],
        ),
        finding(
            f"With loss BBR carries up to about 100 times more (here: the largest ratio is within a factor of "
            f"{ABOUT:.3g} of 100, by which their own repetitions with loss differ)",
            judge_up_to_100, printed_up_to_100(), TURNS["100"],
        ),
        finding(
            "With a long delay and no loss BBR is worse (here: 1 s, below both others, at 10 Mbit/s and unlimited)",
            judge_worse_with_delay, _print(_long), TURNS["worse"],
        ),
        finding(
            f"With a long delay and no loss BBR has about half of the others at 10 Mbit/s (here: within a factor of "
            f"{ALIKE:.3g})",
            _half_with_delay, _print(_long_at_10), TURNS["half"],
        ),
        finding(
            f"At 1 Gbit/s with 5 % loss BBR carries some 45 times what CUBIC does (here: within a factor of "
            f"{ABOUT:.3g})",
            judge_at_a_gigabit,
            "194 and 4.13 Mbit/s, 47 times; their 45 is 1,370 by 30.4 MB, of which one is 1.37 GBytes of iperf's and "
            "the other 30.4 MBytes: 46 times",
            TURNS["45"],
        ),
    )  # fmt: skip


TURNS: Final = {
    "alike": "a limit other than a link's. Where none is set their CPU was the limit, and our link of 10 Gbit/s or, in "
    "2-none at 10 ms, the receive window; a CPU as the limit was not tested",
    "more": "the number of lossy links: with one BBR has more in every case (parts -one-link). Where a few packets in "
    "a minute decide, as in 3-10mbit, what is lost: of whole bursts, 1 % on each link leaves BBR less than CUBIC "
    "(3-10mbit-mininet)",
    "100": "what is lost, packets (parts 1 and 2-none) or whole bursts (1-mininet, 2-none-mininet), and on how many "
    "links (parts -one-link)",
    "worse": "the round trip: with the delay on one link it is 2 s instead of 4 (parts -one-link)",
    "half": "the round trip (3-10mbit-one-link), the links (3-10mbit-mininet), and the clock: by iperf's own BBR has "
    "0.25 of the others' rate at 4 s (docs/examples/iperf-long-delay.toml)",
    "45": "what is lost, packets (part 4) or whole bursts (4-mininet), and on how many links (4-one-link)",
}
"""What would change the answer to each finding."""

FINDINGS: Final = tuple(one for reading in READINGS for one in _findings(reading))

"""The rate of a link: constant, or changing by itself.

A rate that changes has steps (constant between moments) or opportunities (moments at which so many bytes may leave).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Discriminator, Field, Tag, model_validator

from dumbbell.scenario.table import Table, word_for_none
from dumbbell.scenario.traces import File, holding, mahimahi, rates
from dumbbell.units import Duration, QuantityError, Rate, Size, Time

MOST_STEPS = 100_000
"""The most steps that a ramp may be cut into."""

_POINT = 'a moment and the rate from then on, such as ["10 s", "20 Mbit/s"]'


class RateOrZero(Rate):
    """Bits per second; 0: nothing leaves."""

    minimum = 0


def _pair(value: Any) -> Any:
    if not isinstance(value, list | tuple) or len(value) != 2:
        raise QuantityError("not a pair", _POINT, 'write [["0 s", "100 Mbit/s"], ["10 s", "20 Mbit/s"]]')
    return value


def _rising(points: list[tuple[Time, RateOrZero]]) -> list[tuple[Time, RateOrZero]]:
    hint = 'begin with ["0 s", "100 Mbit/s"]'
    if points and points[0][0] != 0:
        raise QuantityError("begins later than the run", "a first moment of 0 s", hint)
    for (before, _), (at, _) in pairwise(points):
        if at <= before:
            raise QuantityError(f"{at} after {before}: the moments do not rise", "moments that rise", "sort them")
    if not any(rate for _, rate in points):
        raise QuantityError("the rate is always 0", "a rate above 0 at some moment", hint)
    return points


Point = Annotated[tuple[Time, RateOrZero], BeforeValidator(_pair, json_schema_input_type=tuple[Time, RateOrZero])]
Points = Annotated[list[Point], Field(min_length=1), AfterValidator(_rising)]

_PERIOD = "Time after which it begins again. Default: never; the last rate stays."


class Varying(Table):
    """A rate that is constant between steps."""

    def steps(self) -> list[tuple[int, int]]:
        """The start of each step (ns, the first 0), and its bits per second."""
        raise NotImplementedError

    @property
    def begins_again(self) -> Time | None:
        """After how long."""
        raise NotImplementedError

    def _check_period(self, last: int) -> None:
        if self.begins_again is not None and self.begins_again <= last:
            why = f"more than the last moment, {Time(last)}"
            raise QuantityError(f"a period of {self.begins_again} ends before the last step", why, "raise the period")


class Steps(Varying):
    """A rate that changes in steps."""

    points: Points = Field(
        alias="steps",
        description='Moments and the rates from then on, e.g. [["0 s", "9 Mbit/s"], ["5 s", "3 Mbit/s"]]; a rate may '
        "be 0 bit/s.",
    )
    period: Duration | None = Field(default=None, ge=1_000_000, description=_PERIOD)

    def steps(self) -> list[tuple[int, int]]:
        """The steps as written."""
        return [(int(at), int(rate)) for at, rate in self.points]

    @property
    def begins_again(self) -> Time | None:
        """After how long."""
        return self.period

    @model_validator(mode="after")
    def _check(self) -> Steps:
        self._check_period(self.points[-1][0])
        return self


class Ramp(Varying):
    """A rate that follows straight lines between points, in steps whose rate is the line's mean."""

    points: Points = Field(
        alias="ramp",
        description='Moments and rates, e.g. [["0 s", "9 Mbit/s"], ["5 s", "3 Mbit/s"]], with straight lines between.',
    )
    step: Duration = Field(
        default=Duration(100_000_000),
        ge=10_000,
        description="Length of the steps of the lines, each with the line's mean rate.",
    )
    period: Duration | None = Field(default=None, ge=1_000_000, description=_PERIOD)

    def steps(self) -> list[tuple[int, int]]:
        """The lines cut into steps; what is sent over each is what the line would have let through."""
        step, points = int(self.step), [(int(at), int(rate)) for at, rate in self.points]
        cut: list[tuple[int, int]] = []
        for (begin, from_), (end, to) in pairwise(points):
            change, twice = to - from_, 2 * (end - begin)
            last = begin + (end - begin - 1) // step * step
            cut += [(at, from_ + change * (2 * (at - begin) + step) // twice) for at in range(begin, last, step)]
            cut.append((last, from_ + change * (last + end - 2 * begin) // twice))
        return cut if self.period is not None and points[-1][0] >= self.period else [*cut, points[-1]]

    @property
    def begins_again(self) -> Time | None:
        """After how long."""
        return self.period

    @model_validator(mode="after")
    def _check(self) -> Ramp:
        # The last point may be where it begins again.
        self._check_period(self.points[-1][0] - 1)
        if self.points[-1][0] // self.step > MOST_STEPS:
            raise QuantityError("too many steps", f"at most {MOST_STEPS} steps", "raise ramp's step")
        return self


class RateFile(Varying):
    """A rate that a CSV file gives as steps."""

    csv: Annotated[File, holding(rates)] = Field(
        description="File of two columns, time and rate, in s and bit/s unless its first line names units "
        "(`time_s,rate_Mbps`)."
    )
    period: Duration | None = Field(default=None, ge=1_000_000, description=_PERIOD)

    def steps(self) -> list[tuple[int, int]]:
        """The steps as in the file."""
        return list(rates(self.csv.text))

    @property
    def begins_again(self) -> Time | None:
        """After how long."""
        return self.period

    @model_validator(mode="after")
    def _check(self) -> RateFile:
        self._check_period(rates(self.csv.text)[-1][0])
        return self


class Trace(Table):
    """Moments at which a packet may leave, as Mahimahi records them."""

    trace: Annotated[File, holding(mahimahi)] = Field(
        description="File in Mahimahi's format: milliseconds, one per line, each an opportunity to send. It begins "
        "again at its end."
    )
    opportunity: Size | None = Field(
        default=None,
        ge=1,
        le=1 << 30,
        description="Bytes that one opportunity carries. A larger packet takes several; unused ones are lost. "
        "Default: a full frame, 1514 B and `overhead`.",
    )

    def times(self) -> tuple[tuple[int, int], ...]:
        """Moments in ns, rising, and how many opportunities there are at each."""
        return mahimahi(self.trace.text)

    @property
    def period(self) -> int:
        """After how many ns it begins again."""
        return self.times()[-1][0]


AnyRate = Annotated[
    Annotated[Rate, Tag("@rate")]
    | Annotated[Steps, Tag("@steps")]
    | Annotated[Ramp, Tag("@ramp")]
    | Annotated[RateFile, Tag("@csv")]
    | Annotated[Trace, Tag("@trace")],
    Discriminator(lambda value: _tag(value)),
]
LinkRate = Annotated[AnyRate | None, *word_for_none("unlimited", AnyRate | Literal["unlimited"])]
"""`None` is no limit."""

_TAGS: dict[type, str] = {Steps: "@steps", Ramp: "@ramp", RateFile: "@csv", Trace: "@trace"}


def _tag(value: Any) -> str | None:
    if isinstance(value, dict):
        return next((tag for tag in _TAGS.values() if tag[1:] in value), None)
    return _TAGS.get(type(value), "@rate")


def mean(rate: Rate | Varying | Trace | None, duration: int, frame: int) -> Rate | None:
    """Over a period, or over the run where it does not begin again; at least 1 bit/s. None without a limit.

    `frame` is what an opportunity carries if the scenario does not say.
    """
    if rate is None or isinstance(rate, Rate):
        return rate
    try:
        return _known_mean(rate, duration, frame)
    except TypeError:  # Steps are a list, which has no hash.
        return _mean(rate, duration, frame)


@lru_cache(maxsize=64)
def _known_mean(rate: Varying | Trace, duration: int, frame: int) -> Rate:
    return _mean(rate, duration, frame)


def _mean(rate: Varying | Trace, duration: int, frame: int) -> Rate:
    if isinstance(rate, Trace):
        count = sum(count for _, count in rate.times())
        return Rate(max(_trace_bits(rate, count, frame) * 10**9 // rate.period, 1))
    steps, span = rate.steps(), rate.begins_again or duration
    total = sum(max(min(end, span) - at, 0) * bps for (at, bps), (end, _) in _spans(steps, span))
    return Rate(max(total // span, 1))


def _trace_bits(trace: Trace, count: int, frame: int) -> int:
    return count * 8 * (frame if trace.opportunity is None else trace.opportunity)


def _spans(steps: Sequence[tuple[int, int]], end: int) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    return zip(steps, [*steps[1:], (end, 0)], strict=True)

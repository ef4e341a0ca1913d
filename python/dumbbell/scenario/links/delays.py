"""The delay of a link, jitter on top of it, and reordering of packets."""

from __future__ import annotations

from functools import lru_cache
from typing import Annotated, Literal

from pydantic import BeforeValidator, Discriminator, Field, Tag, model_validator

from dumbbell.scenario.links.part import LinkPart, Sometimes
from dumbbell.scenario.table import Table, shorthand, tag_by, word_for_none
from dumbbell.scenario.traces import File, delay_course, delays, holding
from dumbbell.units import Correlation, Duration, Percent, QuantityError, Time

MOST_QUANTILES = 1001
"""The number of quantiles that a table of delays is reduced to: one per mille each."""


class DelayTrace(Table):
    """A delay that follows a measured series."""

    trace: Annotated[File, holding(delay_course)] = Field(
        description="File of two columns, time and delay, in s unless its first line names units (`time_s,delay_ms`)."
    )
    period: Duration | None = Field(
        default=None,
        ge=1_000_000,
        description="Time after which it begins again. Default: never; the last delay stays.",
    )

    def steps(self) -> tuple[tuple[int, int], ...]:
        """The start of each step (ns, the first 0), and the delay from then on in ns."""
        return delay_course(self.trace.text)

    @model_validator(mode="after")
    def _check(self) -> DelayTrace:
        last = Time(self.steps()[-1][0])
        if self.period is not None and self.period <= last:
            why = f"more than the last moment, {last}"
            raise QuantityError(f"a period of {self.period} ends before the last step", why, "raise the period")
        return self


class Traced(Time):
    """The least of a delay that changes by itself, and its course."""

    course: DelayTrace

    def __eq__(self, other: object) -> bool:
        """Another delay of the same size does not change."""
        return isinstance(other, Traced) and self.course == other.course

    def __hash__(self) -> int:
        """Hashes the least delay."""
        return int.__hash__(self)


def least_delay(delay: Time | DelayTrace) -> Time:
    """The delay, or the least of one that changes."""
    if isinstance(delay, Time):
        return delay
    found = Traced(_least(delay.trace.text))
    found.course = delay
    return found


@lru_cache(maxsize=32)
def _least(text: str) -> int:
    """Links of a large network share a trace."""
    return min(ns for _, ns in delay_course(text))


AnyDelay = Annotated[
    Annotated[Time, Tag("@delay")] | Annotated[DelayTrace, Tag("@trace")],
    Discriminator(lambda value: "@trace" if isinstance(value, dict | DelayTrace) else "@delay"),
]
"""`"20 ms"`, or `{ trace = FILE }`."""


class AnyJitter(LinkPart):
    """Keys that all distributions have."""

    correlation: Correlation = Field(
        default=Correlation.parse("0 %"),
        description="Correlation of a packet's jitter with that of the packet before (of their normal scores: the "
        "distribution is kept).",
    )

    def in_plan(self) -> dict[str, object]:
        """The jitter as the crate `plan` declares it: the distribution with its parameters, and the correlation."""
        parameters = super().in_plan()
        correlation, kind = parameters.pop("correlation"), parameters.pop("distribution")
        return {"distribution": {"kind": kind, **parameters}, "correlation": correlation}


class Uniform(AnyJitter):
    """Any time between two, all alike."""

    distribution: Literal["uniform"] = Field(
        default="uniform", description="A uniformly distributed time from min to max."
    )
    min: Time = Field(default=Time(0), description="Least delay.")
    max: Time = Field(description="Largest delay.")

    @model_validator(mode="after")
    def _check(self) -> Uniform:
        if self.min > self.max:
            what = f"min = {self.min} is above max = {self.max}"
            raise QuantityError(what, "min at most max", f'write min = "{self.max}", max = "{self.min}"')
        return self

    @property
    def has_effect(self) -> bool:
        """True if any packet is delayed."""
        return self.max > 0


class Normal(AnyJitter):
    """Gauss; negative values become zero."""

    distribution: Literal["normal"] = Field(description="Gauss; negative values become zero.")
    mean: Time = Field(description="Mean before negative values become zero.")
    sd: Time = Field(description="Standard deviation before negative values become zero.")


class Pareto(AnyJitter):
    """Pareto, type I: a heavy tail above a least value."""

    distribution: Literal["pareto"] = Field(description="P(X > x) = (min / x) to the power of shape.")
    min: Duration = Field(description="Least delay.")
    shape: float = Field(le=1000, description="Exponent of the tail, above 1.")

    @model_validator(mode="after")
    def _check(self) -> Pareto:
        if not self.shape > 1:
            raise QuantityError(f"shape = {self.shape} has no mean", "a shape above 1", "write shape = 3")
        return self


class Measured(AnyJitter):
    """Measured jitter."""

    distribution: Literal["table"] = Field(description="Measured delays: a file of one column, in any order.")
    file: Annotated[File, holding(delays)] = Field(
        description="File of one column of delays, in any order. The unit stands in its first line (`delay_ms`); "
        "without one they are seconds."
    )

    def in_plan(self) -> dict[str, object]:
        """The jitter without the file: the plan holds the quantiles of its delays."""
        distribution = {"kind": self.distribution, "quantiles_ns": self.quantiles()}
        return {**super().in_plan(), "distribution": distribution}

    def quantiles(self) -> list[int]:
        """Delays in ns at equal steps of probability, the least first; linear between samples (Hyndman and Fan's type
        7, numpy's default), rounded."""
        samples = delays(self.file.text)
        if len(samples) <= MOST_QUANTILES:
            return list(samples)
        found = []
        for step in range(MOST_QUANTILES):
            index, rest = divmod(step * (len(samples) - 1), MOST_QUANTILES - 1)
            above = samples[min(index + 1, len(samples) - 1)]
            found.append(samples[index] + round((above - samples[index]) * rest / (MOST_QUANTILES - 1)))
        return found


Jitter = Uniform | Normal | Pareto | Measured
DISTRIBUTIONS: dict[str, type[AnyJitter]] = {
    "uniform": Uniform,
    "normal": Normal,
    "pareto": Pareto,
    "table": Measured,
}
"""Tables by the names of their distributions."""


JitterTable = Annotated[
    Annotated[Uniform, Tag("@Uniform")]
    | Annotated[Normal, Tag("@Normal")]
    | Annotated[Pareto, Tag("@Pareto")]
    | Annotated[Measured, Tag("@Measured")],
    Discriminator(tag_by("distribution", DISTRIBUTIONS, "uniform")),
]
_ShortJitter = Annotated[JitterTable, BeforeValidator(lambda value: shorthand("max", value))]
LinkJitter = Annotated[_ShortJitter | None, *word_for_none("none", Time | Literal["none"] | JitterTable)]
"""A time alone: uniform from 0 to that."""


class Reorder(Sometimes):
    """Packets that skip the delay and so overtake others."""

    rate: Percent = Field(description="Share of the candidates that skip the delay.")
    correlation: Correlation = Field(
        default=Correlation.parse("0 %"), description="Correlation with the candidate before. The rate is kept."
    )
    gap: int = Field(default=1, ge=1, le=1 << 53, strict=True, description="Every nth packet is a candidate.")
    delay: Time = Field(default=Time(0), description="Delay of these packets in place of the link's delay and jitter.")


_ShortReorder = Annotated[Reorder, BeforeValidator(lambda value: shorthand("rate", value))]
LinkReorder = Annotated[_ShortReorder | None, *word_for_none("none", Percent | Literal["none"] | Reorder)]
"""`"1 %"`, a table, or `"none"`."""

"""Panels of rates: how fast a counter of each flow grows, interval by interval."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

import polars as pl

from dumbbell.errors import DumbbellError
from dumbbell.frozen import dataclass
from dumbbell.report import words
from dumbbell.report.acks import Acks
from dumbbell.report.capacity import VaryingCapacity
from dumbbell.report.decimate import Aligned, round_width_ns
from dumbbell.report.levels import capacities, split
from dumbbell.report.model import Line, Mark, Panel, Quantity, Reference, View
from dumbbell.report.source import Source
from dumbbell.report.spread import Many

_INTERVALS: Final = 200
_BASE: Final = frozenset(("time_ns", "socket"))


@dataclass(frozen=True)
class RatePanel:
    """The rate of each flow, and the capacities of their ways."""

    place: int
    """Position on the page: panels stand in ascending order."""
    key: str
    """The rate in bit/s."""
    title: str
    counter: pl.Expr
    """The byte counter, of a row of `samples`."""
    note: str
    """Beginning of the sentence below the panel, which ends with "in each 100 ms, over its length":
    `Goodput: bytes read by the receiver's application`."""
    otherwise: tuple[pl.Expr, str] | None = None
    """Rows of another kind, and what is counted there."""
    above_capacity: str = ""
    """Why a flow can be above the capacity."""
    is_expected: bool = False
    ack_columns: frozenset[str] = frozenset()

    @property
    def sample_columns(self) -> frozenset[str]:
        """Columns of `samples` that it needs."""
        return _BASE.union(self.counter.meta.root_names())

    def start(self, source: Source) -> _Rates:
        """Begin the panel of one run."""
        return _Rates(self, source)


@dataclass(frozen=True)
class _Rates:
    of: RatePanel
    source: Source

    def add(self, acks: Acks) -> None:
        """Rates are those of samples: of all sockets, at common times."""

    def panel(self) -> Panel | None:
        """The panel of rates; `None` if no rate is known."""
        found = _of_kinds(self.of, self.source) if self.source.has_too_many_flows else _of_flows(self.of, self.source)
        return None if found is None else self._panel(found)

    def _panel(self, series: _Series) -> Panel:
        of, known = self.of, self.source.known
        note = series.note
        curves = [(one.name, one.rates_bps(series.time_ns, series.width_ns)) for one in self._varying()]
        if curves:
            what = "the narrowest link of a path" if known.has_several else "the bottleneck"
            note += f" Dashed: what {what} could carry, in whole frames."
        levels = capacities(known)
        near, far = split(levels, series.largest)
        tops = [series.largest, *(level.value for level in near), *(_largest(capacity) for _, capacity in curves)]
        factor, unit = words.rate_unit(max(tops))
        marks = series.marks(factor)
        if of.above_capacity and series.exceeds(_highest(levels, [capacity for _, capacity in curves])):
            note += f" {of.above_capacity}"
        marks += tuple(Line(capacity / factor, None, name=name, is_level=True) for name, capacity in curves)
        references = tuple(Reference(level.value / factor, level.label) for level in near)
        view = View("", series.time_ns / 1e9, marks, note + far, references)
        return Panel(of.key, factor, of.title, unit, (view,), quantities=series.quantities)

    def _varying(self) -> list[VaryingCapacity]:
        try:
            return VaryingCapacity.read(self.source.run, self.source.known)
        except DumbbellError as error:
            self.source.say(["Capacity"], error)
            return []


@dataclass(frozen=True)
class _Series:
    """The series to draw, in bit/s."""

    time_ns: pl.Series
    """The middles of the intervals."""
    width_ns: int
    largest: float
    marks: Callable[[float], tuple[Mark, ...]]
    """Marks whose values are divided by a factor."""
    exceeds: Callable[[pl.Series | float | None], bool]
    """True if any flow was above the given capacity, in bit/s, at some time."""
    note: str
    quantities: tuple[Quantity, ...] = ()


def _of_flows(of: RatePanel, source: Source) -> _Series | None:
    """A curve per flow."""
    samples = source.samples
    width = max(round_width_ns(samples.span_ns / _INTERVALS), samples.interval_ns)
    found = rates(samples.rows, of.counter, width)
    if found.is_empty():
        return None
    frame = found.pivot(on="flow", index="time_ns", values="v", aggregate_function="first").sort("time_ns")
    if not source.known.is_constant and source.run.has("links"):
        middles = pl.int_range(width // 2, samples.span_ns, width, eager=True, dtype=pl.Int64).alias("time_ns")
        frame = middles.to_frame().join(frame, on="time_ns", how="left")
    note = f"{of.note} in each {words.seconds(width / 1e9)}, over its length."
    if of.otherwise is not None and not samples.rows.filter(of.otherwise[0]).is_empty():
        note += f" {of.otherwise[1]}"
    aligned = Aligned(frame, width)
    return _Series(
        frame["time_ns"],
        width,
        _largest(found["v"]),
        lambda factor: samples.lines(aligned, 1 / factor),
        lambda capacity: _exceeds(frame, capacity),
        note,
    )


def _of_kinds(of: RatePanel, source: Source) -> _Series | None:
    """The distribution of rates over the flows of each kind."""
    many = source.many
    found = many.spread(_grown(many, of.counter))
    if found is None:
        return None
    return _Series(
        found.time_ns,
        found.width_ns,
        found.largest,
        lambda factor: found.marks(source.groups, factor),
        lambda capacity: False,
        found.note(of.note),
        found.quantities(of.key),
    )


def _grown(many: Many, counter: pl.Expr) -> Iterator[pl.DataFrame]:
    """The rates of all flows in the intervals of each part. An interval begins at the last sample before it."""
    before: pl.DataFrame | None = None
    for part in many.samples(counter.meta.root_names()):
        rows = part if before is None else pl.concat([before, part])
        found = rates(rows, counter, many.width_ns).select("flow", "v", many.slot("time_ns"))
        if part.height:
            yield found.filter(pl.col("slot") >= part["time_ns"][0] // many.width_ns)
        before = rows.group_by("flow", "socket", maintain_order=True).last().select(rows.columns)


def rates(rows: pl.DataFrame, counter: pl.Expr, width_ns: int) -> pl.DataFrame:
    """Growth of `counter` per interval, over the time between the last samples of it and the one before, in bit/s.

    Returns `time_ns` (the interval's middle), `flow`, `v`. The first interval counts from the flow's first sample. An
    interval of which less than half was sampled, at a flow's ends, is left out: a burst in it would look like a rate.
    """
    # Numbers that stand for names within this table are sorted and grouped faster than names.
    keys = ["code", "socket"]
    number = pl.col("flow").to_physical().alias("code")
    counted = rows.select("time_ns", "flow", number, "socket", bytes=counter.cast(pl.Float64)).drop_nulls()
    slot = (pl.col("time_ns") // width_ns).alias("slot")
    ends = counted.group_by(*keys, slot).agg(
        pl.col("flow").first(),
        pl.col("time_ns", "bytes").last(),
        first_ns=pl.col("time_ns").first(),
        first_bytes=pl.col("bytes").first(),
    )
    ends = ends.sort(*keys, "slot")
    # Rows of a socket follow one another: looking one row back is much faster than a window over each.
    goes_on = pl.all_horizontal(pl.col(key).eq_missing(pl.col(key).shift(1)) for key in keys)
    before_time = pl.when(goes_on).then(pl.col("time_ns").shift(1)).otherwise("first_ns")
    before_bytes = pl.when(goes_on).then(pl.col("bytes").shift(1)).otherwise("first_bytes")
    spans = ends.with_columns(span=pl.col("time_ns") - before_time, delta=pl.col("bytes") - before_bytes)
    found = spans.filter(pl.col("span") >= width_ns // 2).with_columns(v=pl.col("delta") * 8e9 / pl.col("span"))
    middle = pl.col("slot") * width_ns + width_ns // 2
    summed = found.group_by("code", "slot").agg(pl.col("flow").first(), pl.col("v").sum())
    return summed.select(middle.alias("time_ns"), "flow", "v")


def _exceeds(frame: pl.DataFrame, capacity: pl.Series | float | None) -> bool:
    """True if any flow was above the capacity at some time."""
    flows = frame.drop("time_ns")
    return capacity is not None and any((flow > capacity).any() for flow in flows)


def _highest(levels: Sequence[Reference], curves: Sequence[pl.Series]) -> pl.Series | float | None:
    """The largest capacity of all ways, at each time if some have curves; `None` if no capacity is known."""
    constant = max((level.value for level in levels), default=None)
    if not curves:
        return constant
    columns = [pl.lit(constant, pl.Float64), *(curve.alias(f"{at}") for at, curve in enumerate(curves))]
    return pl.select(pl.max_horizontal(columns)).to_series()


def _largest(values: pl.Series) -> float:
    largest = values.cast(pl.Float64).max()
    return float(largest) if isinstance(largest, float) else 0.0

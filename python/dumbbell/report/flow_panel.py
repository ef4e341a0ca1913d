"""Panels with curves per flow: of every ACK where they were recorded, else of the samples."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field, replace
from typing import Final, Literal

import numpy as np
import polars as pl

from dumbbell.frozen import dataclass
from dumbbell.report import words
from dumbbell.report.acks import Acks
from dumbbell.report.curves import Curve, Measure, curve
from dumbbell.report.decimate import align
from dumbbell.report.definition import Gatherer
from dumbbell.report.facts import Facts
from dumbbell.report.levels import split
from dumbbell.report.model import Line, Panel, Points, Reference, View
from dumbbell.report.samples import Samples
from dumbbell.report.source import Source
from dumbbell.report.thin import points_per_curve

Unit = Literal["bit/s", "packets", "ms", "bytes", ""]
_SPIKE: Final = 1.5
"""A noisy measure may rise to this multiple of the value that nearly all samples stay below; the rest is cut off."""
_MOST_LATE: Final = 4
"""Intervals without a sample after which a curve has a gap."""


def _no_levels(known: Facts) -> list[Reference]:
    return []


@dataclass(frozen=True)
class FlowPanel:
    """A panel, free of the run."""

    place: int
    key: str
    title: str
    unit: Unit
    measures: tuple[Measure, ...]
    levels: Callable[[Facts], list[Reference]] = _no_levels
    """Reference levels of the curves, in the panel's basic unit."""
    from_zero: bool = True
    together: str = "sum"
    """The rule that combines the samples of several sockets."""
    note: str = ""
    """A note on curves of ACKs."""
    is_noisy: bool = False
    """Few values of the first measure are far above all others, and mean little."""
    of_one_socket: bool = False
    """True if it cannot be added over the sockets of a flow: it is that of the socket that delivered most."""
    of_many: bool = False
    """True if it is drawn of any number of flows, then from the samples of its first sampled measure."""
    is_expected: bool = False
    decimals: int | None = None
    """Decimals of values under the crosshair."""

    @property
    def sample_columns(self) -> frozenset[str]:
        """Columns of `samples` that it needs."""
        sampled = (one.value.meta.root_names() for one in self.measures if one.sampled is not None)
        return frozenset(name for names in sampled for name in names)

    @property
    def ack_columns(self) -> frozenset[str]:
        """Columns of `acks` that it needs."""
        return frozenset(name for one in self.measures for name in one.value.meta.root_names())

    def start(self, source: Source) -> Gatherer:
        """Begin the panel of one run."""
        if source.has_too_many_flows:
            return _OfKinds(self, source)
        return _OfFew(self, source) if source.has_few_flows else _OfMany(self, source)


@dataclass
class _OfFew:
    """Curves of all flows, while the flows' ACKs are read one by one."""

    spec: FlowPanel
    source: Source
    curves: list[Curve] = field(default_factory=list)
    n_acks: int = 0
    n_samples: int = 0
    one_of_several: list[str] = field(default_factory=list)
    """Flows with several sockets of which only one is drawn, because the curve is of ACKs."""
    sampled: list[str] = field(default_factory=list)
    """Flows that have curves of their samples."""

    def add(self, acks: Acks) -> None:
        """Add all curves of one flow.

        They belong to the socket that delivered most. If other sockets carried data, too, the windows add up, and only
        samples at common times can be added.
        """
        if acks.sockets > 1:
            self.one_of_several.append(acks.flow)
        if acks.carrying > 1 and not self.spec.of_one_socket:
            return
        found = [self._curve(acks.rows, one, i, acks.flow, acks.group) for i, one in enumerate(self.spec.measures)]
        self.curves.extend(one for one in found if one is not None)
        if any(found):
            self.n_acks += acks.n

    def panel(self) -> Panel | None:
        """The panel, with samples of the flows that have no curve of their ACKs; `None` without any curve."""
        samples = self.source.samples
        for group, of in enumerate(samples.groups):
            for flow in of.flows:
                if not any(one.line.flow == flow for one in self.curves):
                    self._add_samples(samples, flow, group)
        return self._panel() if self.curves else None

    def _curve(self, rows: pl.DataFrame, measure: Measure, index: int, flow: str, group: int) -> Curve | None:
        points = points_per_curve(len(self.source.flows))
        return curve(rows, measure, index, flow, group, self.source.span_ns, points)

    def _add_samples(self, samples: Samples, flow: str, group: int) -> None:
        drawn = 0
        for index, measure in enumerate(self.spec.measures):
            rows = samples.of(flow, measure.column, measure.sampled, _MOST_LATE)
            if rows is not None:
                found = self._curve(rows, replace(measure, steps=False, gaps=True), index, flow, group)
                if found is not None:
                    self.curves.append(found)
                    drawn = drawn or rows.height
        self.n_samples += drawn
        if drawn:
            self.sampled.append(flow)

    def _panel(self) -> Panel:
        spec = self.spec
        place = {flow: index for index, flow in enumerate(self.source.flows)}
        # Curves of samples came after those of ACKs; the legend has the order of the plan.
        curves = sorted(self.curves, key=lambda one: (place[one.line.flow or ""], one.line.quantity))
        top, cut = _top(spec, [one.line for one in curves])
        factor, unit = _unit(spec, top)
        levels, far = split(spec.levels(self.source.known), top)
        occurring = sorted({one.line.quantity for one in curves})
        quantities = tuple(spec.measures[index].quantity for index in occurring)
        lines = tuple(_scaled(one.line, factor, occurring) for one in curves)
        note = self._note(curves) + far + (f" Cut off: {cut}." if cut else "")
        near = tuple(replace(level, value=level.value / factor) for level in levels)
        no_times = pl.Series([], dtype=pl.Float64)
        view = View("", no_times, lines, note, near, top=top / factor if cut else None)
        one = len(quantities) == 1
        key = quantities[0].key if one else spec.key
        shown = () if one else quantities
        return Panel(key, factor, spec.title, unit, (view,), spec.from_zero, shown, decimals=spec.decimals)

    def _note(self, curves: Sequence[Curve]) -> str:
        spec, samples = self.spec, self.source.samples
        widths = [one.width_ns for one in curves if one.width_ns is not None]
        thinned = f": min and max of each {words.seconds(max(widths) / 1e9)}" if widths else ""
        interval = words.seconds(samples.interval_ns / 1e9)
        said = []
        if self.n_acks:
            said.append(f"Drawn from {words.count(self.n_acks, 'ACK')}{thinned or ', every one'}.")
        if self.n_samples:
            sampled = thinned if not self.n_acks and thinned else f", one per flow every {interval}"
            start = "Other flows: " if self.n_acks else "Drawn from "
            said.append(f"{start}{words.count(self.n_samples, 'sample')}{sampled}.")
        drawn = {one.line.quantity for one in curves}
        if len(drawn) == 1 and (alone := spec.measures[drawn.pop()].alone):
            said.insert(0, alone)
        if of_sockets := samples.said_of_sockets(self.sampled, spec.together).strip():
            said.append(of_sockets)
        one = [flow for flow in self.one_of_several if flow not in self.sampled]
        if self.n_acks and one:
            said.append(f" The curve shows the socket that delivered most: {words.listed(one)}.")
        return " ".join([*said, *([spec.note] if spec.note and self.n_acks else [])])


@dataclass(frozen=True)
class _OfMany:
    """A thin curve per flow, of samples at common times."""

    spec: FlowPanel
    source: Source

    def add(self, acks: Acks) -> None:
        """Curves of ACKs would bury one another."""

    def panel(self) -> Panel | None:
        """The panel; `None` without any value."""
        spec, samples = self.spec, self.source.samples
        if (measure := _of_many(spec)) is None:
            return None
        rows = samples.per_flow(measure.column, _combined(measure))
        if rows.is_empty():
            return None
        rows = rows.with_columns(v=_in_unit(measure, rows))
        top = float(rows["v"].max() or 0)  # type: ignore[arg-type]
        factor, unit = _unit(spec, top)
        aligned = align(rows, "v", samples.flows, samples.interval_ns, samples.span_ns)
        note = f"{measure.alone} Drawn from {words.count(rows.height, 'sample')}".lstrip()
        if aligned.width_ns is None:
            note += f", one per flow every {words.seconds(samples.interval_ns / 1e9)}."
        else:
            note += f": min and max of each {words.seconds(aligned.width_ns / 1e9)}."
        note += samples.said_of_sockets(samples.flows, spec.together)
        near, far = split(spec.levels(self.source.known), top)
        levels = tuple(replace(level, value=level.value / factor) for level in near)
        view = View("", aligned.frame["time_ns"] / 1e9, samples.lines(aligned, 1 / factor), note + far, levels)
        return Panel(measure.quantity.key, factor, spec.title, unit, (view,), spec.from_zero)


@dataclass(frozen=True)
class _OfKinds:
    """The distribution of samples over the flows of each kind."""

    spec: FlowPanel
    source: Source

    def add(self, acks: Acks) -> None:
        """Curves of ACKs would bury one another."""

    def panel(self) -> Panel | None:
        """The panel; `None` without any value."""
        spec, many = self.spec, self.source.many
        if (measure := _of_many(spec)) is None:
            return None
        found = many.spread(many.latest(measure.value, _combined(measure)))
        if found is None:
            return None
        factor, unit = _unit(spec, found.largest)
        near, far = split(spec.levels(self.source.known), found.largest)
        levels = tuple(replace(level, value=level.value / factor) for level in near)
        note = f"{measure.alone} {found.note('The last sample')}".lstrip()
        key = measure.quantity.key
        view = View("", found.time_ns / 1e9, found.marks(self.source.groups, factor), note + far, levels)
        return Panel(key, factor, spec.title, unit, (view,), spec.from_zero, found.quantities(key))


def _of_many(spec: FlowPanel) -> Measure | None:
    """The measure that is drawn of many flows, if any is."""
    return next((one for one in spec.measures if one.sampled is not None), None) if spec.of_many else None


def _combined(measure: Measure) -> pl.Expr:
    """`v` of a flow, from those of its connections."""
    return pl.col("v").mean() if measure.sampled == "mean" else pl.col("v").sum()


def _in_unit(measure: Measure, rows: pl.DataFrame) -> pl.Series:
    """The column `v`, which has the measure's column, as the measure has it."""
    return rows.select(pl.col("v").alias(measure.column)).select(measure.value.cast(pl.Float64)).to_series()


def _top(spec: FlowPanel, lines: Sequence[Line | Points]) -> tuple[float, str]:
    """The highest value to show, and what is cut off: bounds far above the measure, and its peaks if it is noisy."""
    measured = [line.values for line in lines if line.quantity == 0] or [line.values for line in lines]
    values = pl.concat([one.cast(pl.Float64) for one in measured]).drop_nulls()
    highest = float(values.max() or 0)  # type: ignore[arg-type]
    top, cut = highest, []
    others = {line.quantity: 0.0 for line in lines if line.quantity}
    for line in lines:
        if line.quantity:
            others[line.quantity] = max(others[line.quantity], float(line.values.max() or 0))  # type: ignore[arg-type]
    if spec.is_noisy:
        usual = float(np.percentile(values.to_numpy(), 99.5)) * _SPIKE
        model = max([value for index, value in others.items() if index == 1], default=0.0) * 1.1
        if highest > max(usual, model):
            top = max(usual, model)
            cut.append(f"peaks up to {_value_text(spec, highest)}")
    for index, value in others.items():
        if value > 2 * top:
            cut.append(f"{spec.measures[index].quantity.word} up to {_value_text(spec, value)}")
    fitting = [value for value in others.values() if value <= 2 * top]
    return max([top, *fitting]), words.listed(cut)


def _unit(spec: FlowPanel, top: float) -> tuple[float, str]:
    if spec.unit == "bit/s":
        return words.rate_unit(top)
    return words.size_unit(top) if spec.unit == "bytes" else (1.0, spec.unit)


def _value_text(spec: FlowPanel, value: float) -> str:
    if spec.unit == "bit/s":
        return words.measured_rate(value)
    return words.size(value) if spec.unit == "bytes" else f"{value:,.0f} {spec.unit}"


def _scaled(line: Line | Points, factor: float, occurring: Sequence[int]) -> Line | Points:
    return replace(line, values=line.values / factor, quantity=occurring.index(line.quantity))

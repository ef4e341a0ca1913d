"""Panels of rates, windows, RTTs and sequence numbers: of every ACK where they were recorded, else of the samples."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np
import polars as pl

from dumbbell.report import words
from dumbbell.report.acks import Acks
from dumbbell.report.curves import CWND, DELIVERY_RATE, IN_FLIGHT, RTT, SEQUENCE, Curve, Measure, Spec, curve
from dumbbell.report.facts import Facts
from dumbbell.report.flow_panels import Samples, levels_of
from dumbbell.report.levels import split
from dumbbell.report.model import Line, Panel, View
from dumbbell.report.thin import points_per_curve

SPECS: Final = (DELIVERY_RATE, CWND, RTT, IN_FLIGHT, SEQUENCE)
_SPIKE: Final = 1.5
"""A noisy measure may rise so many times as high as nearly all of its values; the rest is cut off."""
_MOST_LATE: Final = 4
"""Intervals without a sample after which a curve has a gap."""


@dataclass
class Gathered:
    """Curves of all flows, panel by panel, while the flows' ACKs are read one by one."""

    samples: Samples
    curves: dict[str, list[Curve]] = field(default_factory=dict)
    n_acks: Counter[str] = field(default_factory=Counter)
    """Panel -> how many ACKs it was drawn from."""
    n_samples: Counter[str] = field(default_factory=Counter)
    one_of_several: list[str] = field(default_factory=list)
    """Flows of whose sockets only one is drawn, wherever they are drawn from ACKs."""
    sampled: defaultdict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    """Panel -> flows that have curves of their samples there."""

    def add(self, acks: Acks) -> None:
        """All curves of one flow.

        They are of the socket that delivered most. If others carried data, too, windows add up, which only samples at
        common times can.
        """
        if acks.sockets > 1:
            self.one_of_several.append(acks.flow)
        for spec in (SEQUENCE,) if acks.carrying > 1 else SPECS:
            if self._curves(spec, spec.measures, acks.rows, acks.flow, acks.group):
                self.n_acks[spec.key] += acks.n

    def add_samples(self) -> None:
        """What the samples tell of all flows, in the panels where a flow has no curve of its ACKs."""
        for index, group in enumerate(self.samples.groups):
            for flow in group.flows:
                for spec in SPECS:
                    if not any(one.line.flow == flow for one in self.curves.get(spec.key, [])):
                        self._sampled(spec, flow, index)

    def panels(self, known: Facts) -> list[Panel]:
        """Those that have a curve."""
        return [self._panel(spec, known) for spec in SPECS if self.curves.get(spec.key)]

    def _sampled(self, spec: Spec, flow: str, group: int) -> None:
        drawn = 0
        for index, measure in enumerate(spec.measures):
            rows = self.samples.of(flow, measure.value.meta.root_names()[0], measure.sampled, _MOST_LATE)
            if rows is not None:
                plain = replace(measure, steps=False, gaps=True)
                found = curve(rows, plain, index, flow, group, self.samples.span_ns, self._points)
                if found is not None:
                    self.curves.setdefault(spec.key, []).append(found)
                    drawn = drawn or rows.height
        self.n_samples[spec.key] += drawn
        if drawn:
            self.sampled[spec.key].append(flow)

    def _curves(self, spec: Spec, measures: Sequence[Measure], rows: pl.DataFrame, flow: str, group: int) -> bool:
        found = [
            curve(rows, measure, index, flow, group, self.samples.span_ns, self._points)
            for index, measure in enumerate(measures)
        ]
        self.curves.setdefault(spec.key, []).extend(one for one in found if one is not None)
        return any(found)

    @property
    def _points(self) -> int:
        return points_per_curve(len(self.samples.flows))

    def _panel(self, spec: Spec, known: Facts) -> Panel:
        place = {flow: index for index, flow in enumerate(self.samples.flows)}
        # Those of samples came after those of ACKs; the legend has the order of the plan.
        curves = sorted(self.curves[spec.key], key=lambda one: (place[one.line.flow or ""], one.line.quantity))
        top, cut = _top(spec, [one.line for one in curves])
        factor, unit = _unit(spec, top)
        levels, far = split(levels_of(spec.key, known), top)
        occurring = sorted({one.line.quantity for one in curves})
        quantities = tuple(spec.measures[index].quantity for index in occurring)
        lines = tuple(_scaled(one.line, factor, occurring) for one in curves)
        note = self._note(spec, curves) + far + (f" Cut off: {cut}." if cut else "")
        view = View(
            "",
            pl.Series([], dtype=pl.Float64),
            lines,
            note,
            tuple(replace(level, value=level.value / factor) for level in levels),
            top=top / factor if cut else None,
        )
        one = len(quantities) == 1
        key = quantities[0].key if one else spec.key
        return Panel(key, factor, spec.title, unit, (view,), spec.from_zero, () if one else quantities)

    def _note(self, spec: Spec, curves: Sequence[Curve]) -> str:
        widths = [one.width_ns for one in curves if one.width_ns is not None]
        thinned = f": min and max of each {words.seconds(max(widths) / 1e9)}" if widths else ""
        n_acks, n_samples = self.n_acks[spec.key], self.n_samples[spec.key]
        interval = words.seconds(self.samples.interval_ns / 1e9)
        said = []
        if n_acks:
            said.append(f"Drawn from {words.count(n_acks, 'ACK')}{thinned or ', every one'}.")
        if n_samples:
            sampled = thinned if not n_acks and thinned else f", one per flow every {interval}"
            start = "Other flows: " if n_acks else "Drawn from "
            said.append(f"{start}{words.count(n_samples, 'sample')}{sampled}.")
        if spec is RTT and {one.line.quantity for one in curves} == {1}:
            said.insert(0, "Smoothed RTT (srtt).")
        if of_sockets := self.samples.said_of_sockets(self.sampled[spec.key], spec.together).strip():
            said.append(of_sockets)
        one = [flow for flow in self.one_of_several if flow not in self.sampled[spec.key]]
        if n_acks and one:
            said.append(f"Of the socket that delivered most: {words.listed(one)}.")
        return " ".join([*said, *([spec.note] if spec.note and n_acks else [])])


def _top(spec: Spec, lines: Sequence[Line]) -> tuple[float, str]:
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
            cut.append(f"peaks up to {_said(spec, highest)}")
    for index, value in others.items():
        if value > 2 * top:
            cut.append(f"{spec.measures[index].quantity.word} up to {_said(spec, value)}")
    fitting = [value for value in others.values() if value <= 2 * top]
    return max([top, *fitting]), words.listed(cut)


def _unit(spec: Spec, top: float) -> tuple[float, str]:
    if spec.unit == "bit/s":
        return words.rate_unit(top)
    return words.size_unit(top) if spec.unit == "bytes" else (1.0, spec.unit)


def _said(spec: Spec, value: float) -> str:
    if spec.unit == "bit/s":
        return words.rate(value)
    return words.size(value) if spec.unit == "bytes" else f"{value:,.0f} {spec.unit}"


def _scaled(line: Line, factor: float, occurring: Sequence[int]) -> Line:
    return replace(line, values=line.values / factor, quantity=occurring.index(line.quantity))

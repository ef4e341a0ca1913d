"""Kleinrock's plot: delivery rate above RTT, a point per ACK, both against data in flight."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import polars as pl

from dumbbell.frozen import dataclass
from dumbbell.report import words
from dumbbell.report.acks import MOST_FLOWS, Acks
from dumbbell.report.definition import Gatherer
from dumbbell.report.kleinrock import ACK_COLUMNS, SAMPLE_COLUMNS, Clouds, Frame, Limit, frame
from dumbbell.report.model import Across, Band, Line, Mark, Panel, Points, State, Text, View
from dumbbell.report.source import Source
from dumbbell.report.states import STATES

_RISE: Final = 0.62
"""The place of a rising limit's name, as a share of its length."""
_NO_TIMES: Final = pl.Series([], dtype=pl.Float64)


@dataclass(frozen=True)
class _Definition:
    place: int = 110
    title: str = "Kleinrock's plot"
    is_expected: bool = False
    sample_columns: frozenset[str] = frozenset(SAMPLE_COLUMNS)
    ack_columns: frozenset[str] = frozenset(ACK_COLUMNS)

    def start(self, source: Source) -> Gatherer:
        """Begin the panel of one run."""
        return _Kleinrock(source, Clouds(min(len(source.flows), MOST_FLOWS)))


@dataclass(frozen=True)
class _Kleinrock:
    source: Source
    clouds: Clouds

    def add(self, acks: Acks) -> None:
        """Add the points of a flow."""
        self.clouds.add(acks)

    def panel(self) -> Panel | None:
        """The panel, with points of samples if there is no record of ACKs; `None` without any points."""
        if self.source.has_few_flows and not self.source.with_acks:
            self.clouds.add_samples(self.source.samples)
        if not self.clouds.found:
            return None
        found = frame(self.source.run, self.source.known, self.clouds, self.source.left_out)
        size, unit = (found.bdp_bytes, "BDP") if found.bdp_bytes else words.size_unit(found.right_bytes)
        levels = tuple(at / size for at in (found.bdp_bytes, found.full_bytes) if at is not None)
        unit_is = words.size(found.bdp_bytes) if found.bdp_bytes else ""
        across = Across("bytes_in_flight", size, "in flight", unit, found.right_bytes / size, levels, unit_is)
        states, points = self._points(size, words.rate_unit(found.top_rate_bps)[0])
        views = (self._rates(found, size, points), self._rtts(found, size, points))
        return Panel("kleinrock", 1.0, PANEL.title, "", views, across=across, states=states, is_stacked=True)

    def _points(self, size: float, factor: float) -> tuple[tuple[State, ...], list[tuple[Points, Points]]]:
        """States that occur; rates and RTTs of each flow, which share everything except their values."""
        occurring = sorted({code for cloud in self.clouds.found for code in cloud.state.drop_nulls().unique()})
        place = {old: new for new, old in enumerate(occurring)}
        found = []
        for cloud in self.clouds.found:
            x, state = cloud.inflight_bytes / size, cloud.state.replace_strict(place, return_dtype=pl.UInt8)
            both = (cloud.rate_bps / factor, cloud.rtt_ms)
            rate, rtt = (Points(y, cloud.group, cloud.time_s, cloud.flow, x=x, state=state) for y in both)
            found.append((rate, rtt))
        return tuple(STATES[code] for code in occurring), found

    def _rates(self, frame: Frame, size: float, points: list[tuple[Points, Points]]) -> View:
        factor, unit = words.rate_unit(frame.top_rate_bps)
        top = frame.top_rate_bps / factor
        marks: list[Mark] = [rate for rate, _ in points]
        if frame.rate_limits and frame.bdp_bytes:
            limit, bdp = frame.rate_limits[-1], frame.bdp_bytes / size
            capacity, knee = limit.values[1] / factor, limit.inflight_bytes[1] / size
            marks = [
                _excluded(frame.rate_limits[0], size, factor, above=2 * top),
                *marks,
                *_limits(frame.rate_limits, size, factor),
                _ring(bdp, capacity),
                Text("in flight / base RTT", _RISE * knee, _RISE * capacity, "right"),
                Text("operating point", bdp, capacity, "right", "above"),
                Text(limit.label, frame.right_bytes / size, capacity, only_wide=True, is_outside=True),
            ]
        return View(
            "", _NO_TIMES, tuple(marks), frame.note, low=0.0, top=top,
            key="delivery_rate_bps", per_unit=factor, title="Delivery rate", unit=unit,
        )  # fmt: skip

    def _rtts(self, frame: Frame, size: float, points: list[tuple[Points, Points]]) -> View:
        low, right = frame.bottom_rtt_ms, frame.right_bytes / size
        marks: list[Mark] = [rtt for _, rtt in points]
        if frame.rtt_limits and frame.bdp_bytes:
            limit, bdp = frame.rtt_limits[-1], frame.bdp_bytes / size
            base = limit.values[1]
            far = bdp + 0.5 * (min(right, limit.inflight_bytes[2] / size) - bdp)
            marks = [
                _excluded(frame.rtt_limits[0], size, 1.0, below=low),
                *marks,
                *_limits(frame.rtt_limits, size, 1.0),
                _ring(bdp, base),
                Text(limit.label, 0.0, base, "left", "below"),
                Text("operating point", bdp, base, "left", "below"),
                Text("in flight / capacity", far, base * far / bdp, "left", "below", only_wide=True),
            ]
            if frame.full_bytes is not None:
                marks.append(Text("buffer full", frame.full_bytes / size, low, "right", "above"))
        return View(
            "", _NO_TIMES, tuple(marks), "", low=low, top=frame.top_rtt_ms,
            key="rtt_ms", title="RTT", unit="ms",
        )  # fmt: skip


def _limits(limits: Sequence[Limit], size: float, factor: float) -> list[Line]:
    return [
        Line(
            _series(limit.values, factor), None, name=limit.label, is_level=True, x=_series(limit.inflight_bytes, size)
        )
        for limit in limits
    ]


def _excluded(limit: Limit, size: float, factor: float, above: float | None = None, below: float = 0.0) -> Band:
    """The region beyond the widest limit, where no point can be."""
    values = _series(limit.values, factor)
    edge = pl.Series([below if above is None else above] * len(values))
    low, high = (edge, values) if above is None else (values, edge)
    return Band(low, high, None, x=_series(limit.inflight_bytes, size), is_excluded=True)


def _ring(x: float, y: float) -> Points:
    return Points(pl.Series([y]), None, pl.Series([0.0]), x=pl.Series([x]), look="ring")


def _series(values: Sequence[float], per: float) -> pl.Series:
    return pl.Series(values, dtype=pl.Float64) / per


PANEL: Final = _Definition()

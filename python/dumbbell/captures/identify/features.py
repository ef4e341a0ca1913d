"""Features of a direction's congestion control in a capture, as numbers without a unit."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from dumbbell.captures.identify.marks import Mark, marks

if TYPE_CHECKING:
    from dumbbell.captures.capture import Capture

Floats = npt.NDArray[np.float64]

STEPS_PER_RTT: Final = 2
"""Intervals of the series in a base RTT."""
_SETTLED_RTTS: Final = 25
"""Base RTTs of a start, which is looked at apart."""
_LEAST_FALL: Final = 0.03
"""Share by which what is in flight falls behind a peak at least."""
_NONE: Final = -1.0
"""A feature of which there is nothing."""


@dataclass(frozen=True)
class Path:
    """A path that is known: identification is for our own labs."""

    base_rtt_s: float
    """Propagation there and back."""
    rate_bps: float
    """Rate of its slowest link."""

    @property
    def bdp_bytes(self) -> float:
        """Its bandwidth-delay product."""
        return self.rate_bps * self.base_rtt_s / 8

    @property
    def interval_ns(self) -> int:
        """Length of the intervals that features need."""
        return max(1_000_000, round(1e9 * self.base_rtt_s / STEPS_PER_RTT))


@dataclass(frozen=True)
class Series:
    """A direction over time, in steps of half a base RTT; steps without traffic have zeros."""

    time_s: Floats
    in_flight: Floats
    """Most bytes in flight."""
    sent: Floats
    """Payload."""
    acked: Floats
    """Bytes acknowledged."""
    rtt_s: Floats
    """Mean RTT; that of the step before where a step has none."""
    losses_s: Floats
    """When retransmissions were sent."""
    segment: int
    """Payload of a full packet."""


def series(capture: Capture, row: dict[str, Any], path: Path) -> Series:
    """The series of a direction, `row` of `directions`. The capture was analysed with `path.interval_ns`."""
    import polars as pl

    mine = (pl.col("connection") == row["connection"]) & (pl.col("direction").cast(pl.String) == row["direction"])
    rows = capture.scan("intervals").filter(mine).sort("start_ns").collect()
    events = capture.scan("events").filter(mine & pl.col("cause").is_not_null() & (pl.col("bytes") > 0)).collect()
    resent = events.filter(~pl.col("cause").cast(pl.String).is_in(["reordered", "network-duplicate"]))
    width = int(capture.summary["interval_ns"])
    at = (rows["start_ns"] // width).to_numpy()
    at = at - at[0]
    count = int(at[-1]) + 1

    def column(name: str) -> Floats:
        found = np.zeros(count)
        found[at] = rows[name].cast(pl.Float64).fill_null(0.0).to_numpy()
        return found

    rtt = column("rtt_mean_ns") / 1e9
    known = np.maximum.accumulate(np.where(rtt > 0, np.arange(count), 0))
    return Series(
        time_s=np.arange(count) * width / 1e9,
        in_flight=column("in_flight_max_bytes"),
        sent=column("payload_bytes"),
        acked=column("acknowledged_bytes"),
        rtt_s=np.maximum(rtt[known], path.base_rtt_s),
        losses_s=np.sort(resent["time_ns"].to_numpy() / 1e9 - int(rows["start_ns"][0]) / 1e9),
        segment=int(row["segment_max_bytes"]),
    )


def features(of: Series, row: dict[str, Any], back: dict[str, Any] | None, path: Path) -> dict[str, float]:
    """All features of a direction. `back` is the row of the other direction, which has its ACKs."""
    settled = min(STEPS_PER_RTT * _SETTLED_RTTS, len(of.time_s) // 2)
    flight = of.in_flight / path.bdp_bytes
    late = slice(settled, None)
    found: dict[str, float] = {}
    for share in (5, 25, 50, 75, 95):
        found[f"in_flight_p{share}"] = float(np.percentile(flight[late], share))
    queued = of.rtt_s[late] / path.base_rtt_s
    for share in (5, 50, 95):
        found[f"rtt_p{share}"] = float(np.percentile(queued, share))
    over = (np.median(flight[late]) - 1) * path.bdp_bytes / of.segment
    found["queued_packets"] = float(np.sign(over) * np.log1p(abs(over)))
    found["start_peak"] = float(flight[:settled].max())
    found["swing"] = float(np.std(flight[late]) / max(1e-9, float(np.mean(flight[late]))))
    found |= _losses(of, flight, settled, row)
    found |= _falls(of, flight, settled)
    found |= _marks(marks(of.time_s, of.in_flight, of.segment, of.losses_s), of, flight)
    found |= _rates(of, late)
    found |= _marking(of, row, back, path)
    gap = row["gap_p50_ns"]
    found["gap"] = _NONE if gap is None else float(min(8.0, gap * path.rate_bps / 8e9 / of.segment))
    found["burst_packets"] = float(np.log1p(row["payload_bytes"] / max(1, row["bursts"] or 1) / of.segment))
    return found


def _losses(of: Series, flight: Floats, settled: int, row: dict[str, Any]) -> dict[str, float]:
    """Features of losses, and of the time between them."""
    step = of.time_s[1] - of.time_s[0]
    begins: list[int] = []
    for time in of.losses_s:
        at = int(time / step)
        # A retransmission within two round trips of the last one belongs to its episode.
        width = max(2, round(2 * of.rtt_s[min(at, len(flight) - 1)] / step))
        if not begins or at - begins[-1] > width:
            begins.append(at)
    begins = [at for at in begins if settled <= at < len(flight) - 4]
    rounds = float(np.sum(step / of.rtt_s[settled:]))
    ratios, lasting = [], []
    for at in begins:
        width = max(2, round(of.rtt_s[at] / step))
        before = float(flight[max(0, at - width) : at + 1].max())
        behind, later = flight[at + width : at + 4 * width], flight[at + 3 * width : at + 6 * width]
        if len(behind) >= 2 and len(later) and before > 0:
            ratios.append(float(behind.min()) / before)
            lasting.append(float(np.median(later)) / before)
    found = {"loss_episodes": float(np.log1p(100 * len(begins) / max(1.0, rounds)))}
    for name, values in (("reduction", ratios), ("after", lasting)):
        kept = [value for value in values if np.isfinite(value)]
        for share in (25, 50, 75):
            found[f"{name}_p{share}"] = float(np.percentile(kept, share)) if kept else _NONE
    again = row["repeated_packets"] + row["lost_before_packets"]
    found["resent"] = float(np.log10(1e-5 + again / max(1, row["data_packets"])))
    return found | _growth(of, flight, begins, settled)


def _growth(of: Series, flight: Floats, begins: list[int], settled: int) -> dict[str, float]:
    """Features of packets in flight between reductions: shape, 0 to 1 on both axes, and slope in packets a round."""
    step = of.time_s[1] - of.time_s[0]
    edges = [*begins, len(flight)] if begins else [settled, len(flight)]
    shapes, slopes, ends = [], [], []
    for first, last in pairwise(edges):
        width = max(2, round(of.rtt_s[min(first, len(flight) - 1)] / step))
        part = of.in_flight[first + 3 * width : last - 1]
        if len(part) < 12:
            continue
        smooth = np.convolve(part, np.ones(4) / 4, mode="valid")
        rounds = np.cumsum(step / of.rtt_s[first + 3 * width : first + 3 * width + len(smooth)])
        rise = smooth[-1] - smooth[0]
        slopes.append(rise / of.segment / max(1.0, rounds[-1]))
        quarter = len(smooth) // 4
        ends.append((smooth[-1] - smooth[-1 - quarter]) / of.segment / max(0.5, rounds[-1] - rounds[-1 - quarter]))
        if rise > 4 * of.segment:
            places = [np.interp(share * rounds[-1], rounds, smooth) for share in (0.25, 0.5, 0.75)]
            shapes.append([(place - smooth[0]) / rise for place in places])
    shape = np.clip(np.median(shapes, axis=0), -1.0, 2.0) if shapes else [_NONE] * 3
    found = {f"shape_{name}": float(value) for name, value in zip(("quarter", "half", "late"), shape, strict=True)}
    for name, values in (("slope", slopes), ("slope_end", ends)):
        middle = float(np.median(values)) if values else 0.0
        found[name] = float(np.sign(middle) * np.log1p(abs(middle)))
    return found


def _falls(of: Series, flight: Floats, settled: int) -> dict[str, float]:
    """How far what is in flight falls behind its peaks, whatever makes it fall: losses, marks, pacing or delay."""
    step = of.time_s[1] - of.time_s[0]
    width = max(2, round(float(np.median(of.rtt_s[settled:])) / step))
    part = flight[settled:]
    found = dict.fromkeys(("falls", "fall_p25", "fall_p50", "fall_p75"), _NONE)
    if len(part) <= 8 * width:
        return found
    around = np.lib.stride_tricks.sliding_window_view(part, 2 * width + 1)
    middle = part[width : width + len(around)]
    peaks = np.flatnonzero((middle == around.max(axis=1)) & (middle > 0)) + width
    # A plateau is one peak.
    peaks = peaks[np.append(np.diff(peaks) > width, True)] if len(peaks) else peaks
    lowest = np.array([part[at + 1 : at + 1 + 3 * width].min() for at in peaks if at + 3 * width < len(part)])
    deep = 1 - lowest / part[peaks[: len(lowest)]] if len(lowest) else lowest
    kept = deep[deep > _LEAST_FALL]
    found["falls"] = float(np.log1p(100 * len(kept) / max(1.0, len(part) / width)))
    for share in (25, 50, 75):
        found[f"fall_p{share}"] = float(np.percentile(kept, share)) if len(kept) else _NONE
    return found


def _marks(marks: list[Mark], of: Series, flight: Floats) -> dict[str, float]:
    """Times that look like PROBE_RTT, and the time between them."""
    length = of.time_s[-1] - of.time_s[0]
    starts = np.array([one.start_s for one in marks])
    apart = float(np.median(np.diff(starts))) if len(starts) > 1 else 0.0
    deep = sum(one.is_deep for one in marks)
    return {
        "deep_dips": 10 * deep / max(1.0, float(length)),
        "half_dips": 10 * (len(marks) - deep) / max(1.0, float(length)),
        "dips_apart": apart / 10,
    }


def _rates(of: Series, late: slice) -> dict[str, float]:
    """How the sending rate differs from the rate of delivery, and after how many round trips it does so again."""
    sent = np.convolve(of.sent[late], np.ones(2) / 2, mode="valid")
    usual = max(1.0, float(np.median(of.acked[late])))
    rate = sent / usual
    found = {f"rate_p{share}": float(np.percentile(rate, share)) for share in (5, 25, 75, 95)}
    centred = rate - rate.mean()
    power = float(np.dot(centred, centred))
    for rounds in (2, 4, 8, 16):
        lag = rounds * STEPS_PER_RTT
        has = len(centred) > 2 * lag and power > 0
        found[f"cycle_{rounds}"] = float(np.dot(centred[:-lag], centred[lag:]) / power) if has else 0.0
    change = of.rtt_s[late]
    flight = of.in_flight[late]
    moves = np.std(change) > 0 and np.std(flight) > 0
    found["rtt_with_flight"] = float(np.corrcoef(change, flight)[0, 1]) if moves else 0.0
    return found


def _marking(of: Series, row: dict[str, Any], back: dict[str, Any] | None, path: Path) -> dict[str, float]:
    """The reaction to ECN: how many ACKs echo marks, and how often the window was reduced for them."""
    if back is None or not back["ack_packets"]:
        return {"ece": 0.0, "cwr": 0.0}
    rounds = float(np.sum((of.time_s[1] - of.time_s[0]) / of.rtt_s))
    return {
        "ece": back["ece_packets"] / back["ack_packets"],
        "cwr": float(np.log1p(100 * row["cwr_packets"] / max(1.0, rounds))),
    }

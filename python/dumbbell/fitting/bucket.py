"""A token bucket that explains losses: the search for its rate, and how well it does.

Under the right rate, each packet that a bucket drops finds the same deficit, within a packet: the bytes by which what
had passed exceeds what the bucket had gained since it was full. No packet passes at a larger one.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from dumbbell.fitting.trace import Bools, Floats, Ints, Trace
from dumbbell.frozen import dataclass

_BAND: Final = 1.3
"""Width of the band of deficits at losses, packets: one, and what a capture's times lack."""
_LEAST_BURST: Final = 3
"""Packets that a bucket holds at least."""
_FROM, _TO, _GRID = 0.7, 4.0, 40
"""Rates that are tried, as shares of the mean rate; steps are within reach of `_near`."""
_SPANS: Final = 4
"""Rates between losses are tried also for each so many times as many losses between them."""
_APART: Final = 10
"""Packets between two losses at least that tell a rate."""
_REACH: Final = 0.1
"""Share of a rate by which a step of the search changes it at most."""
_APART_RATES: Final = 0.005
"""Rates that differ by less, as a share, lead the search to the same one."""
_FINALISTS: Final = 4
_STEPS: Final = (0.0, -1e-3, 1e-3, -2e-4, 2e-4, -4e-5, 4e-5)
"""Shares by which a finalist's rate is varied."""
_SAMPLE: Final = 20_000
"""Passed packets whose deficits are looked at."""


@dataclass(frozen=True)
class Band:
    """Deficits at losses under a rate: the narrow band that holds most of them."""

    rate_bps: float
    top: float
    """Upper end, bytes: the bucket's size."""
    share: float
    """Share of the runs of losses whose deficit is in the band, 0 to 1."""
    inside: int
    """Number of these runs."""
    passed_above: float
    """Share of the passed packets whose deficit is in the band or beyond, 0 to 1."""
    passed_beyond: float
    """Share of the passed packets whose deficit is beyond the band, 0 to 1."""
    higher: float
    """Probability that a loss finds a larger deficit than a packet that passed, 0 to 1."""

    @property
    def contrast(self) -> float:
        """1 if deficits tell which packets are lost, 0 if they tell nothing."""
        return self.share - self.passed_above


class Bucket:
    """Deficits of transmissions before a bucket, for any rate.

    Args:
        trace: Transmissions; their times are those at which they come to the bucket.
        others: True for losses behind the bucket: they took tokens.
        blur_ns: Error of the times.
    """

    def __init__(self, trace: Trace, others: Bools, blur_ns: float) -> None:
        lost = trace.lost & ~others
        passed = np.where(lost, 0.0, trace.sent_bytes)
        self._before = np.cumsum(passed) - passed
        self._since = (trace.sent_ns - trace.sent_ns[0]) / 8e9
        self._runs = np.flatnonzero(lost & ~np.r_[False, lost[:-1]])
        self.packet = trace.segment_bytes
        self._blur_s = blur_ns / 8e9
        through = np.flatnonzero(~lost)
        self._passed = through[:: max(1, len(through) // _SAMPLE)]

    @property
    def runs(self) -> int:
        """Runs of consecutive losses."""
        return len(self._runs)

    def deficits(self, rate_bps: float) -> Floats:
        """Bytes by which what had passed before each transmission exceeds what a bucket of a rate had gained."""
        tokens = self._since * rate_bps
        tokens -= self._before
        full: Floats = np.maximum.accumulate(tokens)
        full -= tokens
        return full

    def band(self, rate_bps: float) -> Band:
        """The densest band of deficits at losses under a rate."""
        every = self.deficits(rate_bps)
        at, passed = np.sort(every[self._runs]), np.sort(every[self._passed])
        width = _BAND * self.packet + self._blur_s * rate_bps
        counts = np.searchsorted(at, at + width, "right") - np.arange(len(at))
        # The highest of equal ones: what passes at a larger deficit speaks against a bucket.
        first = len(counts) - 1 - int(counts[::-1].argmax())
        low, inside = float(at[first]), int(counts[first])
        top = float(at[first + inside - 1])
        above = 1 - np.searchsorted(passed, low) / len(passed)
        beyond = 1 - np.searchsorted(passed, low + width + self.packet / 2) / len(passed)
        ranks = np.searchsorted(passed, at, "left") + np.searchsorted(passed, at, "right")
        return Band(
            rate_bps, top, inside / len(at), inside, float(above), float(beyond), float(ranks.mean() / 2 / len(passed))
        )

    def search(self, most_bps: float | None = None) -> list[Band]:
        """Bands of rates, up to `most_bps`, that explain losses, the best first; none if no rate explains any."""
        if len(self._runs) < 2 or self._since[-1] <= 0:
            return []
        mean = float(self._before[-1] / self._since[-1])
        most = min(_TO * mean, most_bps or np.inf)
        rates = np.r_[mean * np.geomspace(_FROM, _TO, _GRID), self._between_losses()].tolist()
        tried = [self.band(self._near(rate, 2)) for rate in rates if _FROM * mean <= rate <= most]
        finals: list[float] = []
        for band in sorted(tried, key=self._cost):
            if band.rate_bps <= most and all(abs(band.rate_bps / other - 1) > _APART_RATES for other in finals):
                finals.append(band.rate_bps)
        starts = [self._near(rate, 3) for rate in finals[:_FINALISTS]]
        bands = [min((self.band(rate * (1 + step)) for step in _STEPS), key=self._cost) for rate in starts]
        return sorted((band for band in bands if np.isfinite(self._cost(band))), key=self._cost)

    def reach(self, band: Band, sign: int, worse: float, most: float) -> float:
        """Largest change of a band's rate, a share of it, by which its contrast gets no worse than so much.

        Args:
            band: The best one.
            sign: 1 for larger rates, -1 for lower ones.
            worse: Difference of contrasts.
            most: Largest change that is tried.
        """
        change = 0.0
        for step in np.geomspace(1e-4, most, 16).tolist():
            other = self.band(band.rate_bps * (1 + sign * step))
            if other.contrast < band.contrast - worse:
                break
            change = step
        return sign * change

    def _cost(self, band: Band) -> float:
        return -band.contrast if band.top >= _LEAST_BURST * self.packet else np.inf

    def _between_losses(self) -> Floats:
        """Rates at which packets passed between two losses, bit/s: the bucket's if it was never full between them."""
        when, before = self._since[self._runs], self._before[self._runs]
        rates: list[float] = []
        span = 1
        while span < len(when):
            time, size = when[span:] - when[:-span], before[span:] - before[:-span]
            known = (size > _APART * self.packet) & (time > 0)
            if known.any():
                between = np.sort(size[known] / time[known])
                rates += [*np.quantile(between, [0.5, 0.75, 0.95]).tolist(), _mode(between)]
            span *= _SPANS
        return np.array(rates)

    def _near(self, rate_bps: float, steps: int) -> float:
        """A rate near another, bit/s, under which deficits at losses are more alike: by least absolute deviations."""
        for _ in range(steps):
            tokens = self._since * rate_bps - self._before
            peaks = np.maximum.accumulate(tokens)
            tops = np.flatnonzero(np.r_[True, peaks[1:] > peaks[:-1]])
            since: Ints = tops[np.searchsorted(tops, self._runs, "right") - 1]
            time = self._since[self._runs] - self._since[since]
            size = self._before[self._runs] - self._before[since]
            slope = _slope(time, size, rate_bps, self.packet)
            changed = float(np.clip(slope, rate_bps * (1 - _REACH), rate_bps * (1 + _REACH)))
            if abs(changed / rate_bps - 1) < 1e-6:
                break
            rate_bps = changed
        return rate_bps


def _slope(time: Floats, size: Floats, start: float, packet: float) -> float:
    """Slope of the line of least absolute deviations, by weights (iteratively reweighted least squares)."""
    slope, level = start, float(np.median(size - start * time))
    for _ in range(8):
        weight = 1 / np.maximum(np.abs(size - slope * time - level), packet / 2)
        weight /= weight.sum()
        middle, height = float((weight * time).sum()), float((weight * size).sum())
        spread = float((weight * (time - middle) ** 2).sum())
        if spread <= 0:
            break
        following = float((weight * (time - middle) * (size - height)).sum()) / spread
        if following <= 0:
            break
        level = height - following * middle
        is_same = abs(following / slope - 1) < 1e-7
        slope = following
        if is_same:
            break
    return slope


def _mode(values: Floats) -> float:
    """The half-sample mode of sorted values (Robertson and Cryer 1974)."""
    while len(values) > 3:
        half = (len(values) + 1) // 2
        first = int((values[half - 1 :] - values[: len(values) - half + 1]).argmin())
        values = values[first : first + half]
    return float(np.median(values))

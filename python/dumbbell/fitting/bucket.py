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
LEAST_RUNS: Final = 6
"""Runs of losses, without which a rate can always be chosen that explains them."""
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
_RATES: Final = 41
"""Rates of an interval that are tried for how well they part losses from packets that passed."""
_MISTAKES: Final = 0.02
"""Share of the losses, one at least, by which a rate may place more packets on the wrong side than the best one."""
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
        is_unsettled: True if losses behind the bucket took tokens in the beginning, and are not known: losses until
            the bucket is full again then find a deficit of their own.
    """

    def __init__(self, trace: Trace, others: Bools, blur_ns: float, is_unsettled: bool = False) -> None:
        lost = trace.lost & ~others
        passed = np.where(lost, 0.0, trace.sent_bytes)
        self._before = np.cumsum(passed) - passed
        self._since = (trace.sent_ns - trace.sent_ns[0]) / 8e9
        self._lost = lost
        self._runs = np.flatnonzero(lost & ~np.r_[False, lost[:-1]])
        self.packet = trace.segment_bytes
        self._blur_s = blur_ns / 8e9
        self._is_unsettled = is_unsettled
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
        """The densest band of deficits at losses under a rate; two of them if `is_unsettled`."""
        every = self.deficits(rate_bps)
        width = _BAND * self.packet + self._blur_s * rate_bps
        settled = self._settled(rate_bps)
        parts = [
            _densest(np.sort(every[self._runs[runs]]), np.sort(every[self._passed[passed]]), width, self.packet)
            for runs, passed in (
                [(self._runs < settled, self._passed < settled), (self._runs >= settled, self._passed >= settled)]
                if settled
                else [(slice(None), slice(None))]
            )
        ]
        runs, passed = len(self._runs), max(1, len(self._passed))
        inside = sum(part.inside for part in parts)
        return Band(
            rate_bps,
            parts[-1].top,
            inside / runs,
            inside,
            sum(part.above for part in parts) / passed,
            sum(part.beyond for part in parts) / passed,
            sum(part.ranks for part in parts) / runs,
        )

    def _settled(self, rate_bps: float) -> int:
        """The transmission by which the bucket was full again after the first losses; 0 if these are not unsettled."""
        if not self._is_unsettled or not len(self._runs):
            return 0
        since = self._full_before(self._since * rate_bps - self._before)
        later = since[since > since[0]]
        return int(later[0]) if min(len(later), len(since) - len(later)) >= LEAST_RUNS else 0

    def _full_before(self, tokens: Floats) -> Ints:
        """The transmission before each run of losses at which the bucket was full last."""
        peaks = np.maximum.accumulate(tokens)
        tops = np.flatnonzero(np.r_[True, peaks[1:] > peaks[:-1]])
        full: Ints = tops[np.searchsorted(tops, self._runs, "right") - 1]
        return full

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

    def parting(self, low_bps: float, high_bps: float) -> tuple[float, float]:
        """The rates within an interval under which deficits part losses from packets that passed best, bit/s.

        A bucket is no matter of chance: under its rate, each lost packet finds a larger deficit than each that passes.
        The band of deficits is a packet wide, which few losses fill under many rates; this order is exact.
        """
        rates = np.linspace(low_bps, high_bps, _RATES)
        wrong = np.array([self._misplaced(rate) for rate in rates.tolist()])
        near = rates[wrong <= wrong.min() + max(1, round(_MISTAKES * int(self._lost.sum())))]
        return float(near[0]), float(near[-1])

    def _misplaced(self, rate_bps: float) -> int:
        """Losses below and passed packets above the deficit that parts them best, beyond the error of the times."""
        settled = self._settled(rate_bps)
        every, is_lost = self.deficits(rate_bps)[settled:], self._lost[settled:]
        lost, passed = np.sort(every[is_lost]), np.sort(every[~is_lost])
        blur = self._blur_s * rate_bps
        limits = np.r_[lost - blur, lost + blur]
        above = len(passed) - np.searchsorted(passed, limits + blur + 1e-6, "right")
        below = np.searchsorted(lost, limits - blur - 1e-6, "left")
        return int((above + below).min())

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
            since = self._full_before(self._since * rate_bps - self._before)
            time = self._since[self._runs] - self._since[since]
            size = self._before[self._runs] - self._before[since]
            settled = self._settled(rate_bps)
            slope = _slope(time, size, self._runs >= settled, rate_bps, self.packet)
            changed = float(np.clip(slope, rate_bps * (1 - _REACH), rate_bps * (1 + _REACH)))
            if abs(changed / rate_bps - 1) < 1e-6:
                break
            rate_bps = changed
        return rate_bps


@dataclass(frozen=True)
class _Part:
    """The densest band of deficits of some losses, and what passed at such deficits."""

    top: float
    inside: int
    above: int
    """Passed packets in the band or beyond."""
    beyond: int
    """Passed packets beyond the band."""
    ranks: float
    """Sum over losses of the share of passed packets whose deficit is smaller."""


def _densest(at: Floats, passed: Floats, width: float, packet: float) -> _Part:
    """`at`: deficits at losses; `passed`: those of passed packets; both sorted."""
    counts = np.searchsorted(at, at + width, "right") - np.arange(len(at))
    # The highest of equal ones: what passes at a larger deficit speaks against a bucket.
    first = len(counts) - 1 - int(counts[::-1].argmax())
    low, inside = float(at[first]), int(counts[first])
    ranks = np.searchsorted(passed, at, "left") + np.searchsorted(passed, at, "right")
    return _Part(
        float(at[first + inside - 1]),
        inside,
        len(passed) - int(np.searchsorted(passed, low)),
        len(passed) - int(np.searchsorted(passed, low + width + packet / 2)),
        float(ranks.sum() / 2 / max(1, len(passed))),
    )


def _slope(time: Floats, size: Floats, group: Bools, start: float, packet: float) -> float:
    """Slope of two parallel lines of least absolute deviations, by weights (iteratively reweighted least squares).

    `group` is true for points of the second line.
    """
    which = group.astype(np.int64)
    levels = np.array(
        [
            np.median((size - start * time)[group == is_second]) if (group == is_second).any() else 0.0
            for is_second in (False, True)
        ]
    )
    slope = start
    for _ in range(8):
        weight = 1 / np.maximum(np.abs(size - slope * time - levels[which]), packet / 2)
        sums = np.maximum(np.bincount(which, weight, 2), 1e-300)
        middle, height = (np.bincount(which, weight * of, 2) / sums for of in (time, size))
        spread = float((weight * (time - middle[which]) ** 2).sum())
        if spread <= 0:
            break
        following = float((weight * (time - middle[which]) * (size - height[which])).sum()) / spread
        if following <= 0:
            break
        levels = height - following * middle
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

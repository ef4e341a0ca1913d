"""Two clocks, from the times at which packets passed two captures in both directions."""

from __future__ import annotations

from itertools import pairwise
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from dumbbell.frozen import dataclass

_LEAST_SPAN_NS: Final = 1_000_000_000
"""Over a shorter time a difference of rates is not told from queueing."""
_LEAST_PACKETS: Final = 20

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Clocks:
    """Clock of the second capture, compared with that of the first."""

    offset_low_ns: int | None
    """The second clock is ahead by this at least: no packet has a negative delay; `None`: nothing came back."""
    offset_high_ns: int | None
    """And by this at most."""
    skew_ppm: float | None
    """Gain in us a second; offsets are those at the first packet. `None`: not known."""


def compare(there_ns: Ints, there_delay_ns: Ints, back_ns: Ints, back_delay_ns: Ints) -> Clocks:
    """The clocks, from times at the first capture and from delays by both clocks.

    Args:
        there_ns: when packets passed the first capture on their way to the second, ns.
        there_delay_ns: by how much later the second clock said that they passed it.
        back_ns: when packets of the other direction passed the first capture.
        back_delay_ns: by how much earlier the second clock said that they had passed it.
    """
    skew = _skew(there_ns, there_delay_ns, back_ns, back_delay_ns)
    if skew is not None:
        start = min(int(there_ns[0]), int(back_ns[0]))
        there_delay_ns = there_delay_ns - np.round(skew * (there_ns - start)).astype(np.int64)
        back_delay_ns = back_delay_ns + np.round(skew * (back_ns - start)).astype(np.int64)
    low = -int(back_delay_ns.min()) if len(back_delay_ns) else None
    high = int(there_delay_ns.min()) if len(there_delay_ns) else None
    return Clocks(low, high, None if skew is None else 1e6 * skew)


def _skew(there_ns: Ints, there: Ints, back_ns: Ints, back: Ints) -> float | None:
    """The difference of the clocks' rates, by the slopes of both directions (Moon, Skelly, Towsley, INFOCOM 1999).

    A queue that never empties has a slope of its own, so a direction counts the more the less its packets wait.
    """
    there_slope, back_slope = _slope(there_ns, there), _slope(back_ns, back)
    if there_slope is None or back_slope is None:
        return None
    (forth, waits), (reverse, back_waits) = there_slope, back_slope
    return (forth * back_waits - reverse * waits) / (waits + back_waits)


def _slope(at: Ints, delay: Ints) -> tuple[float, float] | None:
    """The slope of the line below all points that is nearest to them, an edge of their lower convex hull; and by how
    many ns they lie above it on average, at least 1."""
    if len(at) < _LEAST_PACKETS or at.max() - at.min() < _LEAST_SPAN_NS:
        return None
    order = np.lexsort((delay, at))
    x, y = at[order] - at.min(), delay[order] - delay.min()
    hull: list[tuple[int, int]] = []
    for point in zip(x.tolist(), y.tolist(), strict=True):
        if hull and hull[-1][0] == point[0]:
            continue
        while len(hull) > 1 and _turns_right(hull[-2], hull[-1], point):
            hull.pop()
        hull.append(point)
    middle = float(x.mean())
    for (x0, y0), (x1, y1) in pairwise(hull):
        if x0 <= middle <= x1:
            slope = (y1 - y0) / (x1 - x0)
            return slope, max(1.0, float((y - y0 - slope * (x - x0)).mean()))
    return None


def _turns_right(a: Any, b: Any, c: Any) -> bool:
    """The way from `a` by `b` to `c` has `b` on or above the line from `a` to `c`."""
    return bool((b[1] - a[1]) * (c[0] - a[0]) >= (c[1] - a[1]) * (b[0] - a[0]))

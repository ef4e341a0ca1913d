"""Round trips of a direction, round by round."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


def least_of_rounds(time_ns: Ints, rtt_ns: Floats) -> tuple[Ints, Floats]:
    """The starts of rounds, and the least RTT of each.

    A round ends when something is acknowledged that was sent after its start. `time_ns`, in order: the ends of samples.
    """
    if len(time_ns) == 0:
        return time_ns, rtt_ns
    sent = np.maximum.accumulate(time_ns - rtt_ns)
    first = [0]
    while True:
        start = first[-1]
        after = max(start + 1, int(np.searchsorted(sent, time_ns[start], side="left")))
        if after >= len(time_ns):
            break
        first.append(after)
    return time_ns[first], np.minimum.reduceat(rtt_ns, first)

"""Samples of a socket, as `struct tcp_info` has them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np

from dumbbell.errors import InputError
from dumbbell.fitting.estimate import Estimate, unknown
from dumbbell.fitting.logs.algorithms import known
from dumbbell.fitting.logs.samples import Samples
from dumbbell.fitting.trace import Bools, Floats
from dumbbell.frozen import dataclass

SOURCE: Final = "log of ss"
_JITTER_S: Final = 0.005
"""Time between `date` and `ss`, s."""
_HELD: Final = 0.5
"""Share of an interval for which a limit holds to be that of the interval."""
_ETHERNET: Final = 14
_HEADERS: Final = (40, 150)
"""Bytes of headers that are likely between MTU and MSS."""
_WLEN_S: Final = 300.0
"""The kernel forgets a least RTT after so long (net.ipv4.tcp_min_rtt_wlen)."""
_NOT_SINCE: Final = 1e3
"""Bytes acknowledged at the first sample, below which the log begins with the connection."""


@dataclass(frozen=True)
class Sample:
    """A socket at a time."""

    time_s: float
    algorithm: str
    is_app_limited: bool
    fields: Mapping[str, float]

    def get(self, name: str) -> float:
        """Returns a field, as ss prints it (times in ms); NaN if it has none."""
        return self.fields.get(name, np.nan)


def samples_of(name: str, number: int, samples: list[Sample], has_parts: bool) -> Samples:
    """Returns intervals of a socket from its first new ACK to its last. Raises `InputError`."""
    time = np.array([one.time_s for one in samples])
    has_times = bool(np.isfinite(time).all()) and len(np.unique(time)) > 1
    if not has_times:
        time = np.nan_to_num(_column(samples, "busy")) / 1e3
    index = _moving(time, _column(samples, "bytes_acked"))
    if len(index) < 2:
        why = "it has no two samples, with times, between which data was acknowledged"
        hint = "while sleep 0.1; do date +%s.%N; ss -tinHO; done > ss.log"
        raise InputError(f"{name} shows no transfer", why, hint)
    per_time = len(samples) / max(1, len(np.unique(time)))
    samples, time = [samples[at] for at in index.tolist()], time[index]
    width = np.diff(time)
    window_s, buffer_s = (_grown(samples, key) / 1e3 for key in ("rwnd_limited", "sndbuf_limited"))
    application: Bools = np.array([one.is_app_limited for one in samples[1:]])
    busy_s = _grown(samples, "busy") / 1e3 if has_times else width
    mss = float(np.nanmedian(_column(samples, "mss"))) if "mss" in samples[0].fields else 1448.0
    least_ms = _column(samples, "minrtt")
    slack_s = _JITTER_S if has_parts else 1 / per_time
    return Samples(
        name, SOURCE, "sender", number,
        time[:-1], time[1:], np.diff(_column(samples, "bytes_acked")), _column(samples, "rtt")[1:] * 1e6,
        _grown(samples, "retrans"),
        (window_s > _HELD * width) | (buffer_s > _HELD * width) | application,
        mss, _header(samples, mss), 0.0, slack_s if has_times else 1e-3,
        float(np.nanmin(least_ms)) * 1e6 if np.isfinite(least_ms).any() else None,
        bool(time[-1] - time[0] + np.nan_to_num(samples[0].get("busy")) / 1e3 < _WLEN_S),
        window=_window(samples),
        limits=_limits(float(width.sum()), float(window_s.sum()), float(buffer_s.sum()), float(busy_s.sum()),
                       application, width),
        cc=known(samples[0].algorithm),
    )  # fmt: skip


def _moving(time: Floats, acked: Floats) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Samples at rising times, from the last before data was acknowledged to the first that has all of them."""
    # A clock that is set back gives no intervals.
    rises = np.r_[True, time[1:] > np.maximum.accumulate(time)[:-1]] & np.isfinite(acked)
    index = np.flatnonzero(rises)
    index = index[acked[index] >= np.maximum.accumulate(acked[index])] if len(index) else index
    moves = np.flatnonzero(np.diff(acked[index]) > 0) if len(index) > 1 else index[:0]
    return index[moves[0] : moves[-1] + 2] if len(moves) else index[:0]


def _column(samples: list[Sample], name: str) -> Floats:
    return np.array([one.get(name) for one in samples])


def _grown(samples: list[Sample], name: str) -> Floats:
    """Growth of a counter in each interval; ss leaves one out while it is 0."""
    return np.maximum(0.0, np.diff(np.nan_to_num(_column(samples, name))))


def _header(samples: list[Sample], mss: float) -> float:
    """Bytes of a frame's headers: between the MTU of the path and the MSS, and Ethernet's."""
    mtu = samples[0].get("pmtu")
    between = mtu - mss if np.isfinite(mtu) else 52.0
    return (between if _HEADERS[0] <= between <= _HEADERS[1] else 52.0) + _ETHERNET


def _window(samples: list[Sample]) -> Estimate:
    sizes = _column(samples, "snd_wnd")
    if not np.isfinite(sizes).any():
        return unknown("this version of ss, or of its kernel, does not print snd_wnd")
    largest = float(np.nanmax(sizes))
    return Estimate(largest, largest, largest, f"largest of {int(np.isfinite(sizes).sum()):,} samples")


def _limits(
    total_s: float, window_s: float, buffer_s: float, busy_s: float, application: Bools, width: Floats
) -> dict[str, float]:
    """Shares of the time: by the kernel's own clocks of its limits, and by its mark of a sender without data."""
    window, buffer = min(1.0, window_s / total_s), min(1.0, buffer_s / total_s)
    idle = max(0.0, 1 - busy_s / total_s)
    # A send buffer that is full leaves nothing to send, too.
    marked = max(0.0, float(width[application].sum()) / total_s - buffer)
    rest = max(idle, marked)
    network = max(0.0, 1 - window - buffer - rest)
    return {"window": window, "send buffer": buffer, "application": min(rest, 1.0), "network": network}

"""A path that is fitted to a captured transfer, with every estimate and its evidence."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import Final

import numpy as np

from dumbbell.captures.capture import Capture
from dumbbell.captures.diagnosis import Cause, Diagnosis, diagnose
from dumbbell.captures.directions import is_window_known
from dumbbell.captures.rows import Direction
from dumbbell.fitting.capacity import Capacity, capacity, rough_bps
from dumbbell.fitting.ends import trace_both
from dumbbell.fitting.estimate import Estimate, unknown
from dumbbell.fitting.losses import SHARED, Losses, losses, without_base
from dumbbell.fitting.measured import Measured, of_trace
from dumbbell.fitting.others import NOT_SEEN, Others, others
from dumbbell.fitting.policer import Policer, policer
from dumbbell.fitting.queue import base_rtt, queue
from dumbbell.fitting.trace import Trace, trace
from dumbbell.fitting.transfer import CAPTURE, Transfer, transfer
from dumbbell.frozen import dataclass

_BEYOND: Final = 1.03
"""A link behind a policer is seen only if packets come faster than the policer's rate, by this factor."""
_PACED: Final = 1.35
"""From before a policer, BBR probes with 1.25 times its rate, so ACKs that come so much faster show no link."""
_UNSEEN: Final = 5e-4
"""Share of the payload that a capture may lack: one packet of two thousand."""
_MOSTLY: Final = 0.5
"""Share of the time for which a limit holds to be the cause."""


@dataclass(frozen=True)
class Fit:
    """Estimates of a path and of a transfer over it."""

    name: str
    """Name of the capture."""
    transfer: Transfer
    rate: Capacity
    base_rtt: Estimate
    """Base RTT, ns."""
    policer: Policer
    losses: Losses
    late: Estimate
    """Share of packets that came later than ones sent after them, 0 to 1."""
    ack_packets: Estimate
    """Packets that an ACK covers, on average."""
    window: Estimate
    """Largest window of the receiver, bytes."""
    measured: Measured | None = None
    """Course of the transfer over time; None of a profile, and of a link."""
    others: Others = Others(unknown(NOT_SEEN))
    """Traffic of others through the bottleneck."""
    warnings: tuple[str, ...] = ()
    """Limits of the capture, in sentences."""

    @property
    def is_window_limited(self) -> bool:
        """True if the receiver's window held the sender back for most of the time."""
        return self.transfer.shares.get("window", 0.0) >= _MOSTLY

    @property
    def is_application_limited(self) -> bool:
        """True if the application held the sender back for most of the time."""
        return self.transfer.shares.get("application", 0.0) >= _MOSTLY

    @property
    def is_buffer_limited(self) -> bool:
        """True if the sender's socket buffer held it back for most of the time."""
        return self.transfer.shares.get("send buffer", 0.0) >= _MOSTLY

    @property
    def is_log(self) -> bool:
        """True if the fit is of samples that a program logged, not of packets."""
        return self.transfer.source != CAPTURE

    @property
    def is_shared(self) -> bool:
        """True if the connection got less than the capacity while it queued: others send, or the link pauses."""
        whole, part = self.rate.capacity.value, self.rate.available.value
        return not self.rate.varies and whole is not None and part is not None and part < SHARED * whole

    @property
    def own_bps(self) -> float | None:
        """Rate of the bottleneck for this connection, bit/s: its part if others send, if the rate varies, or if only
        that is known of a log."""
        is_part = self.is_shared or self.rate.varies or (self.is_log and self.rate.capacity.value is None)
        return self.rate.available.value if is_part else self.rate.capacity.value

    def estimates(self) -> dict[str, Estimate]:
        """Every estimate by its name; times are ns, rates bit/s, sizes bytes, shares 0 to 1."""
        return {
            "capacity": self.rate.capacity,
            "available": self.rate.available,
            "others": self.others.rate,
            "base_rtt": self.base_rtt,
            "buffer": self.losses.buffer,
            "policer_rate": self.policer.rate,
            "policer_burst": self.policer.burst,
            "loss": self.losses.loss,
            "late": self.late,
            "ack_packets": self.ack_packets,
            "window": self.window,
        }

    def as_json(self) -> dict[str, object]:
        """All estimates, for machines."""
        return {
            "capture": self.name,
            "connection": self.transfer.connection,
            "direction": self.transfer.direction,
            "side": self.transfer.side,
            "source": self.transfer.source,
            "cc": self.transfer.cc,
            "goodput_bps": self.transfer.goodput_bps,
            "left_out_packets": self.transfer.left_out,
            "rate_varies": self.rate.varies,
            "loss_burst_packets": self.losses.burst_packets,
            "drops_early": self.losses.is_early,
            "limits": dict(self.transfer.shares),
            "estimates": {name: one.as_json() for name, one in self.estimates().items()},
            "rate_over_time": [list(point) for point in self.rate.series],
            "others_over_time": [list(window) for window in self.others.series],
            "measured": None if self.measured is None else asdict(self.measured),
        }


def fit_direction(capture: Capture, row: Direction, at: str | None = None, other: Capture | None = None) -> Fit:
    """Fits a path to a direction of a connection, also with the capture of its other end.

    Raises:
        InputError: the packets are too few, were captured in the middle of the path, or in one direction only.
    """
    if other is not None:
        capture, row, seen = trace_both(capture, other, row)
    else:
        seen = trace(capture, row, at)
    (diagnosis,) = diagnose(capture, [row])
    found = fit_trace(capture.name, seen, diagnosis, _window(row, capture))
    return replace(_without_unseen(found, seen), warnings=tuple(capture.warnings_of(row["connection"])))


def fit_trace(name: str, seen: Trace, diagnosis: Diagnosis, window: Estimate) -> Fit:
    """Fits a path to the packets of a direction."""
    rough = rough_bps(seen)
    rate, _ = capacity(seen, rough)
    served = rate.capacity.value or rough
    waited = queue(seen, served)
    policed = policer(waited, rate.capacity.value)
    if policed.rate.value is not None:
        rate = _beside(policed.rate.value, rate, seen.side)
    lost = losses(waited, rate.capacity, rate.available.value, rate.varies, policed.is_found or policed.is_likely)
    base = _base_rtt(seen, rate, served)
    if not base.is_identifiable:
        lost = without_base(lost, base.why_not)
    return Fit(
        name,
        transfer(waited, diagnosis),
        rate,
        base,
        policed,
        lost,
        _late(seen.row, seen),
        _ack_packets(seen),
        window,
        of_trace(waited, base.value if base.value is not None else base.high),
        others(waited, rate, lost, policed.is_found or policed.is_likely),
    )


def _beside(policed_bps: float, rate: Capacity, side: str) -> Capacity:
    """The capacity behind a policer: nothing shows it if the sender kept to the policer's rate."""
    faster = (rate.capacity.value or 0.0) / policed_bps
    if faster < _BEYOND:
        return replace(rate, capacity=unknown("the sender kept to the policer's rate", policed_bps))
    if side == "sender" and faster < _PACED:
        return replace(rate, capacity=unknown("the sender may have paced packets at that rate", policed_bps))
    return rate


def _base_rtt(seen: Trace, rate: Capacity, served: float) -> Estimate:
    if not rate.varies:
        found = base_rtt(seen, served, rate.available.value, _pause_ns(seen, rate))
        if rate.capacity.is_identifiable or found.high is None:
            return found
        # A packet may have left the bottleneck at once.
        return replace(found, high=found.high + seen.segment_bytes * 8e9 / served)
    # The least round trip was likely seen while the rate was high.
    slowest, fastest = np.quantile([bps for _, bps in rate.series], [0.1, 0.9])
    return base_rtt(seen, float(fastest), float(slowest), slowest_bps=float(slowest))


def _pause_ns(seen: Trace, rate: Capacity) -> float:
    """Longest usual wait for a link that pauses, or for packets of others: even the least delay may contain one."""
    whole, part = rate.capacity.value, rate.available.value
    if rate.varies or whole is None or part is None or part >= SHARED * whole:
        return 0.0
    gaps = np.diff(seen.time_ns) - seen.bytes[1:] * 8e9 / whole
    return float(np.quantile(np.maximum(gaps, 0.0), 0.95))


def _late(row: Direction, seen: Trace) -> Estimate:
    count = seen.late_packets
    if count is None:
        count = row["reordered_packets" if seen.side == "receiver" else "late_behind_packets"]
    packets = row["data_packets"]
    if count is None:
        return unknown("the ACKs have no SACK blocks, or were cut")
    share, error = count / packets, 2 * (count + 1) ** 0.5 / packets
    return Estimate(share, max(0.0, share - error), share + error, f"{count:,} of {packets:,} packets")


def _ack_packets(seen: Trace) -> Estimate:
    if not len(seen.acks):
        return unknown("no ACK was captured")
    mean = float(seen.packets.sum()) / len(seen.acks)
    return Estimate(mean, 0.95 * mean, 1.05 * mean, f"{len(seen.acks):,} ACKs")


def _window(row: Direction, capture: Capture) -> Estimate:
    import polars as pl

    other = "to-client" if row["direction"] == "to-server" else "to-server"
    of = capture.rows("directions", [row["connection"]]).filter(pl.col("direction").cast(pl.String) == other)
    if of.is_empty():
        return unknown("no ACK was captured")
    largest = float(of["window_max_bytes"][0])
    if not is_window_known(row):
        return unknown("the SYNs, which hold the window's scale, are missing or cut", largest)
    return Estimate(largest, largest, largest, "windows of all ACKs")


def _without_unseen(fit: Fit, seen: Trace) -> Fit:
    """The fit without figures that rest on all packets, if the capture lacks some of them.

    Packets that were in flight when the capture began are not among them.
    """
    row, unseen = seen.row, seen.row["unseen_bytes"] or 0
    in_flight = row["in_flight_max_bytes"] or 0 if not seen.begins else 0
    least = fit.rate.available.value or fit.rate.available.low
    if unseen <= _UNSEEN * row["payload_bytes"] + in_flight:
        if not seen.is_blind:
            return fit
        why = "no SACK block tells when packets came behind a lost one"
        rate = replace(fit.rate, available=unknown(why, least))
        return replace(fit, rate=rate, others=Others(unknown(why)))
    why = f"the capture lacks {unseen:,} bytes that were acknowledged"
    lost = fit.losses
    buffer = unknown(why, lost.buffer.low) if lost.is_own and lost.buffer.is_identifiable else lost.buffer
    return replace(
        fit,
        rate=replace(fit.rate, available=unknown(why, least)),
        policer=Policer(unknown(why), unknown(why), fit.policer.is_found or fit.policer.is_likely),
        losses=replace(lost, buffer=buffer, loss=unknown(why), overflows=0, is_early=False),
        late=unknown(why),
        others=Others(unknown(why)),
    )


def is_short(fit: Fit) -> bool:
    """True if the transfer ended before it filled the path."""
    return fit.transfer.cause in (Cause.SHORT, Cause.SLOW_START)

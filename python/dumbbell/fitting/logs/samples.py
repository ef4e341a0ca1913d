"""Samples of a transfer, as programs log them: what passed in each interval, and the round trip at its end."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from dumbbell.fitting.estimate import Estimate, unknown
from dumbbell.fitting.trace import Bools, Floats
from dumbbell.frozen import dataclass


@dataclass(frozen=True)
class Samples:
    """A transfer in intervals, which follow each other. Figures that are not known are NaN."""

    name: str
    source: str
    """Kind of the file, in words."""
    side: str
    connection: int
    begin_s: Floats
    end_s: Floats
    payload_bytes: Floats
    """Bytes that passed in each interval."""
    rtt_ns: Floats
    """Round trip at the end of each, ns."""
    again_packets: Floats
    """Packets that were sent again in each."""
    is_limited: Bools
    """True where application, window or send buffer held the sender back."""
    segment_payload: float = 1448.0
    """Payload of a full packet, bytes."""
    header_bytes: float = 66.0
    """Bytes of its headers, Ethernet's included."""
    slack_bytes: float = 0.0
    """Error of the bytes in any time: what a program counts may wait in a socket."""
    slack_s: float = 0.0
    """Error of a time, s."""
    least_rtt_ns: float | None = None
    """Least single round trip, which the kernel kept, handshake included."""
    is_since_open: bool = False
    """True if `least_rtt_ns` contains the handshake."""
    is_round_trip: bool = True
    """False if `rtt_ns` is a delay in one direction."""
    window: Estimate = field(default_factory=lambda: unknown("the file does not have it"))
    limits: Mapping[str, float] = field(default_factory=dict)
    cc: str | None = None

    @property
    def frames(self) -> Floats:
        """Bytes of frames that passed in each interval."""
        return self.payload_bytes * self.frame_share

    @property
    def frame_share(self) -> float:
        """Bytes of frames per byte of payload."""
        return (self.segment_payload + self.header_bytes) / self.segment_payload

    @property
    def width_s(self) -> Floats:
        """Length of each interval, s."""
        return self.end_s - self.begin_s

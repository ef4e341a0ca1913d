"""A packet and what becomes of it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class Packet:
    """A packet on one link. Times are ns since the run's origin, sizes are bytes with the link's overhead."""

    number: int
    """Among those that came to the link, from 0."""
    arrival: int
    size: int
    flow: str
    hosts: tuple[str, str]
    """The hosts that it comes from and goes to."""
    ecn: str
    """ECN field on arrival: `not-ect`, `ect0`, `ect1` or `ce`."""
    queue_bytes: int = 0
    """Waiting at its arrival, without itself and without the packet in service; as `queue_packets`."""
    queue_packets: int = 0
    sojourn: int | None = None
    """From its arrival until it left the queue, to be served or dropped."""
    departure: int | None = None
    delivery: int | None = None
    fate: str | None = None
    """Fate, as in `packets.parquet`; `None` while the packet is under way."""
    ended: int | None = None
    """When it met its fate."""
    mark: str | None = None
    """Why it was marked."""

    def drop(self, fate: str, now: int, waited: bool = False) -> None:
        """Ends the packet's way; `waited`: in the queue until now."""
        self.fate, self.ended = fate, now
        if waited and self.sojourn is None:
            self.sojourn = now - self.arrival

    def congested(self, why: str) -> bool:
        """Set Congestion Experienced (RFC 3168 section 5); `False` if it isn't ECN-capable.

        A packet that came marked, or is already, keeps what it has.
        """
        if self.ecn == "not-ect":
            return False
        if self.ecn != "ce" and self.mark is None:
            self.mark = why
        return True

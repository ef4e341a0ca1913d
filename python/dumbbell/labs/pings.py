"""Pings between all hosts of a lab, in one process of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from dumbbell.frozen import dataclass
from dumbbell.labs.agent import ask

TIMEOUT_S = 1.0
"""An answer that takes longer is none."""


@dataclass(frozen=True)
class Pings:
    """A ping from each host to each other one."""

    hosts: tuple[str, ...]
    rtt_ns: tuple[tuple[int | None, ...], ...]
    """Round-trip times by sender and receiver; `None`: no answer, or the host itself."""

    @property
    def sent(self) -> int:
        """Number of pings."""
        return len(self.hosts) * (len(self.hosts) - 1)

    @property
    def received(self) -> int:
        """Number of answers."""
        return sum(rtt is not None for row in self.rtt_ns for rtt in row)

    @property
    def dropped_percent(self) -> float:
        """Share of pings without an answer, in percent."""
        return 100 * (self.sent - self.received) / self.sent if self.sent else 0.0

    def unanswered(self) -> Iterator[tuple[str, str]]:
        """Sender and receiver of each ping without an answer."""
        for from_, row in zip(self.hosts, self.rtt_ns, strict=True):
            for to, rtt in zip(self.hosts, row, strict=True):
                if from_ != to and rtt is None:
                    yield from_, to

    def matrix(self) -> str:
        """The table of Mininet's `pingall`, with its last line."""
        lines = ["*** Ping: testing ping reachability"]
        for from_, row in zip(self.hosts, self.rtt_ns, strict=True):
            others = [to if rtt is not None else "X" for to, rtt in zip(self.hosts, row, strict=True) if to != from_]
            lines.append(f"{from_} -> {' '.join(others)} ")
        return "\n".join([*lines, self._result()])

    def times(self) -> str:
        """The list of Mininet's `pingallfull`, with its last line."""
        lines = ["*** Ping: testing ping reachability", "*** Results: "]
        for from_, row in zip(self.hosts, self.rtt_ns, strict=True):
            for to, rtt in zip(self.hosts, row, strict=True):
                if to != from_:
                    ms = "no answer" if rtt is None else f"rtt {rtt / 1e6:.3f} ms"
                    lines.append(f" {from_}->{to}: 1/{int(rtt is not None)}, {ms}")
        return "\n".join([*lines, self._result()])

    def _result(self) -> str:
        return f"*** Results: {self.dropped_percent:.0f}% dropped ({self.received}/{self.sent} received)"


def ping_all(
    lab: Path, hosts: Sequence[str], timeout_s: float = TIMEOUT_S, ip: int = 4, size_bytes: int | None = None
) -> Pings:
    """Ping each of `hosts` from each other one.

    Args:
        lab: the lab's directory.
        hosts: names of hosts or routers.
        timeout_s: an answer that takes longer is none.
        ip: by IPv4 or IPv6.
        size_bytes: each packet has so many bytes, headers of IP included, and no router may fragment it. By default
            packets are small.

    Raises:
        RunFailed: the lab has ended, or has no such host, or the host no such address.
    """
    request = {"do": "ping-all", "hosts": list(hosts), "ip": ip, "timeout_ms": round(timeout_s * 1000)}
    answer = ask(lab, request if size_bytes is None else {**request, "bytes": size_bytes})
    return Pings(tuple(hosts), tuple(tuple(row) for row in answer["rtt_ns"]))

"""Echo requests, which measure round-trip times."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import ClassVar, Literal

from pydantic import Field

from dumbbell.scenario.source import Finding, Key
from dumbbell.scenario.traffic.kinds.flow import AnyFlow, Ends, Kind
from dumbbell.scenario.traffic.kinds.payload import check_payload
from dumbbell.units import Duration, Size, Time
from dumbbell.units.mtu import datagram_bytes
from dumbbell.workloads import PingWorkload


class PingFlow(AnyFlow, Kind[PingWorkload]):
    """Echo requests at an interval: the round-trip time that other traffic finds on the path (latency under load)."""

    place: ClassVar = 30
    kind: ClassVar = "ping"
    has_goodput: ClassVar = False
    plural: ClassVar = "Pings"
    figures: ClassVar = {
        "Sent": "sent",
        "Lost": "lost",
        "Median RTT (ms)": "p50_ms",
        "99th percentile (ms)": "p99_ms",
    }

    protocol: Literal["ping"] = Field(description="Echo requests, as ping(8) sends them.")
    interval: Duration = Field(default=Duration(200_000_000), description="Time from one request to the next.")
    echo: Literal["icmp", "udp"] = Field(
        default="icmp",
        description="Responder: the receiving kernel (ICMP echo), or a program (UDP echo, RFC 862).",
    )
    payload: Size = Field(
        default=Size(56),
        ge=16,
        description="ICMP or UDP payload of each request, at most what fits into a packet.",
    )

    @property
    def port_protocols(self) -> tuple[str, ...]:
        """The protocol of the echo: one of ICMP has the port as its identifier."""
        return (self.echo,)

    def check(self, at: Key, mtu: Callable[[bool], int], has_one_mtu: bool) -> Iterator[Finding]:
        """Requests that are too large; what comes back is as long."""
        most = mtu(True)
        why = f", or it would be fragmented: packets have at most {most} B"
        yield from check_payload(at, self.payload, datagram_bytes(most, self.ip), why)

    def workload(self, ends: Ends) -> PingWorkload:
        """The workload of one connection."""
        return PingWorkload(echo=self.echo, interval_ns=int(self.interval), payload_bytes=int(self.payload))

    @classmethod
    def sends(cls, workload: PingWorkload) -> str:
        """`pings (ICMP), 56 B every 0.2 s`."""
        every = Time(workload.interval_ns)
        return f"pings ({workload.echo.upper()}), {workload.payload_bytes} B every {every}"

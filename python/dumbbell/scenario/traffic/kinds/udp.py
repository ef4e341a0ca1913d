"""UDP at a constant rate."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar, Literal

from pydantic import Field

from dumbbell.scenario.source import Finding, Key
from dumbbell.scenario.traffic.bursts import Burst, RateOrShare
from dumbbell.scenario.traffic.kinds.flow import AnyFlow, Ends, Kind
from dumbbell.scenario.traffic.kinds.pauses import ON, amounts, check_pauses, on_off
from dumbbell.scenario.traffic.kinds.payload import check_payload
from dumbbell.units import Amount, Duration, Percent, Rate, Size
from dumbbell.units.mtu import ETHERNET, IP, MOST_PAYLOAD, UDP, datagram_bytes
from dumbbell.workloads import UdpWorkload


class UdpFlow(AnyFlow, Kind[UdpWorkload]):
    """UDP at a constant rate, each datagram at its own time."""

    place: ClassVar = 20
    kind: ClassVar = "udp"
    is_paced: ClassVar = True

    protocol: Literal["udp"] = Field(description="UDP.")
    rate: RateOrShare = Field(
        description="Rate of whole frames of each connection (payload and 42 bytes, or 62 in IPv6), or a share of "
        "the bottleneck's constant rate.",
        examples=["10 Mbit/s", "10 %"],
    )
    payload: Size | None = Field(
        default=None,
        ge=16,
        description="UDP payload of each datagram, at most 65507 B; larger ones than fit are sent in fragments, "
        "except on links with MTUs of their own. Default: what fits, 1472 B (1452 B in IPv6).",
    )
    bytes: Amount | None = Field(default=None, description="Payload to send in all. Default: no end before `stop`.")
    on: Burst | None = Field(default=None, description=ON.replace("the application writes", "it sends"))
    off: Duration | None = Field(default=None, description="Length of the pause after it.")
    ecn: Literal["not-ect", "ect0", "ect1"] = Field(
        default="not-ect",
        description="ECN codepoint of its packets (RFC 3168); `ect1` is for L4S queues (RFC 9331). The flow does not "
        "react to marks.",
    )

    @property
    def asked_rate(self) -> Rate | Percent:
        """The rate as written."""
        return self.rate

    @property
    def port_protocols(self) -> tuple[str, ...]:
        """UDP."""
        return ("udp",)

    def sizes_of(self, seed: int, group: str) -> list[Amount | None]:
        """The same payload for all."""
        return [self.bytes] * self.number

    def check(self, at: Key, mtu: Callable[[bool], int], has_one_mtu: bool) -> Iterator[Finding]:
        """Datagrams that are too large, and pauses."""
        if has_one_mtu:
            yield from check_payload(at, self.payload, MOST_PAYLOAD)
        else:
            yield from check_payload(
                at,
                self.payload,
                datagram_bytes(mtu(False), self.ip),
                f", or it would be fragmented: packets have at most {mtu(False)} B, and routers would cut them where "
                "links have MTUs of their own",
            )
        yield from check_pauses(at, self, self.on, self.off)

    def workload(self, ends: Ends) -> UdpWorkload:
        """The workload of one connection."""
        assert ends.rate_bps is not None
        return UdpWorkload(
            rate_bps=ends.rate_bps,
            payload_bytes=int(self.payload or datagram_bytes(ends.mtu, self.ip)),
            bytes=ends.bytes,
            ecn=self.ecn,
            on_off=on_off(self.on, self.off),
        )

    @classmethod
    def sends(cls, workload: UdpWorkload) -> str:
        """`UDP, 10 Mbit/s, 1472 B each, ect0`."""
        ecn = "" if workload.ecn == "not-ect" else f", {workload.ecn}"
        more = amounts(workload.bytes, workload.on_off)
        return f"UDP, {Rate(workload.rate_bps)}, {workload.payload_bytes} B each{more}{ecn}"

    @classmethod
    def size_bytes(cls, workload: UdpWorkload) -> int | None:
        """Payload."""
        return workload.bytes

    @classmethod
    def rate_bps(cls, workload: UdpWorkload) -> int:
        """The rate of whole frames."""
        return workload.rate_bps

    @classmethod
    def gap_us(cls, workload: UdpWorkload, ip: int) -> float:
        """Time that a frame takes at the rate."""
        return 8e6 * (workload.payload_bytes + ETHERNET + IP[ip] + UDP) / workload.rate_bps

    @classmethod
    def lost_in_hosts(cls, account: Mapping[str, Any]) -> tuple[int, int] | None:
        """The socket's drops include datagrams with a wrong checksum."""
        datagrams = account["udp"]
        return datagrams and (datagrams["refused_packets"], datagrams["socket_drops"])

    @classmethod
    def schedule_error_us(cls, account: Mapping[str, Any]) -> float | None:
        """None of a flow that sent nothing."""
        datagrams = account["udp"]
        return datagrams["schedule_error_us"]["p99"] if datagrams and datagrams["sent_packets"] else None

"""Traffic: what hosts send each other."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag

from dumbbell.scenario.table import STARTED, Table
from dumbbell.scenario.traffic.algorithms import Algorithm, Cc
from dumbbell.scenario.traffic.bursts import Burst, RateOrShare
from dumbbell.scenario.traffic.shares import Mix, Sizes
from dumbbell.units import Amount, Duration, Size, Time
from dumbbell.units.mtu import Version

MOST_CONNECTIONS = 50_000
"""The limit of a scenario: each connection has a separate port, and records number flows by 16 bits."""

_ON = "How long the application writes before it pauses: a time, or so many bytes. Default: it never pauses."
_OFF = "How long it pauses then. After a burst of bytes the pause begins when all of them have arrived."


class AnyFlow(Table):
    """Keys that all flows have."""

    id: str | None = Field(
        default=None,
        pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,31}$",
        description="Name in tables and plots: at most 32 letters, digits, `.`, `_` and `-`. Default: `f1`, `f2`, "
        "... by position.",
        examples=["background"],
    )
    from_: str = Field(
        alias="from",
        description="Sending host, which connects to the receiver. Several connections may use `s*`: they take turns "
        "over s1, s2, ...",
        examples=["s1"],
    )
    to: str = Field(description="Receiving host. Several connections may use `r*`.", examples=["r1"])
    connections: int | None = Field(
        default=None,
        ge=1,
        le=MOST_CONNECTIONS,
        strict=True,
        description="Number of flows that the entry stands for, named `<id>.1`, `<id>.2`, ... Default: one flow, named "
        "`<id>`.",
        examples=[10],
    )
    gap: Time = Field(default=Time(0), description="Time between the starts of one connection and the next.")
    arrivals: Literal["fixed", "poisson"] = Field(
        default="fixed",
        description="Gaps are all as given, or random with an exponential distribution of that mean.",
    )
    start: Time = Field(default=Time(0), description="Start, counted from the start of the run.")
    stop: Time | None = Field(
        default=None, description="Latest time at which it stops sending. Default: the end of the run."
    )
    port: int | None = Field(
        default=None,
        ge=1,
        le=65535,
        strict=True,
        description="Port of the receiver, unique per host and protocol; for several connections, the first one's. "
        "Default: `5001`, `5002`, ... by position.",
    )
    ip: Version = Field(
        default=4,
        description="Version of IP, 4 or 6. IPv6 takes a drawn network with `ipv6 = true`, or with IPv6 addresses of "
        "its own; its headers are 20 bytes longer.",
    )


class TcpFlow(AnyFlow):
    """Bulk TCP: sends as much as it can, until `stop` or until `bytes` are through."""

    protocol: Literal["tcp"] = Field(default="tcp", description="TCP of this machine's kernel, or the simulator's.")
    cc: Cc = Field(
        default=Algorithm(name="cubic"),
        description="Congestion control: one that comes with dumbbell, the kernel's own, or a BPF program of yours.",
        examples=["cubic", "bbr", "bbr3"],
    )
    mix: Mix | None = Field(
        default=None,
        description="In place of `cc`: congestion controls and their shares of the connections, which add up to 1.",
        examples=[{"cubic": 0.75, "bbr": 0.25}],
    )
    bytes: Amount | None = Field(default=None, description="Application data to send. Default: no end before `stop`.")
    sizes: Sizes | None = Field(
        default=None, description="In place of `bytes`: sizes and their shares of the connections, which add up to 1."
    )
    on: Burst | None = Field(default=None, description=_ON)
    off: Duration | None = Field(default=None, description=_OFF)
    ecn: bool = Field(
        default=False,
        strict=True,
        description="Negotiate ECN (RFC 3168). Linux negotiates per host: all TCP flows from one host must agree. "
        "DCTCP always negotiates it, whatever the host's setting.",
    )


class UdpFlow(AnyFlow):
    """UDP at a constant rate, each datagram at its own time."""

    protocol: Literal["udp"] = Field(description="UDP.")
    rate: RateOrShare = Field(
        description="Rate of whole frames of each connection: payload and 42 bytes, or 62 in IPv6; of a datagram in "
        "fragments, all of its frames. A share is of the bottleneck's rate in the flow's direction, which must be "
        "constant.",
        examples=["10 Mbit/s", "10 %"],
    )
    payload: Size | None = Field(
        default=None,
        ge=16,
        description="UDP payload of each datagram, at most 65507 B. What doesn't fit into a packet is sent in "
        "fragments (RFC 791, RFC 8200 section 4.5), and arrives if all of them do; where links have MTUs of their own "
        "it must fit. Default: what fits, 1472 B (1452 B in IPv6).",
    )
    bytes: Amount | None = Field(default=None, description="Payload to send in all. Default: no end before `stop`.")
    on: Burst | None = Field(default=None, description=_ON.replace("the application writes", "it sends"))
    off: Duration | None = Field(default=None, description="Length of the pause after it.")
    ecn: Literal["not-ect", "ect0", "ect1"] = Field(
        default="not-ect",
        description="ECN codepoint of its packets (RFC 3168). `ect1` is what L4S queues take for low latency (RFC "
        "9331). The flow does not react to marks.",
    )


class PingFlow(AnyFlow):
    """Echo requests at an interval: the round-trip time that other traffic finds on the path (latency under load)."""

    protocol: Literal["ping"] = Field(description="Echo requests, as ping(8) sends them.")
    interval: Duration = Field(default=Duration(200_000_000), description="Time from one request to the next.")
    echo: Literal["icmp", "udp"] = Field(
        default="icmp",
        description="Who answers: the receiving host's kernel (ICMP echo, RFC 792 and 4443), or a program (UDP echo, "
        "RFC 862).",
    )
    payload: Size = Field(
        default=Size(56),
        ge=16,
        description="ICMP or UDP payload of each request, at most what fits into a packet of the network (1472 B, "
        "1452 B in IPv6).",
    )


class CommandFlow(AnyFlow):
    """Any program, run in the sending host's namespace."""

    command: Annotated[str, STARTED] = Field(
        min_length=1,
        description="Shell command line of the sender. {server} and {client} become the addresses of `to` and `from`, "
        "{port} the flow's port, {duration} its length in seconds, {cc} the name by which the kernel knows `cc`.",
        examples=["iperf3 -c {server} -p {port} -t {duration}"],
    )
    server_command: Annotated[str | None, STARTED] = Field(
        default=None,
        min_length=1,
        description="Shell command line of its peer, started before it in the receiving host's namespace.",
        examples=["iperf3 -s -1 -p {port}"],
    )
    cc: Cc | None = Field(
        default=None,
        description="Congestion control that the command lines ask for by {cc}.",
        examples=["bbr3"],
    )


def _kind_of_flow(flow: Any) -> str:
    get = flow.get if isinstance(flow, dict) else lambda key, default=None: getattr(flow, key, default)
    return "@command" if get("command") is not None else f"@{get('protocol', 'tcp')}"


Flow = Annotated[
    Annotated[TcpFlow, Tag("@tcp")]
    | Annotated[UdpFlow, Tag("@udp")]
    | Annotated[PingFlow, Tag("@ping")]
    | Annotated[CommandFlow, Tag("@command")],
    Discriminator(_kind_of_flow),
]

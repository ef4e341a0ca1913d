"""Traffic: what hosts send each other."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag

from dumbbell.scenario.algorithms import Algorithm, Cc
from dumbbell.scenario.quantities import Amount, Rate, Size, Time
from dumbbell.scenario.table import Table


class AnyFlow(Table):
    """What all flows have."""

    id: str | None = Field(
        default=None,
        pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,31}$",
        description="Name in tables and plots. Default: f1, f2, ... by position.",
        examples=["background"],
    )
    from_: str = Field(alias="from", description="Host that sends.", examples=["s1"])
    to: str = Field(description="Host that receives.", examples=["r1"])
    start: Time = Field(default=Time(0), description="When it starts, counted from the start of the run.")
    stop: Time | None = Field(default=None, description="When it stops at the latest. Default: the end of the run.")
    port: int | None = Field(
        default=None, ge=1, le=65535, strict=True, description="Port of the receiver. Default: 5001, 5002, ..."
    )


class TcpFlow(AnyFlow):
    """Bulk TCP: sends as much as it can, until `stop` or until `bytes` are through."""

    protocol: Literal["tcp"] = Field(default="tcp", description="TCP of this machine's kernel, or the simulator's.")
    cc: Cc = Field(
        default=Algorithm(name="cubic"),
        description="Congestion control: one that comes with dumbbell, the kernel's own, or a BPF program of yours.",
        examples=["cubic", "bbr", "bbr3"],
    )
    bytes: Amount | None = Field(default=None, description="Application data to send. Default: no end before `stop`.")
    ecn: bool = Field(
        default=False, strict=True, description="Negotiate ECN (RFC 3168). All TCP flows from one host must agree."
    )


class UdpFlow(AnyFlow):
    """UDP at a constant rate, each datagram at its own time."""

    protocol: Literal["udp"] = Field(description="UDP.")
    rate: Rate = Field(description="Rate of whole frames (payload + 42 bytes).")
    payload: Size = Field(default=Size(1472), ge=16, le=1472, description="UDP payload of each datagram.")
    bytes: Amount | None = Field(default=None, description="Payload to send in all. Default: no end before `stop`.")
    ecn: Literal["not-ect", "ect0", "ect1"] = Field(
        default="not-ect", description="ECN codepoint of its packets (RFC 3168; ect1: L4S, RFC 9331)."
    )


class CommandFlow(AnyFlow):
    """Any program, run in the sending host's namespace."""

    command: str = Field(
        min_length=1,
        description="Shell command line of the sender. {server} and {client} become the addresses of `to` and `from`, "
        "{port} the flow's port, {duration} its length in seconds, {cc} the name by which the kernel knows `cc`.",
        examples=["iperf3 -c {server} -p {port} -t {duration}"],
    )
    server_command: str | None = Field(
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
    Annotated[TcpFlow, Tag("@tcp")] | Annotated[UdpFlow, Tag("@udp")] | Annotated[CommandFlow, Tag("@command")],
    Discriminator(_kind_of_flow),
]

"""The scenario: what a user writes, checked for its shape.

Each field's description is also its text in the JSON Schema (`dumbbell schema`). What needs more than one field to be
judged, such as a flow between hosts that do not exist, is in `check.py`.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    PlainSerializer,
    PrivateAttr,
    Tag,
)

from dumbbell.scenario.quantities import MAX, Amount, BufferSize, Duration, Percent, Rate, Size, Time
from dumbbell.scenario.source import Source


class Table(BaseModel):
    """A TOML table: no unknown keys, no changes after validation."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def _unlimited(value: Any) -> Any:
    return None if value == "unlimited" else value


LinkRate = Annotated[
    Rate | None,
    BeforeValidator(_unlimited, json_schema_input_type=Rate | Literal["unlimited"]),
    PlainSerializer(lambda rate: "unlimited" if rate is None else str(rate), when_used="json"),
]
"""`None` is no limit."""


class Loss(Table):
    """Random loss: each packet on its own, with the same probability."""

    rate: Percent = Field(description="Share of packets that are lost.")
    position: Literal["before-queue", "after-queue"] = Field(
        default="before-queue",
        description="Where: before a packet reaches the queue, or after it has left the serializer and taken its share "
        "of the rate.",
    )


def _loss(value: Any) -> Any:
    return {"rate": value} if isinstance(value, str | int | float | Percent) else value


LinkLoss = Annotated[Loss, BeforeValidator(_loss, json_schema_input_type=Percent | Loss)]

_RATE = "Rate of whole frames (1514 bytes for a full segment), or `unlimited`."
_BUFFER = (
    "Room for waiting packets, the one in service not counted: bytes of whole frames, packets, a time at the link's "
    "rate, or multiples of the BDP (the link's rate times the largest base RTT)."
)
_LOSS = 'Random loss, e.g. "1 %" or { rate = "1 %", position = "after-queue" }.'
_DELAY = "Propagation delay in this direction."
_OVERHEAD = "Added to each frame's size, in the rate and in the buffer, e.g. 24 B for Ethernet's preamble, FCS and gap."


class Reverse(Table):
    """The bottleneck from right to left; what is not given is as in the forward direction, but without loss."""

    rate: LinkRate = Field(default=None, description=f"{_RATE} Default: as forward.")
    buffer: BufferSize | None = Field(default=None, description=f"{_BUFFER} Default: as forward.")
    loss: LinkLoss = Field(default=Loss(rate=Percent.parse("0 %")), description=f"{_LOSS} Default: none.")
    delay: Time | None = Field(default=None, description=f"{_DELAY} Default: as forward, or what is left.")
    overhead: Size | None = Field(default=None, description=f"{_OVERHEAD} Default: as forward.")


class Bottleneck(Table):
    """The shaped link from left to right: loss before, queue, serializer, propagation, loss after."""

    rate: LinkRate = Field(description=_RATE)
    buffer: BufferSize | None = Field(default=None, description=f"{_BUFFER} Default: 1 bdp.")
    loss: LinkLoss = Field(default=Loss(rate=Percent.parse("0 %")), description=f"{_LOSS} Default: none.")
    delay: Time | None = Field(default=None, description=f"{_DELAY} Default: half of the smallest RTT.")
    overhead: Size = Field(default=Size(0), description=_OVERHEAD)
    reverse: Reverse = Field(default=Reverse(), description="The direction from right to left, where it differs.")


PairTimes = Annotated[
    list[Time],
    BeforeValidator(lambda v: v if isinstance(v, list) else [v], json_schema_input_type=Time | list[Time]),
]


class Dumbbell(Table):
    """Senders s1..sN, a switch, the bottleneck, a switch, receivers r1..rN."""

    kind: Literal["dumbbell"] = Field(description="N senders and N receivers around one bottleneck.")
    pairs: int = Field(default=1, ge=1, le=250, strict=True, description="Hosts on each side: s1..sN, r1..rN.")
    bottleneck: Bottleneck = Field(description="The link that all pairs share.")
    rtt: PairTimes = Field(description="Base RTT without serialisation: one for all pairs, or one for each.")


class Path(Table):
    """Two hosts, h1 and h2, and the bottleneck between them."""

    kind: Literal["path"] = Field(description="h1 and h2 with the bottleneck between them.")
    bottleneck: Bottleneck = Field(description="The link from h1 to h2, and back.")
    rtt: Time = Field(description="Base RTT without serialisation.")


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

    protocol: Literal["tcp"] = Field(default="tcp", description="TCP of this machine's kernel.")
    cc: str = Field(
        default="cubic",
        pattern=r"^[A-Za-z0-9_-]{1,15}$",
        description="Congestion control, by the kernel's name.",
        examples=["reno", "cubic", "bbr"],
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


class CommandFlow(AnyFlow):
    """Any program, run in the sending host's namespace."""

    command: str = Field(
        min_length=1,
        description="Shell command line of the sender. {server} and {client} become the addresses of `to` and `from`, "
        "{port} the flow's port, {duration} its length in seconds.",
        examples=["iperf3 -c {server} -p {port} -t {duration}"],
    )
    server_command: str | None = Field(
        default=None,
        min_length=1,
        description="Shell command line of its peer, started before it in the receiving host's namespace.",
        examples=["iperf3 -s -1 -p {port}"],
    )


def _kind_of_flow(flow: Any) -> str:
    get = flow.get if isinstance(flow, dict) else lambda key, default=None: getattr(flow, key, default)
    return "command" if get("command") is not None else str(get("protocol", "tcp"))


Flow = Annotated[
    Annotated[TcpFlow, Tag("tcp")] | Annotated[UdpFlow, Tag("udp")] | Annotated[CommandFlow, Tag("command")],
    Discriminator(_kind_of_flow),
]

SysctlKey = Annotated[str, Field(pattern=r"^net(\.[A-Za-z0-9_-]+)+$")]
SysctlValue = Annotated[
    str, BeforeValidator(lambda v: str(v) if type(v) is int else v, json_schema_input_type=str | int)
]
Sysctls = Annotated[
    dict[SysctlKey, SysctlValue],
    Field(description='Namespaced sysctls, e.g. { "net.ipv4.tcp_sack" = 0 }. They win over what dumbbell pins.'),
]


class HostSettings(Table):
    """Settings of one host."""

    sysctl: Sysctls = Field(default={})


class Hosts(BaseModel):
    """Settings of all hosts (`sysctl`), and tables for single ones, which win."""

    model_config = ConfigDict(extra="allow", frozen=True)
    __pydantic_extra__: dict[str, HostSettings] = Field(init=False)

    sysctl: Sysctls = Field(default={})

    @property
    def single(self) -> dict[str, HostSettings]:
        """Settings by host."""
        return self.__pydantic_extra__


class Record(Table):
    """What is written down."""

    sample_interval: Time = Field(
        default=Time(10_000_000), ge=1_000_000, description="Spacing of the rows of `samples` and `links`."
    )
    packets: bool = Field(default=True, strict=True, description="Write a row per packet and link.")


class Emulate(Table):
    """Settings of the emulation engine."""

    ring: Size = Field(default=Size(64 << 20), ge=64 << 10, le=1 << 30, description="Packet ring of the emulator.")
    spin: Time = Field(
        default=Time(60_000),
        le=1_000_000,
        description="Busy-wait before a packet is due for as long as waking up takes here, at most for this long.",
    )
    arena: Size = Field(default=Size(256 << 20), ge=1 << 20, description="Room for the packets inside the links.")


class Scenario(Table):
    """One experiment: a network, its flows, how long, and what to record."""

    model_config = ConfigDict(title="dumbbell scenario")

    name: str = Field(
        pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$",
        description="Name of the scenario, used in paths and titles.",
        examples=["bbr-vs-cubic"],
    )
    description: str = Field(default="", description="What this scenario shows, in a line.")
    duration: Duration = Field(description="How long traffic flows.", examples=["20 s"])
    seed: int = Field(default=1, ge=0, le=MAX, strict=True, description="Root of every random stream.")
    topology: Dumbbell | Path = Field(discriminator="kind", description="The network.")
    flows: list[Flow] = Field(min_length=1, description="The traffic, in the order of tables and plots.")
    hosts: Hosts = Field(default=Hosts(), description="Settings of the hosts.")
    record: Record = Field(default=Record(), description="What is written down.")
    emulate: Emulate = Field(default=Emulate(), description="Settings of the emulation engine.")

    _source: Source = PrivateAttr(default_factory=Source)

    @property
    def source(self) -> Source:
        """Where it was read from, to name places in errors."""
        return self._source

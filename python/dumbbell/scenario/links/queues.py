"""Queue disciplines, each with its parameters by the names and with the defaults of the text that defines it."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self, get_args

from pydantic import AfterValidator, BeforeValidator, Discriminator, Field, Tag

from dumbbell.scenario.links.discipline import ECN, Discipline
from dumbbell.scenario.links.red import Red
from dumbbell.scenario.table import shorthand, tag_by
from dumbbell.units import Amount, BufferSize, Duration, Percent, QuantityError, Rate, Time
from dumbbell.units.mtu import frame_bytes


def _threshold(value: BufferSize) -> BufferSize:
    if value.kind in ("bdp", "unlimited"):
        expected = "bytes, packets, or the time that a packet has waited"
        raise QuantityError(
            f"{value} is not a threshold for marking", expected, 'write "30 packets", "60 kB" or "1 ms"'
        )
    return value


_CE_TIME = "Mark ECN-capable packets that have waited longer than this, whatever else. Default: none."
_TARGET = "Delay that may stand for an interval."
_INTERVAL = "About the longest RTT: what is above target for longer is no burst."


class Fifo(Discipline):
    """First in, first out."""

    kind: Literal["drop-tail", "drop-head"] = Field(
        description="drop-tail: First in, first out; what does not fit as a whole is dropped. drop-head: First in, "
        "first out; the oldest are dropped until what comes fits."
    )
    ce_threshold: Annotated[BufferSize, AfterValidator(_threshold)] | None = Field(
        default=None,
        description="Mark ECN-capable packets: in bytes or packets, if more than this waits when one comes (DCTCP's "
        "step, RFC 8257); a time, if it has waited longer when it leaves. Default: none.",
    )

    def in_plan(self) -> dict[str, object]:
        """The form of the crate `plan`: the threshold is named by its unit."""
        mark = self.ce_threshold
        unit = mark and ("sojourn" if mark.kind == "time" else mark.kind)
        return {"kind": self.kind, "ce_threshold": mark and {unit: int(mark.amount)}}


class Codel(Discipline):
    """Controlled Delay (RFC 8289)."""

    kind: Literal["codel"] = Field(description="Controlled Delay, RFC 8289.")
    target: Duration = Field(default=Duration(5_000_000), description=_TARGET)
    interval: Duration = Field(default=Duration(100_000_000), description=_INTERVAL)
    ecn: bool = Field(default=False, strict=True, description=ECN)
    ce_threshold: Time | None = Field(default=None, description=_CE_TIME)


class Turns(Discipline):
    """Flows take turns; each may send a quantum of bytes in one."""

    quantum: Amount | None = Field(
        default=None,
        le=1 << 30,
        description="Bytes that a flow may send before the next one's turn. Default: a full frame, 1514 B.",
    )

    def settled(self, rate: Rate | None, buffer: int | None, frame: int, rtt: int, mtu: int) -> Self:
        """The parameters with the quantum that follows from the MTU (RFC 8290 section 5.2.4)."""
        return self.model_copy(update={"quantum": self.quantum or Amount(frame_bytes(mtu))})


class FqCodel(Turns):
    """Flow Queue CoDel (RFC 8290)."""

    kind: Literal["fq-codel"] = Field(description="Flow Queue CoDel, RFC 8290: a CoDel queue per flow, in turns.")
    target: Duration = Field(default=Duration(5_000_000), description=_TARGET)
    interval: Duration = Field(default=Duration(100_000_000), description=_INTERVAL)
    flows: int = Field(default=1024, ge=1, le=65536, strict=True, description="Queues that flows are hashed into.")
    ecn: bool = Field(default=True, strict=True, description=ECN)
    ce_threshold: Time | None = Field(default=None, description=_CE_TIME)


class Pie(Discipline):
    """Proportional Integral controller Enhanced (RFC 8033)."""

    kind: Literal["pie"] = Field(description="Proportional Integral controller Enhanced, RFC 8033.")
    target: Duration = Field(default=Duration(15_000_000), description="Delay to hold, QDELAY_REF.")
    t_update: Duration = Field(
        default=Duration(15_000_000), ge=100_000, description="Time between two updates of the probability."
    )
    alpha: float = Field(default=0.125, ge=0, le=1000, description="Weight of the delay's distance from target, in Hz.")
    beta: float = Field(default=1.25, ge=0, le=1000, description="Weight of the delay's change, in Hz.")
    max_burst: Time = Field(default=Time(150_000_000), description="Size of a burst that passes after idle times.")
    ecn: bool = Field(default=False, strict=True, description=ECN)
    mark_ecnth: Percent = Field(
        default=Percent.parse("10 %"), description="Probability above which packets are dropped in spite of ECN."
    )


class Fq(Turns):
    """Fair queueing of flows by deficit round robin (Shreedhar and Varghese 1996)."""

    kind: Literal["fq"] = Field(
        description="Fair queueing of flows by deficit round robin (Shreedhar and Varghese 1996); the longest queue "
        "loses packets."
    )
    flows: int = Field(default=1024, ge=1, le=65536, strict=True, description="Queues that flows are hashed into.")


class Cake(Discipline):
    """Common Applications Kept Enhanced (Høiland-Jørgensen, Täht, Morton 2018), one tin."""

    kind: Literal["cake"] = Field(
        description="CAKE (Høiland-Jørgensen, Täht, Morton 2018): a COBALT queue per flow, hosts before flows; one "
        "tin, no ACK filter."
    )
    rtt: Duration = Field(
        default=Duration(100_000_000), ge=20, description="About the longest RTT: CoDel's interval; its target is 1/20."
    )
    isolation: Literal["flows", "triple-isolate"] = Field(
        default="triple-isolate",
        description="Equal shares of the link are for flows, or for hosts (by source and destination) and then the "
        "flows of each.",
    )
    quantum: Amount | None = Field(
        default=None,
        le=1 << 30,
        description="Bytes that a flow may send before the next one's turn. Default: 1/4096 s at the link's rate, 300 "
        "to 1514 B, as in Linux.",
    )
    ecn: bool = Field(default=True, strict=True, description=ECN)

    def settled(self, rate: Rate | None, buffer: int | None, frame: int, rtt: int, mtu: int) -> Cake:
        """The parameters with the quantum that follows from the rate."""
        least, most = 300, 1514
        by_rate = most if rate is None else min(max(int(rate) // 8 // 4096, least), most)
        return self.model_copy(update={"quantum": self.quantum or Amount(by_rate)})

    def in_plan(self) -> dict[str, object]:
        """The form of the crate `plan`, of a CAKE that is settled."""
        assert self.quantum is not None
        return {
            "kind": self.kind,
            "target_ns": int(self.rtt) // 20,
            "interval_ns": int(self.rtt),
            "quantum_bytes": int(self.quantum),
            "isolation": self.isolation,
            "ecn": self.ecn,
        }


class Dualpi2(Discipline):
    """DualPI2, the coupled AQM of L4S (RFC 9332)."""

    kind: Literal["dualpi2"] = Field(
        description="DualPI2, RFC 9332: a queue of low latency for packets marked ECT(1) or CE, one for the rest, "
        "coupled."
    )
    target: Duration = Field(default=Duration(15_000_000), description="Delay of the classic queue to hold.")
    t_update: Duration = Field(
        default=Duration(15_000_000), ge=100_000, description="Time between two updates of the probability."
    )
    alpha: float = Field(default=0.15, ge=0, le=1000, description="Integral gain, in Hz.")
    beta: float = Field(default=3.0, ge=0, le=1000, description="Proportional gain, in Hz.")
    k: float = Field(default=2.0, gt=0, le=1000, description="Coupling factor.")
    min_th: Time = Field(
        default=Time(800_000), description="The low-latency queue begins to mark packets that have waited longer."
    )
    range: Time = Field(
        default=Time(400_000),
        description="Range of waits over which its probability rises from 0 to 1; 0 s makes it a step.",
    )
    classic_share: Percent = Field(
        default=Percent.parse("10 %"), description="Guaranteed share of the link for the classic queue."
    )


KINDS: dict[str, type[Discipline]] = {
    name: table
    for table in (Fifo, Red, Codel, FqCodel, Pie, Fq, Cake, Dualpi2)
    for name in get_args(table.model_fields["kind"].annotation)
}
"""Models by the names of their disciplines."""

AnyQueue = Annotated[
    Annotated[Fifo, Tag("@Fifo")]
    | Annotated[Red, Tag("@Red")]
    | Annotated[Codel, Tag("@Codel")]
    | Annotated[FqCodel, Tag("@FqCodel")]
    | Annotated[Pie, Tag("@Pie")]
    | Annotated[Fq, Tag("@Fq")]
    | Annotated[Cake, Tag("@Cake")]
    | Annotated[Dualpi2, Tag("@Dualpi2")],
    Discriminator(tag_by("kind", KINDS)),
]

_Names: Any = Literal[tuple(KINDS)]

LinkQueue = Annotated[
    AnyQueue,
    BeforeValidator(lambda value: shorthand("kind", value), json_schema_input_type=AnyQueue | _Names),
]
"""The name alone is the discipline with its defaults."""

"""Queue disciplines, each with its parameters by the names and with the defaults of the text that defines it."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Discriminator, Field, Tag, model_validator

from dumbbell.scenario.table import Table, shorthand, tag_by
from dumbbell.units import Amount, BufferSize, Duration, Percent, QuantityError, Time


def _threshold(value: BufferSize) -> BufferSize:
    if value.kind in ("bdp", "unlimited"):
        expected = "bytes, packets, or the time that a packet has waited"
        raise QuantityError(f"{value} is no threshold for marking", expected, 'write "30 packets", "60 kB" or "1 ms"')
    return value


_ECN = "Mark packets of ECN-capable flows instead of dropping them."
_CE_TIME = "Mark ECN-capable packets that have waited longer than this, whatever else. Default: none."
_TARGET = "Delay that may stand for an interval."
_INTERVAL = "About the longest RTT: what is above target for longer is no burst."


class Fifo(Table):
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


class Red(Table):
    """Random Early Detection (Floyd and Jacobson 1993), gentle; `ared` adapts max_p (Floyd, Gummadi, Shenker 2001)."""

    kind: Literal["red", "ared"] = Field(
        description="red: Random Early Detection (Floyd and Jacobson 1993), which drops at random as the average "
        "queue grows. ared: RED that adapts max_p (Floyd, Gummadi, Shenker 2001), as with adaptive = true."
    )
    min_th: BufferSize | None = Field(
        default=None, description="Average queue below which nothing is dropped. Default: a third of max_th."
    )
    max_th: BufferSize | None = Field(
        default=None,
        description="Average queue at which max_p is reached. Default: three times min_th, or else half of the buffer.",
    )
    max_p: Percent = Field(default=Percent.parse("10 %"), description="Probability of a drop at max_th.")
    weight: float | None = Field(
        default=None,
        gt=0,
        le=1,
        description="Of the newest queue length in the average, w_q. Default: 0.002; if adaptive, so that the average "
        "follows within a second.",
    )
    average_packet: Amount | None = Field(
        default=None, le=65536, description="To age the average while nothing comes. Default: a full frame."
    )
    gentle: bool = Field(
        default=True, strict=True, description="From max_th to twice that the probability rises to 1. If not, at once."
    )
    adaptive: bool = Field(
        default=False, strict=True, description="Adapt max_p so that the average stays in the middle (ARED)."
    )
    ecn: bool = Field(default=False, strict=True, description=_ECN)

    @model_validator(mode="after")
    def _check(self) -> Red:
        # ARED raises max_p by a quarter of itself at most.
        if (self.adaptive or self.kind == "ared") and self.max_p.percent == 0:
            raise QuantityError("max_p = 0 % could never adapt", "max_p above 0 %", 'write max_p = "10 %"')
        return self


class Codel(Table):
    """Controlled Delay (RFC 8289)."""

    kind: Literal["codel"] = Field(description="Controlled Delay, RFC 8289.")
    target: Duration = Field(default=Duration(5_000_000), description=_TARGET)
    interval: Duration = Field(default=Duration(100_000_000), description=_INTERVAL)
    ecn: bool = Field(default=False, strict=True, description=_ECN)
    ce_threshold: Time | None = Field(default=None, description=_CE_TIME)


class FqCodel(Table):
    """Flow Queue CoDel (RFC 8290)."""

    kind: Literal["fq-codel"] = Field(description="Flow Queue CoDel, RFC 8290: a CoDel queue per flow, in turns.")
    target: Duration = Field(default=Duration(5_000_000), description=_TARGET)
    interval: Duration = Field(default=Duration(100_000_000), description=_INTERVAL)
    quantum: Amount = Field(
        default=Amount(1514), le=1 << 30, description="Bytes that a flow may send before the next one's turn."
    )
    flows: int = Field(default=1024, ge=1, le=65536, strict=True, description="Queues that flows are hashed into.")
    ecn: bool = Field(default=True, strict=True, description=_ECN)
    ce_threshold: Time | None = Field(default=None, description=_CE_TIME)


class Pie(Table):
    """Proportional Integral controller Enhanced (RFC 8033)."""

    kind: Literal["pie"] = Field(description="Proportional Integral controller Enhanced, RFC 8033.")
    target: Duration = Field(default=Duration(15_000_000), description="Delay to hold, QDELAY_REF.")
    t_update: Duration = Field(
        default=Duration(15_000_000), ge=100_000, description="How often the probability is reckoned."
    )
    alpha: float = Field(default=0.125, ge=0, le=1000, description="Weight of the delay's distance from target, in Hz.")
    beta: float = Field(default=1.25, ge=0, le=1000, description="Weight of the delay's change, in Hz.")
    max_burst: Time = Field(default=Time(150_000_000), description="A burst that is let through after idle times.")
    ecn: bool = Field(default=False, strict=True, description=_ECN)
    mark_ecnth: Percent = Field(
        default=Percent.parse("10 %"), description="Probability above which packets are dropped in spite of ECN."
    )


class Fq(Table):
    """Fair queueing of flows by deficit round robin (Shreedhar and Varghese 1996)."""

    kind: Literal["fq"] = Field(
        description="Fair queueing of flows by deficit round robin (Shreedhar and Varghese 1996); the longest queue "
        "loses packets."
    )
    quantum: Amount = Field(
        default=Amount(1514), le=1 << 30, description="Bytes that a flow may send before the next one's turn."
    )
    flows: int = Field(default=1024, ge=1, le=65536, strict=True, description="Queues that flows are hashed into.")


class Dualpi2(Table):
    """DualPI2, the coupled AQM of L4S (RFC 9332)."""

    kind: Literal["dualpi2"] = Field(
        description="DualPI2, RFC 9332: a queue of low latency for packets marked ECT(1) or CE, one for the rest, "
        "coupled."
    )
    target: Duration = Field(default=Duration(15_000_000), description="Delay of the classic queue to hold.")
    t_update: Duration = Field(
        default=Duration(15_000_000), ge=100_000, description="How often the probability is reckoned."
    )
    alpha: float = Field(default=0.15, ge=0, le=1000, description="Integral gain, in Hz.")
    beta: float = Field(default=3.0, ge=0, le=1000, description="Proportional gain, in Hz.")
    k: float = Field(default=2.0, gt=0, le=1000, description="Coupling factor.")
    min_th: Time = Field(
        default=Time(800_000), description="The low-latency queue begins to mark packets that have waited longer."
    )
    range: Time = Field(
        default=Time(400_000), description="Over this its probability rises from 0 to 1; 0 s makes it a step."
    )
    classic_share: Percent = Field(
        default=Percent.parse("10 %"), description="Share of the link that the classic queue is sure of."
    )


KINDS: dict[str, type[Table]] = {
    "drop-tail": Fifo,
    "drop-head": Fifo,
    "red": Red,
    "ared": Red,
    "codel": Codel,
    "fq-codel": FqCodel,
    "pie": Pie,
    "fq": Fq,
    "dualpi2": Dualpi2,
}
"""Models by the names of their disciplines."""


AnyQueue = Annotated[
    Annotated[Fifo, Tag("@Fifo")]
    | Annotated[Red, Tag("@Red")]
    | Annotated[Codel, Tag("@Codel")]
    | Annotated[FqCodel, Tag("@FqCodel")]
    | Annotated[Pie, Tag("@Pie")]
    | Annotated[Fq, Tag("@Fq")]
    | Annotated[Dualpi2, Tag("@Dualpi2")],
    Discriminator(tag_by("kind", KINDS)),
]

LinkQueue = Annotated[
    AnyQueue,
    BeforeValidator(
        lambda value: shorthand("kind", value),
        json_schema_input_type=AnyQueue
        | Literal["drop-tail", "drop-head", "red", "ared", "codel", "fq-codel", "pie", "fq", "dualpi2"],
    ),
]
"""The name alone is the discipline with its defaults."""

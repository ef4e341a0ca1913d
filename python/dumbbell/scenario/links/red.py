"""Random Early Detection: its keys, and its thresholds and weight where the scenario leaves them to the defaults."""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction
from typing import Literal

from pydantic import Field, model_validator

from dumbbell.scenario.links.discipline import ECN, Discipline
from dumbbell.units import Amount, BufferSize, Percent, QuantityError, Rate

RATIO = 3
"""max_th over min_th (Floyd, Gummadi, Shenker 2001)."""

WEIGHT = 0.002
"""w_q of a link whose rate is not known, and of RED that does not adapt (Floyd and Jacobson 1993)."""


class Red(Discipline):
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
        description="Weight of the newest queue length in the average, w_q. Default: 0.002; if adaptive, so that the "
        "average follows within a second.",
    )
    average_packet: Amount | None = Field(
        default=None,
        le=65536,
        description="Packet size for aging the average while no packet arrives. Default: a full frame.",
    )
    gentle: bool = Field(
        default=True,
        strict=True,
        description="true: the probability rises to 1 from max_th to twice that. false: it rises at once.",
    )
    adaptive: bool = Field(
        default=False, strict=True, description="Adapt max_p so that the average stays in the middle (ARED)."
    )
    ecn: bool = Field(default=False, strict=True, description=ECN)

    @model_validator(mode="after")
    def _check(self) -> Red:
        # ARED raises max_p by a quarter of itself at most.
        if (self.adaptive or self.kind == "ared") and self.max_p.percent == 0:
            raise QuantityError("max_p = 0 % could never adapt", "max_p above 0 %", 'write max_p = "10 %"')
        return self

    def settled(self, rate: Rate | None, buffer: int | None, frame: int, rtt: int, mtu: int) -> Red:
        """All parameters given, thresholds in bytes. Raises `QuantityError` for thresholds that make no RED."""
        adaptive = self.adaptive or self.kind == "ared"
        average = self.average_packet or Amount(frame)
        least, high = (_bytes(name, getattr(self, name), rate, frame, rtt) for name in ("min_th", "max_th"))
        if high is None and least:
            high = RATIO * least
        elif high is None:
            if buffer is None:
                hint = 'write max_th = "60 packets"'
                raise QuantityError("no buffer to take thresholds from", "max_th where the buffer is unlimited", hint)
            high = buffer // 2
        low = max(high // RATIO, 1) if least is None else least
        if low >= high:
            what = f"min_th = {low} B is not below max_th = {high} B"
            raise QuantityError(what, "min_th below max_th", _other_max_th(least, buffer))
        if buffer is not None and high > buffer:
            what = f"max_th = {high} B is above the buffer"
            why = f"max_th at most {buffer} B, or the queue would overflow before"
            raise QuantityError(what, why, f"{_other_max_th(least, buffer)}, or raise the buffer")
        return self.model_copy(
            update={
                "min_th": BufferSize("bytes", Fraction(low)),
                "max_th": BufferSize("bytes", Fraction(high)),
                "weight": self.weight or (_weight(rate, average) if adaptive else WEIGHT),
                "average_packet": average,
                "adaptive": adaptive,
            }
        )

    def in_plan(self) -> dict[str, object]:
        """The form of the crate `plan`, of a RED that is settled."""
        assert self.min_th is not None
        assert self.max_th is not None
        assert self.average_packet is not None
        return {
            "kind": "red",
            "min_th_bytes": int(self.min_th.amount),
            "max_th_bytes": int(self.max_th.amount),
            "max_p": self.max_p.probability,
            "weight": self.weight,
            "average_packet_bytes": int(self.average_packet),
            "gentle": self.gentle,
            "ecn": self.ecn,
            "adaptive": self.adaptive,
        }


def _other_max_th(min_th: int | None, buffer: int | None) -> str:
    """A hint that fits `min_th`, if that is given, and the buffer: following it leads to a RED."""
    if not min_th:
        return 'write max_th = "60 packets"' if buffer is None else f'write max_th = "{buffer // 2} B"'
    if buffer is None:
        return f'write max_th = "{RATIO * min_th} B"'
    if min_th < buffer:
        return f'write max_th = "{min(RATIO * min_th, buffer)} B"'
    return "leave min_th and max_th out: they follow from the buffer"


def _bytes(name: str, value: BufferSize | None, rate: Rate | None, frame: int, rtt: int) -> int | None:
    match value:
        case None:
            return None
        case BufferSize(kind="bytes"):
            return int(value.amount)
        case BufferSize(kind="packets"):
            return int(value.amount) * frame
        case BufferSize(kind="unlimited"):
            raise QuantityError(
                f"{name} is unlimited", "a threshold in bytes, packets, ms or bdp", 'write "60 packets"'
            )
    if rate is None:
        what = f"{name} = {value}, and no rate to measure it by"
        raise QuantityError(what, "bytes or packets on a link without a rate", f'write {name} = "60 packets"')
    span = value.amount if value.kind == "time" else value.amount * rtt
    return int(Fraction(rate, 8 * 10**9) * span)


def _weight(rate: Rate | None, average: int) -> float:
    """1 - exp(-1 / C), C packets a second: the average follows within about a second (Floyd, Gummadi, Shenker 2001).

    The computation uses decimals, which round alike on all machines.
    """
    if rate is None:
        return WEIGHT
    with localcontext(prec=40):
        return float(1 - (-Decimal(8 * average) / Decimal(int(rate))).exp())

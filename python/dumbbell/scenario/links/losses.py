"""Processes that lose packets."""

from __future__ import annotations

from itertools import pairwise
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Discriminator, Field, Tag, model_validator

from dumbbell.scenario.links.part import LinkPart
from dumbbell.scenario.table import shorthand, tag_by
from dumbbell.scenario.traces import File, holding, indices
from dumbbell.units import Correlation, Percent, QuantityError

_ALL, _NONE = Percent.parse("100 %"), Percent.parse("0 %")


class AnyLoss(LinkPart):
    """Keys that all loss processes have."""

    position: Literal["before-queue", "after-queue"] = Field(
        default="before-queue",
        description="Place of the losses: before a packet reaches the queue, or after it has left the serializer "
        "and taken its share of the rate.",
    )

    def in_plan(self) -> dict[str, object]:
        """The model as the crate `plan` declares its parameters; the plan has a list of processes for each position."""
        found = super().in_plan()
        del found["position"]
        return found


class Independent(AnyLoss):
    """Each packet is lost independently, with the same probability."""

    model: Literal["independent"] = Field(
        default="independent", description="Each packet is lost independently, with the same probability."
    )
    rate: Percent = Field(description="Share of packets that are lost.")

    @property
    def has_effect(self) -> bool:
        """True if any packet is lost."""
        return bool(self.rate.percent)


class Correlated(AnyLoss):
    """Losses in clusters: a two-state Markov chain that keeps the rate."""

    model: Literal["correlated"] = Field(
        description="Losses in clusters: a Markov chain of two states that keeps `rate`. `correlation` is that of a "
        "packet's fate with that of the one before."
    )
    rate: Percent = Field(description="Share of packets that are lost.")
    correlation: Correlation = Field(description="Correlation of a packet's fate with that of the packet before.")


class Netem(AnyLoss):
    """netem's `loss PERCENT CORRELATION`, whose real rate falls as the correlation rises."""

    model: Literal["netem"] = Field(
        description="netem's `loss PERCENT CORRELATION`, whose real rate falls as the correlation rises."
    )
    rate: Percent = Field(description="Same as netem's PERCENT.")
    correlation: Correlation = Field(default=Correlation.parse("0 %"), description="Same as netem's CORRELATION.")


class GilbertElliott(AnyLoss):
    """A good and a bad state, each with its own loss (netem's `gemodel`)."""

    model: Literal["gilbert-elliott"] = Field(
        description="A good and a bad state; `p` from good to bad, `r` back, per packet. netem's `gemodel` with 1-h "
        "= `loss_bad`, 1-k = `loss_good`."
    )
    p: Percent = Field(description="Probability to go from good to bad, per packet.")
    r: Percent = Field(description="Probability to go from bad to good, per packet.")
    loss_bad: Percent = Field(default=_ALL, description="Share lost in the bad state: netem's 1-h.")
    loss_good: Percent = Field(default=_NONE, description="Share lost in the good state: netem's 1-k.")


class FourState(AnyLoss):
    """netem's `loss state`: a gap with isolated losses and a burst with isolated arrivals."""

    model: Literal["four-state"] = Field(
        description="netem's `loss state`: 1 received in a gap, 2 received in a burst, 3 lost in a burst, 4 lost alone."
    )
    p13: Percent = Field(description="Probability to go from 1 (received, in a gap) to 3 (lost, in a burst).")
    p31: Percent | None = Field(default=None, description="Probability to go from 3 to 1. Default: 100 % - `p13`.")
    p32: Percent = Field(default=_NONE, description="Probability to go from 3 to 2 (received, in a burst).")
    p23: Percent = Field(default=_ALL, description="Probability to go from 2 to 3.")
    p14: Percent = Field(default=_NONE, description="Probability to go from 1 to 4 (lost alone, in a gap).")

    @property
    def leaves_3(self) -> Percent:
        """p31 with its default."""
        return Percent(100 - self.p13.percent) if self.p31 is None else self.p31

    def in_plan(self) -> dict[str, object]:
        """The model with p31 in any case."""
        return {**super().in_plan(), "p31": self.leaves_3.probability}

    @model_validator(mode="after")
    def _check(self) -> FourState:
        for a, b in (("p13", "p14"), ("p31", "p32")):
            first = self.leaves_3 if a == "p31" else self.p13
            if first.percent + getattr(self, b).percent > 100:
                what = f"{a} and {b} make more than 100 %"
                raise QuantityError(what, "at most 100 % for all ways out of a state", f"lower {a} or {b}")
        return self


class Burst(AnyLoss):
    """Bursts of equal length that begin at random."""

    model: Literal["burst"] = Field(
        description="Bursts of `packets` packets that begin at random; `rate` is the share that is lost in all."
    )
    rate: Percent = Field(description="Share of packets that are lost.")
    packets: int = Field(
        ge=1, le=1_000_000, strict=True, description="Packets in a row that each burst loses.", examples=[4]
    )


class Periodic(AnyLoss):
    """Every nth packet."""

    model: Literal["periodic"] = Field(
        description="Every nth packet (`every`); `offset` packets pass before the first loss."
    )
    every: int = Field(ge=1, le=1 << 53, strict=True, description="n.", examples=[100])
    offset: int | None = Field(
        default=None, ge=0, strict=True, description="Packets that pass before the first loss. Default: `every` - 1."
    )

    def in_plan(self) -> dict[str, object]:
        """The model with the offset in any case."""
        return {**super().in_plan(), "offset": self.every - 1 if self.offset is None else self.offset}

    @model_validator(mode="after")
    def _check(self) -> Periodic:
        if self.offset is not None and self.offset >= self.every:
            what = f"offset = {self.offset} is not below every = {self.every}"
            raise QuantityError(what, f"0 to {self.every - 1}", "leave offset out to lose the nth packet first")
        return self


class LossTrace(AnyLoss):
    """Recorded losses."""

    model: Literal["trace"] = Field(
        description="The packets with these indices, counted from 0: in a file, or in the scenario."
    )
    file: Annotated[File, holding(indices)] | None = Field(
        default=None, description="File with the index of a lost packet per line, counted from 0 and rising."
    )
    lost: list[Annotated[int, Field(ge=0, le=1 << 53, strict=True)]] | None = Field(
        default=None, min_length=1, description="The indices in the scenario: [3, 17, 18]."
    )
    repeat: int | None = Field(
        default=None,
        ge=1,
        le=1 << 53,
        strict=True,
        description="Packets after which it begins again. Default: never.",
    )

    def lost_packets(self) -> list[int]:
        """Indices of lost packets, rising."""
        return list(indices(self.file.text)) if self.file else list(self.lost or [])

    def in_plan(self) -> dict[str, object]:
        """The model without the file: the plan holds its indices."""
        return {"model": self.model, "lost": self.lost_packets(), "period": self.repeat}

    @model_validator(mode="after")
    def _check(self) -> LossTrace:
        hint = "write lost = [3, 17]"
        if (self.file is None) == (self.lost is None):
            what = "neither file nor lost" if self.file is None else "both file and lost"
            raise QuantityError(what, "one of them", hint)
        found = self.lost_packets()
        if any(after <= before for before, after in pairwise(found)):
            raise QuantityError("lost does not rise", "indices that rise, each once", hint)
        if self.repeat is not None and found[-1] >= self.repeat:
            what = f"packet {found[-1]} lies beyond repeat = {self.repeat}"
            raise QuantityError(what, f"at least {found[-1] + 1}, the packets of the whole record", "raise repeat")
        return self


MODELS: dict[str, type[AnyLoss]] = {
    "independent": Independent,
    "correlated": Correlated,
    "netem": Netem,
    "gilbert-elliott": GilbertElliott,
    "four-state": FourState,
    "burst": Burst,
    "periodic": Periodic,
    "trace": LossTrace,
}
"""Tables by the names of their models."""


LossTable = Annotated[
    Annotated[Independent, Tag("@Independent")]
    | Annotated[Correlated, Tag("@Correlated")]
    | Annotated[Netem, Tag("@Netem")]
    | Annotated[GilbertElliott, Tag("@GilbertElliott")]
    | Annotated[FourState, Tag("@FourState")]
    | Annotated[Burst, Tag("@Burst")]
    | Annotated[Periodic, Tag("@Periodic")]
    | Annotated[LossTrace, Tag("@LossTrace")],
    Discriminator(tag_by("model", MODELS, "independent")),
]


def _losses(value: Any) -> Any:
    if value == "none":
        return []
    return [shorthand("rate", part) for part in (value if isinstance(value, list) else [value])]


LinkLoss = Annotated[
    list[LossTable],
    BeforeValidator(_losses, json_schema_input_type=Percent | Literal["none"] | LossTable | list[Percent | LossTable]),
]
"""Processes, each on its own."""

"""The keys of a link: what the bottleneck, its other direction and an event are made of."""

from __future__ import annotations

from functools import cache
from typing import Annotated, Final, Literal

from pydantic import ConfigDict, Field, model_validator

from dumbbell.scenario.links.delays import AnyDelay, LinkJitter, LinkReorder, least_delay
from dumbbell.scenario.links.losses import LinkLoss
from dumbbell.scenario.links.part import LinkPart, LinkSometimes
from dumbbell.scenario.links.queues import LinkQueue
from dumbbell.scenario.links.rates import LinkRate
from dumbbell.scenario.table import Table, word_for_none
from dumbbell.units import Amount, BufferSize, Duration, Packets, QuantityError, Rate, Size, Time


class Policer(LinkPart):
    """A token bucket that drops what finds too few tokens."""

    rate: Rate = Field(description="Rate of tokens.")
    burst: Amount = Field(description="Size of the bucket, at least a full frame. It is full at the start.")


_SHORTEST = 10_000
"""Nanoseconds from slot to slot."""


class Slots(LinkPart):
    """The link sends now and then only, several packets at once, as a shared channel that aggregates."""

    interval: Duration | None = Field(
        default=None, ge=_SHORTEST, description="Constant time from one slot to the next."
    )
    min_interval: Duration | None = Field(
        default=None,
        ge=_SHORTEST,
        description="Least time to the next slot, which is drawn uniformly.",
    )
    max_interval: Duration | None = Field(default=None, ge=_SHORTEST, description="Longest time to the next slot.")
    packets: int | None = Field(
        default=None, ge=1, le=1 << 30, strict=True, description="The most packets in a slot. Default: all that wait."
    )
    bytes: Amount | None = Field(
        default=None,
        description="Limit of a slot in bytes. Default: no limit.",
    )

    @property
    def intervals(self) -> tuple[Time, Time]:
        """The least and the most."""
        least, most = self.interval or self.min_interval, self.interval or self.max_interval
        assert least is not None
        assert most is not None
        return least, most

    def in_plan(self) -> dict[str, object]:
        """The slots as the crate `plan` declares them: a constant interval is both the least and the most."""
        least, most = self.intervals
        size = None if self.bytes is None else int(self.bytes)
        return {
            "min_interval_ns": int(least),
            "max_interval_ns": int(most),
            "packets": self.packets,
            "bytes": size,
        }

    @model_validator(mode="after")
    def _check(self) -> Slots:
        both = self.min_interval is not None and self.max_interval is not None
        hint = 'write { interval = "2 ms" } or { min_interval = "1 ms", max_interval = "5 ms" }'
        if (self.interval is None) != both or (self.min_interval is None) != (self.max_interval is None):
            raise QuantityError("no interval", "either interval, or min_interval and max_interval", hint)
        if both and self.intervals[0] > self.intervals[1]:
            what = f"min_interval = {self.min_interval} is above max_interval = {self.max_interval}"
            raise QuantityError(what, "min_interval at most max_interval", hint)
        return self


LinkPolicer = Annotated[Policer | None, *word_for_none("none", Policer | Literal["none"])]
LinkSlots = Annotated[Slots | None, *word_for_none("none", Slots | Literal["none"])]
DelayLine = Annotated[Packets | None, *word_for_none("unlimited", Packets | Literal["unlimited"])]


class LinkKeys(Table):
    """The keys that an event may change, too. A key that is not given is not set: `model_fields_set` tells."""

    up: bool = Field(
        default=True, strict=True, description="false: the link is down, and packets that arrive or wait are dropped."
    )
    rate: LinkRate = Field(
        default=None,
        description="Rate of whole frames; or a table, for a rate that changes by itself. `reverse`: as forward.",
    )
    buffer: BufferSize | None = Field(
        default=None,
        description="Room for waiting packets: bytes of whole frames, packets, a time at the link's rate, or "
        'multiples of the BDP. Default: `"1 bdp"`, but at least 16 packets and 1 ms, or `"unlimited"` '
        "where the rate is; `reverse`: as forward, by its own rate.",
    )
    queue: LinkQueue | None = Field(
        default=None,
        description="Queue discipline: its name, or a table with its kind and parameters. Default: "
        '`"drop-tail"`; `reverse`: as forward.',
    )
    delay: AnyDelay | None = Field(
        default=None,
        description="Propagation delay in this direction; or { trace = FILE }. Default: half of the smallest RTT, or "
        "what the other direction leaves of it; `reverse`: as forward, at most what is left.",
    )
    jitter: LinkJitter = Field(
        default=None,
        description='Delay added per packet: a time, uniform from 0; or a table, such as { distribution = "normal", '
        'mean = "2 ms", sd = "1 ms" }. Default: none.',
    )
    reordering: bool = Field(
        default=False,
        strict=True,
        description="true: packets whose jitter is smaller overtake others.",
    )
    reorder: LinkReorder = Field(
        default=None, description='Packets that skip the delay, e.g. "1 %", or a table. Default: none.'
    )
    delay_line: DelayLine = Field(
        default=None,
        description="The most packets that may propagate at a time, as netem's limit; more are dropped. Default: "
        '`"unlimited"`.',
    )
    loss: LinkLoss = Field(
        default=[],
        description='Random loss, e.g. "1 %" or { rate = "1 %", position = "after-queue" }; or a list. Default: none.',
    )
    duplicate: LinkSometimes = Field(default=None, description='Packets that come twice, e.g. "0.1 %". Default: none.')
    corrupt: LinkSometimes = Field(
        default=None, description='Packets of which a bit is flipped, e.g. "0.1 %". Default: none.'
    )
    mark: LinkSometimes = Field(
        default=None,
        description='Packets of ECN-capable flows marked Congestion Experienced at random, e.g. "1 %". Default: none.',
    )
    policer: LinkPolicer = Field(
        default=None,
        description='Drops what exceeds a rate, e.g. { rate = "8 Mbit/s", burst = "30 kB" }. Default: none.',
    )
    slots: LinkSlots = Field(
        default=None,
        description='When the link may send, e.g. { interval = "2 ms", packets = 32 }. Default: at any time.',
    )

    def given(self) -> dict[str, object]:
        """The link's keys that are written down, with their values."""
        written = self.model_fields_set
        if not written:
            return {}
        given = {key: getattr(self, key) for key in _keys() if key in written and not self._is_blank(key)}
        if "delay" in given:
            given["delay"] = least_delay(given["delay"])
        return given

    def _is_blank(self, key: str) -> bool:
        """True for `None` from Python, for a key that does not take it as a value."""
        return getattr(self, key) is None and key in ("buffer", "queue", "overhead", "delay")


class DirectionKeys(LinkKeys):
    """The keys that a direction has from the start of the run to its end, too."""

    overhead: Size | None = Field(
        default=None,
        le=65535,
        description="Added to each frame's size, in the rate and in the buffer, e.g. 24 B for Ethernet's preamble, "
        'FCS and gap. Default: `"0 B"`; `reverse`: as forward.',
    )


@cache
def _keys() -> tuple[str, ...]:
    """The keys of a direction, in the order of their declaration."""
    return tuple(DirectionKeys.model_fields)


IMPAIRMENTS: Final = {
    "policer": "policer",
    "slots": "slots",
    "jitter": "jitter",
    "reorder": "reorder",
    "duplicate": "duplication",
    "corrupt": "corruption",
    "mark": "marking",
}
"""Keys whose tables the plan's link has as they are, and its names for them. Losses stand in lists of their own."""

AS_FORWARD = ("rate", "buffer", "queue", "overhead")
"""Keys that the reverse direction takes over unless they are given."""


TAKES_OVER: Final = ConfigDict(json_schema_extra={"x-as-forward": [*AS_FORWARD, "delay"]})
"""For forms: keys of a reverse direction that are as forward, the delay as far as possible, unless they are given."""


class Reverse(DirectionKeys):
    """The bottleneck from right to left: rate, buffer, queue and overhead are as forward unless given."""

    model_config = TAKES_OVER


class Bottleneck(DirectionKeys):
    """The shaped link from left to right."""

    rate: LinkRate = Field(description="Rate of whole frames; or a table, for a rate that changes by itself.")
    reverse: Reverse = Field(default=Reverse(), description="The direction from right to left, where it differs.")

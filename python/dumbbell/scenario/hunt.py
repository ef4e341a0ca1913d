"""The space that `dumbbell hunt` searches: `[hunt]`. It changes no run.

The module has the shape of the table. Defaults that depend on the scenario are in `dumbbell.hunt.space`.
"""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal, get_args

from pydantic import AfterValidator, BeforeValidator, Field

from dumbbell.scenario.table import Table
from dumbbell.units import Amount, Duration, Percent, QuantityError, Rate

Kind = Literal["rate", "loss", "delay", "jitter", "reorder", "policer", "cross", "pulse", "short"]
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
COMMON: Final[tuple[Kind, ...]] = ("rate", "loss", "delay", "reorder", "cross", "pulse", "short")
"""Kinds of events of a search that names none."""


def _pair(value: Any) -> Any:
    if not isinstance(value, list | tuple) or len(value) != 2:
        raise QuantityError("not a pair", "the least and the largest value", 'write ["1 ms", "50 ms"]')
    return value


def _rising(pair: tuple[Any, Any]) -> tuple[Any, Any]:
    low, high = (one.percent if isinstance(one, Percent) else one for one in pair)
    if low > high:
        raise QuantityError(
            f"{pair[0]} is above {pair[1]}", "the least value first", f'write ["{pair[1]}", "{pair[0]}"]'
        )
    if not low:
        raise QuantityError("begins at zero", "a least value above zero", "raise the first value")
    return pair


_checks: Final = (BeforeValidator(_pair), AfterValidator(_rising))
Rates = Annotated[tuple[Rate, Rate], *_checks]
Times = Annotated[tuple[Duration, Duration], *_checks]
Sizes = Annotated[tuple[Amount, Amount], *_checks]
Shares = Annotated[tuple[Percent, Percent], *_checks]


def _each_once(kinds: list[Kind]) -> list[Kind]:
    if len(set(kinds)) < len(kinds):
        raise QuantityError("a kind twice", "each kind once", 'write kinds = ["loss", "delay"]')
    return kinds


class Hunt(Table):
    """Search space of `dumbbell hunt`: bounds of the events that it tries."""

    kinds: Annotated[list[Kind], AfterValidator(_each_once)] = Field(
        default=list(COMMON),
        min_length=1,
        description="Kinds of events. `rate`: a new rate. `loss`: single packets. `delay`, `jitter`: added for "
        "a time. `reorder`: packets overtake for a time. `policer`: drops for a time. `cross`: UDP for a time. "
        "`pulse`: UDP bursts at equal intervals, to the end. `short`: a TCP transfer.",
    )
    link: str = Field(default="bottleneck", description="The link that events change.")
    flows: list[str] = Field(
        default=[],
        description="Entries of `flows` under test, by id. Default: all entries of TCP and QUIC.",
        examples=[["f1"]],
    )
    most: int = Field(default=6, ge=1, le=64, strict=True, description="The most events of a candidate.")
    rate: Rates | None = Field(
        default=None, description="Rates of `rate`. Default: a quarter of the link's mean rate to twice that rate."
    )
    losses: int = Field(default=8, ge=1, le=1000, strict=True, description="The most packets that one `loss` takes.")
    delay: Times | None = Field(default=None, description="Delays that `delay` adds. Default: 1 ms to twice the RTT.")
    jitter: Times | None = Field(
        default=None, description="Largest delays of `jitter`, uniform from 0. Default: 1 ms to the RTT."
    )
    reorder: Shares | None = Field(
        default=None, description="Shares of packets that overtake others. Default: 1 % to 50 %."
    )
    policer: Rates | None = Field(
        default=None, description="Rates of `policer`. Default: a quarter of the link's mean rate to that rate."
    )
    cross: Rates | None = Field(
        default=None,
        description="Rates of `cross` and `pulse`. Default: a tenth of the link's mean rate to twice that rate.",
    )
    sizes: Sizes | None = Field(default=None, description="Bytes of `short`. Default: 15 kB to 1 MB.")
    length: Times | None = Field(
        default=None, description="Length of an event or a burst. Default: 10 ms to a fifth of the run."
    )
    period: Times | None = Field(
        default=None, description="Time from one burst of `pulse` to the next. Default: 100 ms to 3 s."
    )

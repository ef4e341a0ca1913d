"""RED's thresholds and weight, where the scenario leaves them to the defaults."""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction

from dumbbell.scenario.links.queues import Red
from dumbbell.units import Amount, BufferSize, QuantityError, Rate

RATIO = 3
"""max_th over min_th (Floyd, Gummadi, Shenker 2001)."""

WEIGHT = 0.002
"""w_q of a link whose rate is not known, and of RED that does not adapt (Floyd and Jacobson 1993)."""


def settled(red: Red, rate: Rate | None, buffer: int | None, frame: int, rtt: int) -> Red:
    """All parameters given, thresholds in bytes.

    `buffer` is in bytes (`None`: unlimited), `rtt` in ns. Raises `QuantityError` for thresholds that make no RED.
    """
    adaptive = red.adaptive or red.kind == "ared"
    average = red.average_packet or Amount(frame)
    least, high = (_bytes(name, getattr(red, name), rate, frame, rtt) for name in ("min_th", "max_th"))
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
    return red.model_copy(
        update={
            "min_th": BufferSize("bytes", Fraction(low)),
            "max_th": BufferSize("bytes", Fraction(high)),
            "weight": red.weight or (_weight(rate, average) if adaptive else WEIGHT),
            "average_packet": average,
            "adaptive": adaptive,
        }
    )


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

    Reckoned in decimals, which round alike on all machines.
    """
    if rate is None:
        return WEIGHT
    with localcontext(prec=40):
        return float(1 - (-Decimal(8 * average) / Decimal(int(rate))).exp())

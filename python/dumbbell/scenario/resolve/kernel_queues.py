"""Queues that the kernel's disciplines have, and those of their keys that it cannot obey as we mean them.

The crate `plan` says the same queues in the words of tc(8).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Final

from dumbbell.scenario.links.queues import AnyQueue, Cake, Codel, Fifo, Fq, FqCodel, Pie
from dumbbell.scenario.links.red import Red
from dumbbell.scenario.resolve.direction import WrittenLink
from dumbbell.scenario.source import Finding, Key
from dumbbell.units import QuantityError, Rate

US: Final = 1000
"""Nanoseconds: tc's unit of time."""
EITHER_OURS: Final = 'or links = "ours"'
_ROOM: Final = {
    "codel": (("packets", "unlimited"), "the kernel's CoDel counts packets", "100 packets", "in packets"),
    "fq-codel": (("packets", "unlimited"), "the kernel's FQ-CoDel counts packets", "1000 packets", "in packets"),
    "pie": (("packets", "unlimited"), "the kernel's PIE counts packets", "1000 packets", "in packets"),
    "red": (("bytes", "unlimited"), "the kernel's RED counts bytes", "100 kB", "in bytes"),
    "fq": (("unlimited",), "the kernel's fq drops what comes, not what the longest queue has", "unlimited", "no limit"),
    "cake": (("unlimited",), "the kernel's CAKE counts memory", "unlimited", "no limit"),
}
"""Queue -> the units of a buffer that the kernel has too, why it has no other, an example, and how to give it."""
_NOT_ADAPTIVE: Final = "the kernel's RED does not adapt when tc sets it up"
_PIE_BURST: Final = 150_000_000
_PIE_GAIN: Final = 16
"""Steps of tc's gains in 1 Hz."""
_PIE_MOST: Final = 2
"""Hz: the largest gain that tc takes."""


def check_queue(link: WrittenLink) -> Iterator[Finding]:
    """The keys of a link's queue, and its buffer, that keep the kernel from carrying its packets."""
    at: Key = (*link.at, "queue") if "queue" in link.given else ("emulate", "links")
    try:
        start = link.start.settled(link.rtt)
    except QuantityError:  # found elsewhere
        return
    queue = start.queue
    if queue.kind == "drop-tail" and queue == Fifo(kind="drop-tail"):
        return
    if queue.kind not in _ROOM:
        what = f"of the kernel's queues drop-tail, {', '.join(_ROOM)} can be had, and not {queue.kind}"
        if queue.kind == "drop-tail":
            what = "the kernel's drop-tail marks no packets"
        elif queue.kind == "ared":
            what = _NOT_ADAPTIVE
        yield _refusal(at, what, "drop-tail or codel")
        return
    kinds, what, example, how = _ROOM[queue.kind]
    if start.buffer.kind not in kinds:
        where = (*link.at, "buffer") if "buffer" in link.given else at
        what = f"{what}, and the buffer of {link.name} has another unit"
        yield Finding(where, what, f'buffer = "{example}"', f"give the buffer {how}, {EITHER_OURS}")
    yield from _keys(at, queue, start.nominal)


def _keys(at: Key, queue: AnyQueue, rate: Rate | None) -> Iterator[Finding]:
    times = {name: getattr(queue, name, None) for name in ("target", "interval", "ce_threshold", "t_update")}
    for name, time in times.items():
        if time is not None and time % US:
            yield _refusal((*at, name), f"{time} is not given to tc, which counts whole microseconds", "1 us or more")
    match queue:
        case Codel() | FqCodel() if queue.ecn and queue.ce_threshold is not None:
            what = "nothing tells for which of two reasons the kernel's CoDel has marked a packet"
            yield _refusal((*at, "ce_threshold"), what, "ecn or ce_threshold")
        case Pie():
            yield from _pie(at, queue)
        case Red():
            yield from _red(at, queue)
        case Fq() if queue.flows & (queue.flows - 1):
            nearest = 1 << (queue.flows - 1).bit_length()
            yield _refusal((*at, "flows"), "the kernel's fq has powers of two", str(nearest))
        case Cake():
            yield from _cake(at, queue, rate)
        case _:
            pass


def _pie(at: Key, queue: Pie) -> Iterator[Finding]:
    if queue.max_burst != _PIE_BURST:
        yield _refusal((*at, "max_burst"), "the kernel's PIE has a burst of its own", "150 ms")
    if queue.ecn and queue.mark_ecnth.percent != 10:
        yield _refusal((*at, "mark_ecnth"), "the kernel's PIE drops above a probability of its own", "10 %")
    for name in ("alpha", "beta"):
        gain = getattr(queue, name)
        if not (gain * _PIE_GAIN).is_integer() or gain > _PIE_MOST:
            nearest = min(round(gain * _PIE_GAIN) / _PIE_GAIN, _PIE_MOST)
            what = f"{gain} is not given to tc, which counts sixteenths up to {_PIE_MOST}"
            yield _refusal((*at, name), what, str(nearest))


def _cake(at: Key, queue: Cake, rate: Rate | None) -> Iterator[Finding]:
    if queue.rtt % US:
        yield _refusal((*at, "rtt"), "tc counts whole microseconds", "1 us or more")
    if not queue.ecn:
        yield _refusal((*at, "ecn"), "the kernel's CAKE always marks", "true")
    by_rate = Cake(kind="cake").settled(rate, None, 0, 0, 0).quantum
    if queue.quantum != by_rate:
        yield _refusal((*at, "quantum"), "the kernel's CAKE has the quantum of its rate", f"{by_rate} B")


def _red(at: Key, queue: Red) -> Iterator[Finding]:
    if queue.gentle:
        yield _refusal((*at, "gentle"), "the kernel's RED is not gentle", "false")
    if queue.adaptive:
        yield _refusal((*at, "adaptive"), _NOT_ADAPTIVE, "false")
    assert queue.weight is not None, "it is settled"
    if math.frexp(queue.weight)[0] != 0.5:
        nearest = 2.0 ** round(math.log2(queue.weight))
        what = f"the kernel's RED weighs by powers of two, and {queue.weight} is none"
        yield _refusal((*at, "weight"), what, str(nearest))


def _refusal(at: Key, what: str, expected: str) -> Finding:
    return Finding(at, what, expected, f"change the key, {EITHER_OURS}")

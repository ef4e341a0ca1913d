"""A link as the plan has it, defaults filled in."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from dumbbell.plan import wire
from dumbbell.plan.types import (
    Buffer,
    BufferBytes,
    BufferPackets,
    Link,
    Loss,
    OpportunitiesVariation,
    StepsDelays,
    StepsVariation,
    Variation,
)
from dumbbell.scenario.links.delays import Traced
from dumbbell.scenario.links.link import IMPAIRMENTS
from dumbbell.scenario.links.part import LinkPart
from dumbbell.scenario.links.rates import Trace, Varying
from dumbbell.scenario.resolve.direction import Direction
from dumbbell.scenario.resolve.network import ShapedLink
from dumbbell.units import BufferSize, Time


def shaped(of: ShapedLink, link: Direction, variation: Variation | None = None) -> Link:
    """One direction of a link, settled, as it is at some time. `variation`: of its rate, if that is known."""
    nominal, ends = link.nominal, of.ends
    return Link(
        name=of.name,
        from_=of.from_,
        to=of.to,
        from_interface=ends.from_interface,
        to_interface=ends.to_interface,
        cost=ends.cost,
        up=link.up,
        carrier=link.carrier,
        rate_bps=None if nominal is None else int(nominal),
        variation=variation or _variation(link),
        overhead_bytes=int(link.overhead),
        buffer=_buffer(link.buffer),
        queue=_part("queue", link.queue),
        delay_ns=int(link.delay),
        delays=_delays(link),
        reordering=link.reordering,
        delay_line_packets=None if link.delay_line is None else int(link.delay_line),
        loss_before=_losses("loss_before", link, "before-queue"),
        loss_after=_losses("loss_after", link, "after-queue"),
        **{name: _part(name, getattr(link, key)) for key, name in IMPAIRMENTS.items()},
    )


def at_first(links: Sequence[ShapedLink]) -> Iterator[Link]:
    """Each link as it is at the start. Links with the same values are worked out once."""
    known: dict[int, Link] = {}
    for link in links:
        alike = known.get(id(link.first))
        if alike is None:
            alike = known[id(link.first)] = shaped(link, link.first)
        ends = link.ends
        yield replace(
            alike,
            name=link.name,
            from_=link.from_,
            to=link.to,
            from_interface=ends.from_interface,
            to_interface=ends.to_interface,
            cost=ends.cost,
        )


def later(link: ShapedLink) -> Iterator[tuple[Time, Link]]:
    """The link after each of its changes, with their times. A rate that stays the same is the same object."""
    rate, variation = link.first.rate, _variation(link.first)
    for at, state in link.states[1:]:
        if state.rate is not rate:
            rate, variation = state.rate, _variation(state)
        yield at, shaped(link, state, variation)


def _variation(link: Direction) -> Variation | None:
    match link.rate:
        case Varying() as rate:
            again = rate.begins_again
            return StepsVariation(steps=tuple(rate.steps()), period_ns=None if again is None else int(again))
        case Trace() as trace:
            carried = link.frame if trace.opportunity is None else int(trace.opportunity)
            return OpportunitiesVariation(times=tuple(trace.times()), bytes=carried, period_ns=trace.period)
        case _:
            return None


def _delays(link: Direction) -> StepsDelays | None:
    if not isinstance(link.delay, Traced):
        return None
    again = link.delay.course.period
    return StepsDelays(steps=link.delay.course.steps(), period_ns=None if again is None else int(again))


def _buffer(size: BufferSize) -> Buffer:
    match size.kind:
        case "unlimited":
            return "unlimited"
        case "packets":
            return BufferPackets(packets=int(size.amount))
        case "bytes":
            return BufferBytes(bytes=int(size.amount))
    raise TypeError(f"not settled: {size!r}")


def _part(name: str, part: LinkPart | None) -> Any:
    """The value of `name` in the plan's link."""
    return None if part is None else wire.field(Link, name, part.in_plan())


def _losses(name: str, link: Direction, position: str) -> tuple[Loss, ...]:
    there = [loss.in_plan() for loss in link.loss if loss.position == position]
    found: tuple[Loss, ...] = wire.field(Link, name, there) if there else ()
    return found

"""A link of the bottleneck as the plan has it, defaults filled in."""

from __future__ import annotations

from dumbbell.plan import wire
from dumbbell.plan.types import (
    Buffer,
    BufferBytes,
    BufferPackets,
    BurstLoss,
    CorrelatedLoss,
    Corruption,
    Distribution,
    Duplication,
    FourStateLoss,
    GilbertElliottLoss,
    IndependentLoss,
    Jitter,
    Link,
    Loss,
    NetemLoss,
    NormalDistribution,
    OpportunitiesVariation,
    ParetoDistribution,
    PeriodicLoss,
    Policer,
    Reorder,
    Slots,
    StepsVariation,
    TableDistribution,
    TraceLoss,
    UniformDistribution,
    Variation,
)
from dumbbell.scenario.links import delays, losses
from dumbbell.scenario.links.rates import Trace, Varying
from dumbbell.scenario.resolve.bottleneck import Direction
from dumbbell.units import BufferSize


def shaped(name: str, from_: str, to: str, link: Direction) -> Link:
    """One direction of the bottleneck, settled."""
    nominal = link.nominal
    return Link(
        name=name,
        from_=from_,
        to=to,
        up=link.up,
        rate_bps=None if nominal is None else int(nominal),
        variation=_variation(link),
        slots=_slots(link),
        policer=_policer(link),
        overhead_bytes=int(link.overhead),
        buffer=_buffer(link.buffer),
        queue=wire.queue(link.queue.in_plan()),
        delay_ns=int(link.delay),
        jitter=None if link.jitter is None else _jitter(link.jitter),
        reordering=link.reordering,
        reorder=None if link.reorder is None else _reorder(link.reorder),
        delay_line_packets=None if link.delay_line is None else int(link.delay_line),
        loss_before=tuple(_loss(loss) for loss in link.loss if loss.position == "before-queue"),
        loss_after=tuple(_loss(loss) for loss in link.loss if loss.position == "after-queue"),
        duplication=None if link.duplicate is None else Duplication(**_sometimes(link.duplicate)),
        corruption=None if link.corrupt is None else Corruption(**_sometimes(link.corrupt)),
    )


def transparent(name: str, from_: str, to: str, delay_ns: int) -> Link:
    """A link without a limit, on which nothing happens to a packet but its delay."""
    return Link(name=name, from_=from_, to=to, rate_bps=None, overhead_bytes=0, buffer="unlimited", delay_ns=delay_ns)


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


def _slots(link: Direction) -> Slots | None:
    if link.slots is None:
        return None
    least, most = link.slots.intervals
    size = link.slots.bytes
    return Slots(
        min_interval_ns=int(least),
        max_interval_ns=int(most),
        packets=link.slots.packets,
        bytes=None if size is None else int(size),
    )


def _policer(link: Direction) -> Policer | None:
    if link.policer is None:
        return None
    return Policer(rate_bps=int(link.policer.rate), burst_bytes=int(link.policer.burst))


def _buffer(size: BufferSize) -> Buffer:
    match size.kind:
        case "unlimited":
            return "unlimited"
        case "packets":
            return BufferPackets(packets=int(size.amount))
        case "bytes":
            return BufferBytes(bytes=int(size.amount))
    raise TypeError(f"not settled: {size!r}")


def _loss(loss: losses.AnyLoss) -> Loss:
    match loss:
        case losses.Independent():
            return IndependentLoss(probability=loss.rate.probability)
        case losses.Correlated() | losses.Netem():
            kind = CorrelatedLoss if loss.model == "correlated" else NetemLoss
            return kind(probability=loss.rate.probability, correlation=loss.correlation.probability)
        case losses.GilbertElliott():
            return GilbertElliottLoss(
                p=loss.p.probability,
                r=loss.r.probability,
                loss_bad=loss.loss_bad.probability,
                loss_good=loss.loss_good.probability,
            )
        case losses.FourState():
            return FourStateLoss(
                p13=loss.p13.probability,
                p32=loss.p32.probability,
                p23=loss.p23.probability,
                p14=loss.p14.probability,
                p31=loss.leaves_3.probability,
            )
        case losses.Burst():
            return BurstLoss(probability=loss.rate.probability, packets=loss.packets)
        case losses.Periodic():
            return PeriodicLoss(every=loss.every, offset=loss.every - 1 if loss.offset is None else loss.offset)
        case losses.LossTrace():
            return TraceLoss(lost=tuple(loss.lost_packets()), period=loss.repeat)
    raise TypeError(f"no such loss: {loss!r}")


def _jitter(jitter: delays.Jitter) -> Jitter:
    found: Distribution
    match jitter:
        case delays.Uniform():
            found = UniformDistribution(min_ns=int(jitter.min), max_ns=int(jitter.max))
        case delays.Normal():
            found = NormalDistribution(mean_ns=int(jitter.mean), sd_ns=int(jitter.sd))
        case delays.Pareto():
            found = ParetoDistribution(min_ns=int(jitter.min), shape=jitter.shape)
        case delays.Measured():
            found = TableDistribution(quantiles_ns=tuple(jitter.quantiles()))
    return Jitter(distribution=found, correlation=jitter.correlation.probability)


def _reorder(reorder: delays.Reorder) -> Reorder:
    return Reorder(**_sometimes(reorder), gap=reorder.gap, delay_ns=int(reorder.delay))


def _sometimes(value: losses.Sometimes | delays.Reorder) -> dict[str, float]:
    return {"probability": value.rate.probability, "correlation": value.correlation.probability}

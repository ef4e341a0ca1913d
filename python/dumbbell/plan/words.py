"""Describes a plan's links and events in words, each part with its unit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any

from dumbbell.counts import by_number, count, ordinal
from dumbbell.plan.network import peak_bps
from dumbbell.plan.types import (
    BufferBytes,
    BufferPackets,
    BurstLoss,
    Chance,
    CorrelatedLoss,
    DaemonChange,
    Distribution,
    ExitReady,
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
    Ready,
    Reorder,
    Slots,
    StepsDelays,
    StepsVariation,
    Stp,
    TableDistribution,
    ThresholdBytes,
    ThresholdPackets,
    ThresholdSojourn,
    TraceLoss,
    UniformDistribution,
)
from dumbbell.scenario.links.link import IMPAIRMENTS
from dumbbell.units import Rate, Size, Time


def ready(condition: Ready | None) -> str:
    """Says what a program is waited for."""
    if condition is None:
        return "-"
    return "at its end" if isinstance(condition, ExitReady) else f"{condition.kind} {condition.port}"


def daemon(change: DaemonChange) -> str:
    """`bgpd is killed`."""
    return f"{change.daemon} is {'started' if change.up else 'killed'}"


def rate(link: Link) -> str:
    """`100 Mbit/s`, or the mean of a rate that changes and how it does."""
    if link.rate_bps is None:
        return "unlimited"
    mean = _about(link.rate_bps)
    match link.variation:
        case StepsVariation(steps=steps, period_ns=period):
            rates = [bps for _, bps in steps]
            again = "" if period is None else f", again after {Time(period)}"
            return (
                f"{mean} on average: {count(len(steps), 'step')} from {_bps(min(rates))} to {_bps(max(rates))}{again}"
            )
        case OpportunitiesVariation(times=times, bytes=size, period_ns=period):
            chances = sum(n for _, n in times)
            peak = _about(peak_bps(link) or 0)
            each = f"{count(chances, 'opportunity', 'opportunities')} of {size} B"
            return f"{mean} on average, up to {peak}: {each}, again after {Time(period)}"
        case _:
            return str(Rate(link.rate_bps))


def _about(bps: int) -> str:
    """Four digits of a computed rate."""
    units = [(unit, size) for unit, size in Rate.grammar.units.items() if size <= max(bps, 1)]
    unit, size = max(units, key=lambda unit: unit[1])
    return f"{bps / size:.4g} {unit}"


def _bps(value: int) -> str:
    return str(Rate(value)) if value else "0"


def delay(link: Link) -> str:
    """`20 ms`, or the range of a delay that changes."""
    if not isinstance(link.delays, StepsDelays):
        return str(Time(link.delay_ns))
    steps, period = link.delays.steps, link.delays.period_ns
    most, again = max(ns for _, ns in steps), "" if period is None else f", again after {Time(period)}"
    return f"{Time(link.delay_ns)} to {Time(most)}: {len(steps)} steps{again}"


def buffer(link: Link, frame: int, rtt_ns: int) -> str:
    """The buffer in the plan's unit, then in the others, for full frames of `frame` bytes."""
    room, bps = link.buffer, link.rate_bps
    match room:
        case BufferPackets(packets=packets):
            size = packets * frame
            texts = [_packets(packets), str(Size(size))]
        case BufferBytes(bytes=size):
            texts = [str(Size(size)), _packets(size // frame)]
        case _:
            return room
    if bps:
        texts.append(f"{_four_digits(size * 8000 / bps)} ms")
    if bps and rtt_ns:
        texts.append(f"{_four_digits(size * 8 * 10**9 / (bps * rtt_ns))} bdp")
    return f"{texts[0]} ({', '.join(texts[1:])})"


def _four_digits(value: float) -> str:
    """`39750`, `3.975`: exact to four digits, and never with an exponent."""
    return f"{float(f'{value:.4g}'):.0f}" if value >= 1000 else f"{value:.4g}"


def queue(link: Link) -> str:
    """The discipline and its parameters."""
    texts = _parameters(link.queue)
    return link.queue.kind + (f" ({texts})" if texts else "")


def _parameters(part: Any) -> str:
    """All parameters of a part of a link that are on."""
    given = {field.name: getattr(part, field.name) for field in fields(part) if field.name not in ("kind", "model")}
    return ", ".join(text for key, value in given.items() if (text := _parameter(key, value)))


def _parameter(key: str, value: Any) -> str:
    """`target_ns = 5000000` as `target 5 ms`; nothing for what is off."""
    if value is None or value is False:
        return ""
    name, _, unit = key.rpartition("_")
    match key, value:
        case _, ThresholdSojourn(sojourn=time):
            return f"marks above {Time(time)}"
        case _, ThresholdBytes(bytes=size):
            return f"marks above {Size(size)}"
        case _, ThresholdPackets(packets=packets):
            return f"marks above {_packets(packets)}"
        case "ecn", True:
            return "marks with ECN"
        case _, True:
            return key
    if unit == "ns":
        return f"{name} {Time(value)}"
    if unit == "bytes":
        return f"{name} {Size(value)}"
    return f"{key} {value:.6g}" if isinstance(value, float) else f"{key} {value}"


def _packets(n: int) -> str:
    """A number of packets as a scenario writes it, without a comma."""
    return f"{n} {by_number(n, 'packet', 'packets')}"


def losses(link: Link) -> str:
    """All processes that lose packets, and their places."""
    texts = [f"{_loss(loss)} before the queue" for loss in link.loss_before]
    texts += [f"{_loss(loss)} after it" for loss in link.loss_after]
    return ", ".join(texts) or "none"


def _loss(loss: Loss) -> str:
    match loss:
        case IndependentLoss():
            return percent(loss.probability)
        case CorrelatedLoss():
            return f"{percent(loss.probability)} with correlation {percent(loss.correlation)}"
        case NetemLoss():
            return f"{percent(loss.probability)} by netem's correlator at {percent(loss.correlation)}"
        case GilbertElliottLoss():
            lost = f"loss {percent(loss.loss_bad)} and {percent(loss.loss_good)}"
            return f"Gilbert-Elliott (p {percent(loss.p)}, r {percent(loss.r)}, {lost})"
        case FourStateLoss():
            chances = ", ".join(f"{key} {percent(getattr(loss, key))}" for key in ("p13", "p31", "p32", "p23", "p14"))
            return f"four states ({chances})"
        case BurstLoss():
            return f"{percent(loss.probability)} in bursts of {loss.packets}"
        case PeriodicLoss():
            return f"every {ordinal(loss.every)} packet, first after {loss.offset}"
        case TraceLoss():
            again = "" if loss.period is None else f", again after {loss.period}"
            return f"{count(len(loss.lost), 'packet')} of a trace{again}"
    return f"{loss.model} ({_parameters(loss)})"


def impairments(link: Link) -> list[str]:
    """The other impairments of packets; empty if there are none."""
    texts = [] if link.up else [_down(link)]
    if (line := link.delay_line_packets) is not None:
        texts.append(f"delay line of {_packets(line)}")
    for name in IMPAIRMENTS.values():
        if (part := getattr(link, name)) is not None:
            texts.append(_impairment(name, part, link))
    return texts


def _down(link: Link) -> str:
    return "down, without carrier" if link.carrier == "lost" else "down"


_HAPPENED = {"duplication": "duplicated", "corruption": "corrupted"}
"""The participles of impairments; others go by their names."""


def _impairment(name: str, part: Any, link: Link) -> str:
    match part:
        case Policer():
            return f"policer {Rate(part.rate_bps)}, burst {Size(part.burst_bytes)}"
        case Slots():
            return _slots(part)
        case Jitter():
            order = "overtaking" if link.reordering else "in order"
            return f"jitter {_jitter(part.distribution)}{_correlated(part)}, {order}"
        case Reorder():
            gap = "" if part.gap == 1 else f" of every {ordinal(part.gap)} packet"
            return f"{percent(part.probability)}{gap} go ahead after {Time(part.delay_ns)}{_correlated(part)}"
        case Chance():
            return f"{percent(part.probability)} {_HAPPENED.get(name, name)}{_correlated(part)}"
    return f"{name} ({_parameters(part)})"


def _slots(slots: Slots) -> str:
    least, most = Time(slots.min_interval_ns), Time(slots.max_interval_ns)
    limits = [_packets(slots.packets)] if slots.packets else []
    limits += [str(Size(slots.bytes))] if slots.bytes else []
    every = str(least) if least == most else f"{least} to {most}"
    return f"a slot every {every}" + (f", at most {' and '.join(limits)}" if limits else "")


def _jitter(distribution: Distribution) -> str:
    match distribution:
        case UniformDistribution():
            return f"uniform {Time(distribution.min_ns)} to {Time(distribution.max_ns)}"
        case NormalDistribution():
            return f"normal, mean {Time(distribution.mean_ns)}, sd {Time(distribution.sd_ns)}"
        case ParetoDistribution():
            return f"Pareto, min {Time(distribution.min_ns)}, shape {distribution.shape:g}"
        case TableDistribution():
            quantiles = distribution.quantiles_ns
            return f"measured, {Time(quantiles[0])} to {Time(quantiles[-1])}"


def _correlated(part: Jitter | Reorder | Chance) -> str:
    return f", correlation {percent(part.correlation)}" if part.correlation else ""


def percent(probability: float) -> str:
    """`0.01` as `1 %`."""
    return f"{100 * probability:.4g} %"


def changes(before: Link, after: Link, frame: int, rtt_ns: int) -> Sequence[str]:
    """The changes that an event makes to a link, on which a full frame has `frame` bytes."""
    texts = []
    if before.up != after.up:
        texts.append("up" if after.up else _down(after))
    for keys, word, say in (
        (("rate_bps", "variation"), "rate", rate),
        (("buffer",), "buffer", lambda link: buffer(link, frame, rtt_ns)),
        (("queue",), "queue", queue),
        (("delay_ns", "delays"), "delay", delay),
        (("loss_before", "loss_after"), "loss", losses),
    ):
        if any(getattr(before, key) != getattr(after, key) for key in keys):
            texts.append(f"{word} {say(after)}")
    was, now = impairments(replace(before, up=True)), impairments(replace(after, up=True))
    texts += [text for text in now if text not in was]
    texts += [f"no longer {text}" for text in was if text not in now]
    return texts


def spanning_tree(stp: Stp | None) -> str:
    """A bridge's part in the spanning tree: `priority 32768, hello 1 s, ...`."""
    if stp is None:
        return "none"
    times = (Time(stp.hello_ns), Time(stp.forward_delay_ns), Time(stp.max_age_ns))
    hello, forward_delay, max_age = map(str, times)
    return f"priority {stp.priority}, hello {hello}, forward delay {forward_delay}, maximum age {max_age}"


def numbers(values: Sequence[int]) -> str:
    """Numbers with commas between them; `-` if there are none."""
    return ", ".join(map(str, values)) or "-"

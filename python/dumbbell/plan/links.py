"""A link as the plan has it: every key of the Rust crate `plan`'s `Link`, defaults filled in."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dumbbell.scenario.links import delays, losses
from dumbbell.scenario.links.rates import Trace, Varying
from dumbbell.scenario.resolve.bottleneck import Direction

Link = dict[str, Any]
"""As in plan.json."""


def shaped(name: str, from_: str, to: str, link: Direction) -> Link:
    """One direction of the bottleneck, settled."""
    nominal = link.nominal
    before = [_loss(loss) for loss in link.loss if loss.position == "before-queue"]
    after = [_loss(loss) for loss in link.loss if loss.position == "after-queue"]
    return transparent(name, from_, to, int(link.delay)) | {
        "up": link.up,
        "rate_bps": None if nominal is None else int(nominal),
        "variation": _variation(link),
        "slots": _slots(link),
        "policer": link.policer and {"rate_bps": int(link.policer.rate), "burst_bytes": int(link.policer.burst)},
        "overhead_bytes": int(link.overhead),
        "buffer": "unlimited" if link.buffer.kind == "unlimited" else {link.buffer.kind: int(link.buffer.amount)},
        "queue": link.queue.in_plan(),
        "jitter": link.jitter and _jitter(link.jitter),
        "reordering": link.reordering,
        "reorder": link.reorder
        and _sometimes(link.reorder) | {"gap": link.reorder.gap, "delay_ns": int(link.reorder.delay)},
        "delay_line_packets": None if link.delay_line is None else int(link.delay_line),
        "loss_before": before,
        "loss_after": after,
        "duplication": link.duplicate and _sometimes(link.duplicate),
        "corruption": link.corrupt and _sometimes(link.corrupt),
    }


def transparent(name: str, from_: str, to: str, delay_ns: int) -> Link:
    """A link without a limit, on which nothing happens to a packet but its delay."""
    return {
        "name": name,
        "from": from_,
        "to": to,
        "up": True,
        "rate_bps": None,
        "variation": None,
        "slots": None,
        "policer": None,
        "overhead_bytes": 0,
        "buffer": "unlimited",
        "queue": {"kind": "drop-tail", "ce_threshold": None},
        "delay_ns": delay_ns,
        "jitter": None,
        "reordering": False,
        "reorder": None,
        "delay_line_packets": None,
        "loss_before": [],
        "loss_after": [],
        "duplication": None,
        "corruption": None,
    }


def peak_bps(link: Mapping[str, Any]) -> int | None:
    """The largest rate that a plan's link has by itself, in bit/s; none without a limit.

    Of a trace it is what passes in the best 100 ms, or in its period, if that is shorter.
    """
    match link.get("variation"):
        case {"kind": "steps", "steps": steps}:
            return max(int(bps) for _, bps in steps)
        case {"kind": "opportunities", "times": times, "bytes": carried, "period_ns": period}:
            window = min(period, 100_000_000)
            best = inside = first = 0
            for at, count in times:
                inside += count
                while times[first][0] <= at - window:
                    inside -= times[first][1]
                    first += 1
                best = max(best, inside)
            return max(int(best * carried * 8 * 10**9 // window), 1)
        case _:
            rate: int | None = link["rate_bps"]
            return rate


def _variation(link: Direction) -> dict[str, Any] | None:
    match link.rate:
        case Varying() as rate:
            again = rate.begins_again
            steps = [list(step) for step in rate.steps()]
            return {"kind": "steps", "steps": steps, "period_ns": None if again is None else int(again)}
        case Trace() as trace:
            times = [list(time) for time in trace.times()]
            carried = link.frame if trace.opportunity is None else int(trace.opportunity)
            return {"kind": "opportunities", "times": times, "bytes": carried, "period_ns": trace.period}
        case _:
            return None


def _slots(link: Direction) -> dict[str, Any] | None:
    if link.slots is None:
        return None
    least, most = link.slots.intervals
    return {
        "min_interval_ns": int(least),
        "max_interval_ns": int(most),
        "packets": link.slots.packets,
        "bytes": None if link.slots.bytes is None else int(link.slots.bytes),
    }


def _loss(loss: losses.AnyLoss) -> dict[str, Any]:
    match loss:
        case losses.Independent():
            return {"model": "independent", "probability": loss.rate.probability}
        case losses.Correlated() | losses.Netem():
            return {
                "model": loss.model,
                "probability": loss.rate.probability,
                "correlation": loss.correlation.probability,
            }
        case losses.GilbertElliott():
            chances = {key: getattr(loss, key).probability for key in ("p", "r", "loss_bad", "loss_good")}
            return {"model": "gilbert-elliott", **chances}
        case losses.FourState():
            chances = {key: getattr(loss, key).probability for key in ("p13", "p32", "p23", "p14")}
            return {"model": "four-state", **chances, "p31": loss.leaves_3.probability}
        case losses.Burst():
            return {"model": "burst", "probability": loss.rate.probability, "packets": loss.packets}
        case losses.Periodic():
            offset = loss.every - 1 if loss.offset is None else loss.offset
            return {"model": "periodic", "every": loss.every, "offset": offset}
        case losses.LossTrace():
            return {"model": "trace", "lost": loss.lost_packets(), "period": loss.repeat}
    raise TypeError(f"no such loss: {loss!r}")


def _jitter(jitter: delays.Jitter) -> dict[str, Any]:
    found: dict[str, Any]
    match jitter:
        case delays.Uniform():
            found = {"kind": "uniform", "min_ns": int(jitter.min), "max_ns": int(jitter.max)}
        case delays.Normal():
            found = {"kind": "normal", "mean_ns": int(jitter.mean), "sd_ns": int(jitter.sd)}
        case delays.Pareto():
            found = {"kind": "pareto", "min_ns": int(jitter.min), "shape": jitter.shape}
        case delays.Measured():
            found = {"kind": "table", "quantiles_ns": jitter.quantiles()}
    return {"distribution": found, "correlation": jitter.correlation.probability}


def _sometimes(value: losses.Sometimes | delays.Reorder) -> dict[str, Any]:
    return {"probability": value.rate.probability, "correlation": value.correlation.probability}

"""Describes a plan's link in words, each part with its unit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dumbbell.plan.links import peak_bps
from dumbbell.scenario.links.rates import FULL_FRAME
from dumbbell.units import Rate, Size, Time

Part = Mapping[str, Any]


def rate(link: Part) -> str:
    """`100 Mbit/s`, or the mean of a rate that changes and how it does."""
    if link["rate_bps"] is None:
        return "unlimited"
    mean = _about(link["rate_bps"])
    match link["variation"]:
        case {"kind": "steps", "steps": steps, "period_ns": period}:
            rates = [bps for _, bps in steps]
            again = "" if period is None else f", again after {Time(period)}"
            return f"{mean} on average: {len(steps)} steps from {_bps(min(rates))} to {_bps(max(rates))}{again}"
        case {"kind": "opportunities", "times": times, "bytes": size, "period_ns": period}:
            count = sum(count for _, count in times)
            peak = _about(peak_bps(link) or 0)
            return f"{mean} on average, up to {peak}: {count} opportunities of {size} B, again after {Time(period)}"
        case _:
            return str(Rate(link["rate_bps"]))


def _about(bps: int) -> str:
    """Four digits of a rate that was reckoned."""
    units = [(unit, size) for unit, size in Rate.grammar.units.items() if size <= max(bps, 1)]
    unit, size = max(units, key=lambda unit: unit[1])
    return f"{bps / size:.4g} {unit}"


def _bps(value: int) -> str:
    return str(Rate(value)) if value else "0"


def buffer(link: Part, rtt_ns: int) -> str:
    """In the plan's unit, then in the others, for full frames."""
    room, bps = link["buffer"], link["rate_bps"]
    if room == "unlimited":
        return "unlimited"
    frame = FULL_FRAME + link["overhead_bytes"]
    if "packets" in room:
        texts, size = [f"{room['packets']} packets"], room["packets"] * frame
        texts.append(str(Size(size)))
    else:
        size = room["bytes"]
        texts = [str(Size(size)), f"{size // frame} packets"]
    if bps:
        texts.append(f"{size * 8000 / bps:.4g} ms")
    if bps and rtt_ns:
        texts.append(f"{size * 8 * 10**9 / (bps * rtt_ns):.4g} bdp")
    return texts[0] + (f" ({', '.join(texts[1:])})" if texts[1:] else "")


def queue(link: Part) -> str:
    """The discipline and its parameters."""
    given = link["queue"]
    texts = [text for key, value in given.items() if key != "kind" if (text := _parameter(key, value))]
    return str(given["kind"]) + (f" ({', '.join(texts)})" if texts else "")


def _parameter(key: str, value: Any) -> str:
    """`target_ns = 5000000` as `target 5 ms`; nothing for what is off."""
    if value is None or value is False:
        return ""
    name, _, unit = key.rpartition("_")
    match key, value:
        case "ce_threshold", {"sojourn": time}:
            return f"marks above {Time(time)}"
        case "ce_threshold", {"bytes": size}:
            return f"marks above {Size(size)}"
        case "ce_threshold", {"packets": packets}:
            return f"marks above {packets} packets"
        case "ecn", True:
            return "marks with ECN"
        case _, True:
            return key
    if unit == "ns":
        return f"{name} {Time(value)}"
    if unit == "bytes":
        return f"{name} {Size(value)}"
    return f"{key} {value:.6g}" if isinstance(value, float) else f"{key} {value}"


def losses(link: Part) -> str:
    """All processes that lose packets, and where."""
    where = {"loss_before": "before the queue", "loss_after": "after it"}
    texts = [f"{_loss(loss)} {text}" for key, text in where.items() for loss in link[key]]
    return ", ".join(texts) or "none"


def _loss(loss: Part) -> str:
    match loss:
        case {"model": "independent", "probability": p}:
            return percent(p)
        case {"model": "correlated", "probability": p, "correlation": c}:
            return f"{percent(p)} with correlation {percent(c)}"
        case {"model": "netem", "probability": p, "correlation": c}:
            return f"{percent(p)} by netem's correlator at {percent(c)}"
        case {"model": "gilbert-elliott", "p": p, "r": r, "loss_bad": bad, "loss_good": good}:
            return f"Gilbert-Elliott (p {percent(p)}, r {percent(r)}, loss {percent(bad)} and {percent(good)})"
        case {"model": "four-state"}:
            chances = ", ".join(f"{key} {percent(loss[key])}" for key in ("p13", "p31", "p32", "p23", "p14"))
            return f"four states ({chances})"
        case {"model": "burst", "probability": p, "packets": n}:
            return f"{percent(p)} in bursts of {n}"
        case {"model": "periodic", "every": n, "offset": offset}:
            return f"every {n}th packet, first after {offset}"
        case {"model": "trace", "lost": lost, "period": period}:
            return f"{len(lost)} packets of a trace" + ("" if period is None else f", again after {period}")
    raise ValueError(f"unknown loss {loss}")


def impairments(link: Part) -> list[str]:
    """The other impairments of packets; empty if there are none."""
    texts = [] if link["up"] else ["down"]
    if policer := link["policer"]:
        texts.append(f"policer {Rate(policer['rate_bps'])}, burst {Size(policer['burst_bytes'])}")
    if slots := link["slots"]:
        texts.append(_slots(slots))
    if jitter := link["jitter"]:
        order = "overtaking" if link["reordering"] else "in order"
        texts.append(f"jitter {_jitter(jitter['distribution'])}{_correlated(jitter)}, {order}")
    if reorder := link["reorder"]:
        gap = "" if reorder["gap"] == 1 else f" of every {reorder['gap']}th packet"
        ahead = f"{percent(reorder['probability'])}{gap} go ahead after {Time(reorder['delay_ns'])}"
        texts.append(ahead + _correlated(reorder))
    if (line := link["delay_line_packets"]) is not None:
        texts.append(f"delay line of {line} packets")
    for key, word in (("duplication", "duplicated"), ("corruption", "corrupted")):
        if found := link[key]:
            texts.append(f"{percent(found['probability'])} {word}{_correlated(found)}")
    return texts


def _slots(slots: Part) -> str:
    least, most = Time(slots["min_interval_ns"]), Time(slots["max_interval_ns"])
    limits = [f"{slots['packets']} packets"] if slots["packets"] else []
    limits += [str(Size(slots["bytes"]))] if slots["bytes"] else []
    every = str(least) if least == most else f"{least} to {most}"
    return f"a slot every {every}" + (f", at most {' and '.join(limits)}" if limits else "")


def _jitter(distribution: Part) -> str:
    match distribution:
        case {"kind": "uniform", "min_ns": least, "max_ns": most}:
            return f"uniform {Time(least)} to {Time(most)}"
        case {"kind": "normal", "mean_ns": mean, "sd_ns": deviation}:
            return f"normal, mean {Time(mean)}, sd {Time(deviation)}"
        case {"kind": "pareto", "min_ns": least, "shape": shape}:
            return f"Pareto, min {Time(least)}, shape {shape:g}"
        case {"kind": "table", "quantiles_ns": quantiles}:
            return f"measured, {Time(quantiles[0])} to {Time(quantiles[-1])}"
    raise ValueError(f"unknown distribution {distribution}")


def _correlated(part: Part) -> str:
    return f", correlation {percent(part['correlation'])}" if part["correlation"] else ""


def percent(probability: float) -> str:
    """`0.01` as `1 %`."""
    return f"{100 * probability:.4g} %"


def changes(before: Part, after: Part, rtt_ns: int) -> Sequence[str]:
    """The changes that an event makes to a link."""
    texts = []
    if before["up"] != after["up"]:
        texts.append("up" if after["up"] else "down")
    for keys, word, say in (
        (("rate_bps", "variation"), "rate", rate),
        (("buffer",), "buffer", lambda link: buffer(link, rtt_ns)),
        (("queue",), "queue", queue),
        (("delay_ns",), "delay", lambda link: str(Time(link["delay_ns"]))),
        (("loss_before", "loss_after"), "loss", losses),
    ):
        if any(before[key] != after[key] for key in keys):
            texts.append(f"{word} {say(after)}")
    was, now = impairments({**before, "up": True}), impairments({**after, "up": True})
    texts += [text for text in now if text not in was]
    texts += [f"no longer {text}" for text in was if text not in now]
    return texts

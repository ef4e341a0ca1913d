"""The metrics of the yardstick: each has a value with a meaning of its own, and a score from 0 (worst) to 1 (best).

A metric that a run says nothing about is `None`: fairness of one flow, harm without an incumbent, a queue that others
fill as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from math import prod
from typing import Any, Final

from dumbbell.frozen import dataclass
from dumbbell.units.mtu import ETHERNET, TCP

Row = Mapping[str, Any]
"""A row of a study's table `flows`, with the columns that `studies.entries` adds from the plan, or of `links`."""

_LOSS: Final = 0.02
_BULK: Final = "tcp"
_REQUESTS: Final = "rpc"


@dataclass(frozen=True)
class Outcome:
    """The figures of one run."""

    mine: Sequence[Row]
    """Flows of the algorithm that is scored."""
    incumbents: Sequence[Row]
    """Flows that may be harmed."""
    rest: Sequence[Row]
    """All other flows."""
    bottleneck: Row
    """The link that all share."""
    duration_s: float
    jain_index: float | None
    """Fairness of the bulk TCP flows, whosever they are."""
    limit_bps: float | None = None
    """Rate that the bottleneck's policer or slots let pass."""

    @property
    def is_own(self) -> bool:
        """True if no other flow has a congestion control: the queue is the algorithm's own doing."""
        return all(flow["cc"] is None for flow in (*self.incumbents, *self.rest))

    @property
    def bulk(self) -> list[Row]:
        """The algorithm's flows that always have data to send."""
        return [flow for flow in self.mine if flow["protocol"] == _BULK]


@dataclass(frozen=True)
class Metric:
    """A metric and its score."""

    name: str
    unit: str
    what: str
    """Formula of the value."""
    why: str
    """Formula of the score, and its reason."""
    value: Callable[[Outcome, Outcome | None], float | None]
    """Takes a run, and the run in which the incumbents' own algorithm takes the place of the one that is scored."""
    score: Callable[[float], float]


@dataclass(frozen=True)
class Measured:
    """A metric's value in one run."""

    value: float
    score: float


def measure(outcome: Outcome, reference: Outcome | None = None) -> dict[str, Measured]:
    """All metrics that a run says something about, by name."""
    values = ((metric, metric.value(outcome, reference)) for metric in METRICS)
    return {
        metric.name: Measured(value, min(1.0, max(0.0, metric.score(value))))
        for metric, value in values
        if value is not None
    }


def overall(scores: Iterable[float]) -> float:
    """The score of a run: the geometric mean of its metrics' scores, 0 without any.

    A bad metric cannot be made up for by good ones, and to double any of them counts the same.
    """
    found = list(scores)
    return prod(found) ** (1 / len(found)) if found else 0.0


def _goodput(run: Outcome, _: Outcome | None) -> float | None:
    bulk = run.bulk
    if not bulk:
        return None
    fair = _fair_bytes(run, bulk)
    return sum(flow["received_bytes"] for flow in bulk) / fair if fair > 0 else 0.0


def _fair_bytes(run: Outcome, bulk: Sequence[Row]) -> float:
    """The bytes that `bulk` would receive if the bulk flows that are active at a time shared the link equally."""
    link, flow = run.bottleneck, bulk[0]
    if not link["utilisation"]:
        return 0.0
    bytes_per_s = link["delivered_bytes"] / link["utilisation"] / run.duration_s
    if run.limit_bps is not None:
        bytes_per_s = min(bytes_per_s, run.limit_bps / 8)
    payload = flow["frame_bytes"] - ETHERNET - flow["ip_header_bytes"] - TCP
    others = [one for one in (*run.incumbents, *run.rest) if one["protocol"] == _BULK]
    unyielding = sum(one["received_bytes"] for one in run.rest if one["cc"] is None)
    edges = sorted({one[key] for one in (*bulk, *others) for key in ("start_s", "stop_s")})
    own_s = 0.0
    for begin, end in pairwise(edges):
        active = [sum(one["start_s"] <= begin < one["stop_s"] for one in some) for some in (bulk, others)]
        own_s += (end - begin) * active[0] / max(1, sum(active))
    return float(max(0.0, bytes_per_s * payload / flow["frame_bytes"] - unyielding / run.duration_s) * own_s)


def _delay(run: Outcome, _: Outcome | None) -> float | None:
    rtts = [(flow["rtt_p50_ms"], flow["base_rtt_ms"]) for flow in run.bulk if flow["rtt_p50_ms"] is not None]
    return sum(rtt / base - 1 for rtt, base in rtts) / len(rtts) if run.is_own and rtts else None


def _loss(run: Outcome, _: Outcome | None) -> float | None:
    link = run.bottleneck
    dropped = link["drops"] - (link["dropped_down"] or 0)
    return dropped / link["arrived_packets"] if run.is_own and link["arrived_packets"] else None


def _fairness(run: Outcome, _: Outcome | None) -> float | None:
    return run.jain_index if run.is_own and len(run.bulk) > 1 else None


def _completion(run: Outcome, _: Outcome | None) -> float | None:
    return _slowdown(flow for flow in run.mine if flow["protocol"] == _REQUESTS)


def _harm(run: Outcome, reference: Outcome | None) -> float | None:
    if not run.incumbents or reference is None:
        return None
    slow, usual = _slowdown(run.incumbents), _slowdown(reference.incumbents)
    if slow is not None and usual is not None:
        return 1 - usual / slow
    with_mine, with_own = (sum(flow["received_bytes"] for flow in one.incumbents) for one in (run, reference))
    return 1 - with_mine / with_own if with_own else None


def _slowdown(flows: Iterable[Row]) -> float | None:
    """Mean over flows of requests of the median slowdown; infinite if one completed none, `None` without such flows."""
    found = [flow["rpc_slowdown_p50"] for flow in flows if flow["protocol"] == _REQUESTS]
    if not found:
        return None
    return float("inf") if None in found else sum(found) / len(found)


METRICS: Final = (
    Metric(
        "goodput",
        "",
        "bytes that the flows received ÷ their fair share: what the link, its policer or slots could carry, less "
        "traffic without congestion control, shared equally at each time by the bulk flows that are active (RFC 5166)",
        "the value, at most 1: more than a fair share is no merit",
        _goodput,
        lambda value: value,
    ),
    Metric(
        "delay",
        "base RTT",
        "mean over bulk flows of median smoothed RTT ÷ base RTT - 1, where the queue is the algorithm's own",
        "1 ÷ (1 + value): base RTT ÷ RTT, as in Kleinrock's power; on slow links a packet alone takes its time",
        _delay,
        lambda value: 1 / (1 + value),
    ),
    Metric(
        "loss",
        "",
        "packets that the bottleneck dropped ÷ packets that arrived, without random losses and outages",
        "1 ÷ (1 + value ÷ 2 %): half at the loss that BBRv3 takes for too much (BBR.LossThresh)",
        _loss,
        lambda value: 1 / (1 + value / _LOSS),
    ),
    Metric(
        "fairness",
        "",
        "Jain's index of two or more bulk flows of the algorithm, over the time in which all are active",
        "the value; one flow that takes all has 1 ÷ flows",
        _fairness,
        lambda value: value,
    ),
    Metric(
        "completion",
        "",
        "median slowdown of the algorithm's requests: completion time ÷ completion time on an unloaded path",
        "1 ÷ value (pFabric's normalised FCT)",
        _completion,
        lambda value: 1 / value,
    ),
    Metric(
        "harm",
        "",
        "1 - goodput of the incumbents ÷ their goodput with their own kind in the algorithm's place; of requests: "
        "1 - slowdown there ÷ slowdown here (Ware et al., HotNets 2019)",
        "1 - value, at most 1: harm up to what incumbents do to each other is acceptable (Ware et al., section 5)",
        _harm,
        lambda value: 1 - value,
    ),
)
"""All metrics, in the order of tables."""

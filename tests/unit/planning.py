"""Plans of small scenarios, for tests."""

from typing import Any

from dumbbell.plan.expand import expand
from dumbbell.plan.types import Plan
from dumbbell.plan.wire import document
from dumbbell.scenario.file.loading import load

PLAIN: dict[str, Any] = {
    "up": True, "variation": None, "slots": None, "policer": None, "overhead_bytes": 0,
    "queue": {"kind": "drop-tail", "ce_threshold": None}, "jitter": None, "reordering": False, "reorder": None,
    "delay_line_packets": None, "loss_before": [], "loss_after": [], "duplication": None, "corruption": None,
}  # fmt: skip
"""The planned form of a link whose keys are only rate, buffer and delay."""


def dumbbell(bottleneck: dict[str, Any], rtt: Any = "30 ms", pairs: int = 2, **more: Any) -> dict[str, Any]:
    """The plan of a dumbbell with one flow, 10 s long, as it lies in plan.json."""
    return document(planned(bottleneck, rtt, pairs, **more))


def planned(bottleneck: dict[str, Any], rtt: Any = "30 ms", pairs: int = 2, **more: Any) -> Plan:
    """The plan of a dumbbell with one flow, 10 s long."""
    topology = {"kind": "dumbbell", "pairs": pairs, "rtt": rtt, "bottleneck": bottleneck}
    flows = [{"from": "s1", "to": "r1"}]
    return expand(load({"name": "x", "duration": "10 s", "topology": topology, "flows": flows, **more}))


def link(plan: dict[str, Any], name: str = "bottleneck") -> dict[str, Any]:
    """One of a plan's links."""
    return next(link for link in plan["links"] if link["name"] == name)


def forward(**keys: Any) -> dict[str, Any]:
    """The plan's link from left to right: 10 Mbit/s, 100 packets, 15 ms, and `keys`."""
    return link(dumbbell({"rate": "10 Mbit/s", "buffer": "100 packets", **keys}))

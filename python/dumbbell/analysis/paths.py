"""Base RTTs of a plan's flows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dumbbell.plan.paths import base_rtt_ns as between

Json = Mapping[str, Any]


def base_rtt_ns(plan: Json, flow: Json) -> int:
    """Propagation delay of the flow's path, there and back, in ns. Serialisation is not in it."""
    return between(dict(plan), flow["from"], flow["to"])


def smallest_base_rtt_ns(plan: Json) -> int:
    """The smallest base RTT of any flow, in ns; 0 without flows."""
    return min((base_rtt_ns(plan, flow) for flow in plan["flows"]), default=0)

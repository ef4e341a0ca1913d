from __future__ import annotations

from dumbbell.engines.capabilities import CONSERVATION, TRAFFIC, Capabilities

CAPABILITIES = Capabilities(
    name="toy",
    deterministic=False,
    batches=False,
    real_time=False,
    changes_links=False,
    records_all_acks=False,
    loads_algorithms=False,
    evidence=frozenset([TRAFFIC, CONSERVATION]),
    network="toy.json",
    has_lab=False,
    cost=lambda network, traffic, lab, probe: {"cost": {"unit": "toys"}},
)

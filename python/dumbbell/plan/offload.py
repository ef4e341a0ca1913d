"""The path of packets between kernel and emulator: one choice for all runs of a study."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

from dumbbell.plan.network import network, with_emulate
from dumbbell.plan.parts import full_frame, has_vlans
from dumbbell.plan.types import EmulatePath, Plan
from dumbbell.units.mtu import MTU, frame_bytes

GSO_ABOVE_BPS = 400_000_000
"""Rate of a link from which on its packets cross as bursts, at Ethernet's MTU; at others as many packets a second.

One by one, a core moves about 300,000 packets a second in both directions together; at this rate a flow and its
acknowledgements take a sixth of that, and the hosts need the rest.
"""

MERGE_NS = 100_000
"""The time between segments that may cross together, if the scenario does not say."""


def settled(plan: Plan, path: Literal["auto"] | EmulatePath, merge_ns: int | None) -> Plan:
    """`plan` with what its scenario names or leaves open (`auto`, `None`).

    Args:
        plan: the expanded run.
        path: how its packets cross the boundary to the kernel.
        merge_ns: how far apart segments may be due that cross together, in ns.
    """
    chosen = choose([plan]) if path == "auto" else path
    merge = MERGE_NS if merge_ns is None else int(merge_ns)
    return with_emulate(plan, replace(plan.emulate, path=chosen, merge_ns=0 if chosen == "wire" else merge))


def choose(plans: Sequence[Plan]) -> EmulatePath:
    """`gso` if a run of `plans` asks for it by its rates, so that all of a study's runs are carried out alike.

    One does not if the kernel's links carry its packets one by one. Else it does if a link that a flow crosses is
    faster than `GSO_ABOVE_BPS` says at any time, or if no link on a flow's path is limited, or if bursts shall stay
    whole. None does if packets of one have tags of VLANs, which bursts lack.
    """
    return "gso" if any(map(_asks, plans)) and not any(map(has_vlans, plans)) else "wire"


def _asks(plan: Plan) -> bool:
    if plan.emulate.links == "kernel":
        return False
    found, above = network(plan), GSO_ABOVE_BPS * full_frame(plan) // frame_bytes(MTU)
    for path in found.paths:
        crossed = [found.facts[plan.links[index].name].peaks_bps for index in (*path.there, *path.back)]
        limits = [rate for of_link in crossed for rate in of_link if rate is not None]
        if not limits or max(limits) > above:
            return True
    return plan.emulate.whole_bursts

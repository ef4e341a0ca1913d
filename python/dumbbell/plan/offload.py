"""The form in which packets cross between kernel and emulator (`emulate.path`): one by one, or as bursts.

This module chooses for one run. `dumbbell.studies.planning.alike` then gives all runs of a study one path.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

from dumbbell.plan.network import network, with_emulate
from dumbbell.plan.parts import full_frame, has_vlans
from dumbbell.plan.types import EmulatePath, Plan
from dumbbell.units.mtu import MTU, frame_bytes

GSO_ABOVE_BPS = 400_000_000
"""Rate of a link above which packets cross as bursts, in bit/s, at Ethernet's MTU. At other MTUs the limit is the same
number of packets a second.

A core moves about 300,000 packets a second one by one, in both directions together. A flow of this rate and its
acknowledgements take a sixth of that; the hosts need the rest of the core.
"""

MERGE_NS = 100_000
"""Default of `emulate.merge`: time between segments that may cross together, in ns."""


def settled(plan: Plan, path: Literal["auto"] | EmulatePath, merge_ns: int | None) -> Plan:
    """Returns `plan` with the path and the merging that its scenario sets or leaves open (`auto`, `None`).

    Args:
        plan: the expanded run.
        path: form in which its packets cross the boundary to the kernel.
        merge_ns: how far apart segments may be due that cross together, in ns.
    """
    chosen = choose(plan) if path == "auto" else path
    merge = MERGE_NS if merge_ns is None else int(merge_ns)
    return with_emulate(plan, replace(plan.emulate, path=chosen, merge_ns=0 if chosen == "wire" else merge))


def choose(plan: Plan) -> EmulatePath:
    """Returns `gso` if the run is too fast for single packets, otherwise `wire`.

    A run is too fast if a flow crosses a link that is faster than `GSO_ABOVE_BPS` at any time, or if no link on a
    flow's path is limited. A run whose bursts stay whole needs `gso` at any rate.

    The path is `wire` at any rate if the run cannot take another (`is_wire_only`).
    """
    if is_wire_only(plan):
        return "wire"
    return "gso" if plan.emulate.whole_bursts or _is_fast(plan) else "wire"


def is_wire_only(plan: Plan) -> bool:
    """Returns true if the kernel's own links carry the packets, or if packets have tags of VLANs, which bursts lack."""
    return plan.emulate.links == "kernel" or has_vlans(plan)


def _is_fast(plan: Plan) -> bool:
    found, above = network(plan), GSO_ABOVE_BPS * full_frame(plan) // frame_bytes(MTU)
    for path in found.paths:
        crossed = [found.facts[plan.links[index].name].peaks_bps for index in (*path.there, *path.back)]
        limits = [rate for of_link in crossed for rate in of_link if rate is not None]
        if not limits or max(limits) > above:
            return True
    return False

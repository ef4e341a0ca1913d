"""Runs of a parking lot: a network with several limited links in a row, simulated, for tests of what reads runs.

Flows from `a` to `b` cross all links. Cross traffic enters before one link and leaves behind it: datagrams from `uN` to
`vN` cross `linkN`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from planning import planned

from dumbbell.core import core
from dumbbell.engines.simulate.capabilities import CAPABILITIES
from dumbbell.pipeline.compose import compose
from dumbbell.pipeline.results import Run
from dumbbell.plan import Plan, wire
from dumbbell.plan.links import transparent
from dumbbell.plan.types import BufferBytes, Flow, HostNode, Link, LinkChange, SwitchNode, TcpWorkload, UdpWorkload
from dumbbell.records.schema import SCHEMA

DELAY_NS = 5_000_000
SECOND = 1_000_000_000


@dataclass(frozen=True)
class Cross:
    """Datagrams across one link, in seconds and Mbit/s."""

    link: int
    start_s: float
    stop_s: float
    mbit: float


def plan(
    mbit: Sequence[int] = (20, 20, 20),
    cross: Sequence[Cross] = (),
    ccs: Sequence[str] = ("cubic",),
    duration_s: float = 6.0,
    packets: bool = True,
    events: Sequence[tuple[float, int, int]] = (),
    **link: Any,
) -> Plan:
    """The plan.

    Args:
        mbit: the rate of each link.
        cross: the cross traffic.
        ccs: the congestion control of each flow across all links.
        duration_s: the duration.
        packets: whether packets are recorded.
        events: a time in seconds, a link and its rate in Mbit/s from then on.
        link: more keys of each limited link, as the plan has them.
    """
    span = round(duration_s * SECOND)
    links = [replace(_limited(at, rate), **link) for at, rate in enumerate(mbit)]
    hosts = ["a", "b", *(f"{side}{at}" for at in range(len(mbit)) for side in "uv")]
    bulk = [TcpWorkload(cc=cc, bytes=None, ecn=False) for cc in ccs]
    flows = [_flow(f"f{n}", ("a", "b"), (0, span), 5000 + n, workload) for n, workload in enumerate(bulk, 1)]
    for n, one in enumerate(cross, 1):
        datagrams = UdpWorkload(rate_bps=round(one.mbit * 1e6), payload_bytes=1400, bytes=None)
        times = round(one.start_s * SECOND), round(one.stop_s * SECOND)
        flows.append(_flow(f"cross{n}", (f"u{one.link}", f"v{one.link}"), times, 6000 + n, datagrams))
    like = planned({"rate": "20 Mbit/s"})
    sysctl = {"net.ipv4.tcp_rmem": "4096 33554432 33554432"}
    nodes = [HostNode(name=name, address=f"10.0.0.{n}", sysctl=sysctl) for n, name in enumerate(hosts, 1)]
    changed = (
        LinkChange(at_ns=round(at * SECOND), link=replace(links[number], rate_bps=rate * 1_000_000))
        for at, number, rate in events
    )
    return replace(
        like,
        name="parking-lot",
        duration_ns=span,
        nodes=(*nodes, *(SwitchNode(name=f"s{at}") for at in range(len(mbit) + 1))),
        links=(*links, *_others(len(mbit))),
        events=tuple(changed),
        flows=tuple(flows),
        record=replace(like.record, packets=packets, acks="off"),
    )


def _limited(at: int, mbit: int) -> Link:
    plain = transparent(f"link{at}", f"s{at}", f"s{at + 1}", DELAY_NS)
    return replace(plain, rate_bps=mbit * 1_000_000, buffer=BufferBytes(bytes=30_000))


def _others(count: int) -> Iterator[Link]:
    """The links back, and those of hosts."""
    for at in range(count):
        yield transparent(f"back{at}", f"s{at + 1}", f"s{at}", DELAY_NS)
    ends = [("a", "s0"), ("b", f"s{count}")]
    ends += [(f"{side}{at}", f"s{at + behind}") for at in range(count) for behind, side in enumerate("uv")]
    for host, switch in ends:
        yield transparent(f"{host}-{switch}", host, switch, 0)
        yield transparent(f"{switch}-{host}", switch, host, 0)


def _flow(name: str, ends: tuple[str, str], times_ns: tuple[int, int], port: int, workload: Any) -> Flow:
    (from_, to), (start, stop) = ends, times_ns
    return Flow(id=name, group=name, from_=from_, to=to, start_ns=start, stop_ns=stop, port=port, workload=workload)


def run(directory: Path, of: Plan) -> Run:
    """The plan's run, simulated and judged."""
    directory.mkdir(parents=True)
    manifest = {"schema": SCHEMA, "status": "complete", "reason": None, "name": of.name, "run_id": "abc"}
    (directory / "manifest.json").write_text(json.dumps({**manifest, "engine": CAPABILITIES.name}))
    (directory / "plan.json").write_text(json.dumps(wire.document(of)))
    core.simulate(directory, of.simulate.tso, lambda _: True)
    found = Run(directory)
    compose(found, {"failed": 0, "excluded": 0})
    return Run(directory)

"""A plan for people: the same facts as tables, each quantity with its unit."""

from __future__ import annotations

from dataclasses import dataclass

from dumbbell.cc.parameters import written
from dumbbell.plan import flow_rows, words
from dumbbell.plan.network import network
from dumbbell.plan.parts import full_frame
from dumbbell.plan.types import (
    BundledSource,
    HostNode,
    KernelSource,
    Link,
    LinkedSource,
    ObjectSource,
    Plan,
    Source,
    TunedSource,
)
from dumbbell.units import Size, Time


@dataclass(frozen=True)
class Table:
    """Rows of text under a title."""

    title: str
    columns: list[str]
    rows: list[list[str]]
    keys: int = 1
    """Columns from the left that name a row. A table that is too wide repeats them with each of its parts."""


def tables(plan: Plan, rtt_ns: int) -> list[Table]:
    """All tables of a plan; `rtt_ns` is the largest base RTT, which gives BDPs."""
    return [
        _run(plan),
        _links(plan, rtt_ns),
        *_events(plan, rtt_ns),
        Table("Flows", flow_rows.COLUMNS, flow_rows.rows(plan)),
        *_algorithms(plan),
        _hosts(plan),
        _sysctls(plan),
    ]


def _run(plan: Plan) -> Table:
    record, emulate = plan.record, plan.emulate
    rows = [
        ["duration", str(Time(plan.duration_ns))],
        ["seed", str(plan.seed)],
        ["mtu", f"{plan.mtu} B"],
        ["record.sample_interval", str(Time(record.sample_interval_ns))],
        ["record.packets", _yes(record.packets)],
        ["record.acks", record.acks],
        ["emulate.ring", str(Size(emulate.ring_bytes))],
        ["emulate.spin", str(Time(emulate.spin_ns))],
        ["emulate.arena", str(Size(emulate.arena_bytes))],
        ["emulate.path", emulate.path],
    ]
    if emulate.path == "gso":
        rows.append(["emulate.merge", str(Time(emulate.merge_ns))])
        rows.append(["emulate.whole_bursts", _yes(emulate.whole_bursts)])
    if emulate.cpus is not None:
        rows.append(["emulate.cpus", str(emulate.cpus)])
    rows.append(["simulate.tso", _yes(plan.simulate.tso)])
    return Table(f"Run {plan.name}", ["setting", "value"], rows)


def _links(plan: Plan, rtt_ns: int) -> Table:
    """Links that do something to packets; the others are only counted."""
    transparent = network(plan).transparent
    shown = [link for link in plan.links if link.name not in transparent]
    rest = len(transparent)
    title = "Links" + (f" (and {rest} without rate, delay or loss)" if rest else "")
    columns = ["link", "from", "to", "rate", "delay", "BDP", "buffer", "queue", "loss", "overhead", "besides"]
    return Table(title, columns, [_link(link, full_frame(plan, link), rtt_ns) for link in shown])


def _link(link: Link, frame: int, rtt_ns: int) -> list[str]:
    rate = link.rate_bps
    return [
        link.name,
        link.from_,
        link.to,
        words.rate(link),
        str(Time(link.delay_ns)),
        str(Size(rate * rtt_ns // (8 * 10**9))) if rate else "-",
        words.buffer(link, frame, rtt_ns),
        words.queue(link) if rate or link.slots else "-",
        words.losses(link),
        str(Size(link.overhead_bytes)),
        "; ".join(words.impairments(link)) or "-",
    ]


def _events(plan: Plan, rtt_ns: int) -> list[Table]:
    """The table of changes, if there are any."""
    now = {link.name: link for link in plan.links}
    rows = []
    for event in plan.events:
        after = event.link
        what = words.changes(now[after.name], after, full_frame(plan, after), rtt_ns)
        rows.append([str(Time(event.at_ns)), after.name, "; ".join(what)])
        now[after.name] = after
    return [Table("Events", ["at", "link", "from then on"], rows)] if rows else []


def _algorithms(plan: Plan) -> list[Table]:
    """Congestion controls that are not the kernel's own under their own names, if there are any."""
    rows = []
    for algorithm in plan.algorithms:
        parameters = ", ".join(f"{name} = {written(value)}" for name, value in algorithm.parameters.items())
        sha256 = algorithm.sha256
        rows.append([algorithm.label, source(algorithm.source), parameters or "defaults", (sha256 or "-")[:12]])
    return [Table("Congestion controls", ["cc", "source", "parameters", "SHA-256"], rows)] if rows else []


def source(of: Source) -> str:
    """The source of an algorithm's program: `bbr3 of dumbbell`, or its path."""
    match of:
        case BundledSource():
            return f"{of.name} of dumbbell"
        case ObjectSource():
            return of.path
        case KernelSource():
            return f"the kernel's {of.name}"
        case TunedSource():
            return f"{of.of} of dumbbell, in the kernel"
        case LinkedSource():
            return f"{of.path}, in the kernel"


def _hosts(plan: Plan) -> Table:
    hosts = [node for node in plan.nodes if isinstance(node, HostNode)]
    return Table("Hosts", ["host", "address"], [[host.name, host.address] for host in hosts])


def _sysctls(plan: Plan) -> Table:
    """One row per setting; hosts are named only where they differ."""
    hosts = [node for node in plan.nodes if isinstance(node, HostNode)]
    values: dict[tuple[str, str], list[str]] = {}
    for host in hosts:
        for key, value in host.sysctl.items():
            values.setdefault((key, value), []).append(host.name)
    rows = [
        [key, value, "all" if len(names) == len(hosts) else ", ".join(names)]
        for (key, value), names in sorted(values.items())
    ]
    return Table("Kernel settings", ["sysctl", "value", "hosts"], rows)


def _yes(value: bool) -> str:
    return "yes" if value else "no"

"""A plan for people: the same facts as tables, each quantity with its unit."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from dumbbell.cc.parameters import written
from dumbbell.plan import flow_rows, words
from dumbbell.plan.network import network
from dumbbell.plan.parts import full_frame, ipv6_address
from dumbbell.plan.types import (
    BridgeNode,
    BundledSource,
    HostNode,
    KernelSource,
    Link,
    LinkedSource,
    Node,
    ObjectSource,
    Plan,
    RouterNode,
    Source,
    SwitchNode,
    TunedSource,
)
from dumbbell.table import Table
from dumbbell.units import Size, Time

MOST_ROWS = 100
"""The most rows of the tables of interfaces and of routes; the plan as JSON has all."""

RttOf = Callable[[Link], int]
"""The base RTT that gives a link's BDP, in ns."""


def tables(plan: Plan, rtt_ns: int | Mapping[str, int]) -> list[Table]:
    """All tables of a plan; `rtt_ns` is the base RTT that gives BDPs: one for all links, or one by each link's name."""

    def rtt_of(link: Link) -> int:
        return rtt_ns if isinstance(rtt_ns, int) else rtt_ns.get(link.name, 0)

    return [
        _run(plan),
        _links(plan, rtt_of),
        *_events(plan, rtt_of),
        Table("Flows", flow_rows.COLUMNS, flow_rows.rows(plan)),
        *_algorithms(plan),
        _hosts(plan),
        *_interfaces(plan),
        *_bridges(plan),
        *_routes(plan),
        *_daemons(plan),
        *_private(plan),
        *_programs(plan),
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
        *([["record.capture", _yes(True)]] if record.capture else []),
        ["emulate.ring", str(Size(emulate.ring_bytes))],
        ["emulate.spin", str(Time(emulate.spin_ns))],
        ["emulate.arena", str(Size(emulate.arena_bytes))],
        ["emulate.path", emulate.path],
    ]
    if emulate.path == "gso":
        rows.append(["emulate.merge", str(Time(emulate.merge_ns))])
        rows.append(["emulate.whole_bursts", _yes(emulate.whole_bursts)])
    if emulate.links is not None:
        rows.append(["emulate.links", emulate.links])
    if emulate.cpus is not None:
        rows.append(["emulate.cpus", str(emulate.cpus)])
    rows += [["nat", node.name] for node in plan.nodes if isinstance(node, RouterNode) and node.nat]
    rows.append(["simulate.tso", _yes(plan.simulate.tso)])
    if plan.simulate.hosts is not None:
        rows.append(["simulate.hosts", plan.simulate.hosts])
    return Table(f"Run {plan.name}", ["setting", "value"], rows)


def _links(plan: Plan, rtt_of: RttOf) -> Table:
    """Links that do something to packets; the others are only counted."""
    transparent = network(plan).transparent
    shown = [link for link in plan.links if link.name not in transparent]
    rest = len(transparent)
    title = "Links" + (f" (and {rest} without rate, delay or loss)" if rest else "")
    columns = ["link", "from", "to", "rate", "delay", "BDP", "buffer", "queue", "loss", "overhead", "besides"]
    return Table(title, columns, [_link(link, full_frame(plan, link), rtt_of(link)) for link in shown])


def _link(link: Link, frame: int, rtt_ns: int) -> list[str]:
    rate = link.rate_bps
    return [
        link.name,
        link.from_,
        link.to,
        words.rate(link),
        words.delay(link),
        str(Size(rate * rtt_ns // (8 * 10**9))) if rate else "-",
        words.buffer(link, frame, rtt_ns),
        words.queue(link) if rate or link.slots else "-",
        words.losses(link),
        str(Size(link.overhead_bytes)),
        "; ".join(words.impairments(link)) or "-",
    ]


def _events(plan: Plan, rtt_of: RttOf) -> list[Table]:
    """The table of changes, if there are any."""
    now = {link.name: link for link in plan.links}
    rows = []
    for event in plan.events:
        after = event.link
        what = words.changes(now[after.name], after, full_frame(plan, after), rtt_of(after))
        rows.append([str(Time(event.at_ns)), after.name, "; ".join(what)])
        now[after.name] = after
    daemons = [[str(Time(one.at_ns)), one.router, words.daemon(one)] for one in plan.daemon_events]
    links = [Table("Events", ["at", "link", "from then on"], rows)] if rows else []
    return links + ([Table("Events of daemons", ["at", "router", "what happens"], daemons)] if daemons else [])


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
    speaking = {host for flow in plan.flows if flow.ip == 6 for host in (flow.from_, flow.to)}
    rows = []
    for host in (node for node in plan.nodes if isinstance(node, HostNode)):
        ipv6 = ipv6_address(host) if host.name in speaking else None
        rows.append([host.name, host.address if ipv6 is None else f"{host.address}, {ipv6}"])
    return Table("Hosts", ["host", "address"], rows)


def _interfaces(plan: Plan) -> list[Table]:
    """The table of interfaces in a network whose nodes have some."""
    nodes = [node for node in plan.nodes if not isinstance(node, SwitchNode)]
    far = {(link.from_, link.from_interface): link for link in plan.links if link.from_interface is not None}
    rows = [
        [
            node.name,
            kind_of(node),
            one.name,
            ", ".join(one.addresses),
            one.mac,
            f"{one.mtu or plan.mtu} B",
            link.name,
            link.to,
        ]
        for node in nodes
        for one in node.interfaces
        if (link := far[node.name, one.name])
    ]
    columns = ["node", "kind", "interface", "addresses", "MAC", "MTU", "link", "leads to"]
    return _first("Interfaces", columns, rows, keys=3)


def _bridges(plan: Plan) -> list[Table]:
    """The tables of bridges and of their ports' VLANs, if there are any."""
    bridges = [node for node in plan.nodes if isinstance(node, BridgeNode)]
    rows = [[node.name, str(len(node.interfaces)), words.spanning_tree(node.stp)] for node in bridges]
    vlans = [
        [node.name, one.name, "-" if (own := one.vlans.untagged) is None else str(own), words.numbers(one.vlans.tagged)]
        for node in bridges
        for one in node.interfaces
        if one.vlans is not None
    ]
    return [
        *_first("Bridges", ["bridge", "ports", "spanning tree"], rows, keys=1),
        *_first("VLANs", ["bridge", "port", "without a tag", "with a tag"], vlans, keys=2),
    ]


def _first(title: str, columns: list[str], rows: list[list[str]], keys: int) -> list[Table]:
    """A table of as many rows as one reads; none without rows."""
    more = f", the first {MOST_ROWS} of {len(rows):,}" if len(rows) > MOST_ROWS else ""
    return [Table(title + more, columns, rows[:MOST_ROWS], keys)] if rows else []


def kind_of(node: Node) -> str:
    """`host`, `router`, `bridge` or `switch`."""
    match node:
        case HostNode():
            return "host"
        case RouterNode():
            return "router"
        case BridgeNode():
            return "bridge"
        case SwitchNode():
            return "switch"


def _routes(plan: Plan) -> list[Table]:
    """The table of routes, if there are any beside those to the nodes' own subnets."""
    rows = [
        [node.name, route.to, ", ".join(route.via)]
        for node in plan.nodes
        if isinstance(node, HostNode | RouterNode)
        for route in node.routes
    ]
    return _first("Routes", ["node", "to", "via"], rows, keys=2)


def _daemons(plan: Plan) -> list[Table]:
    """For each router with daemons, its configuration line by line."""
    return [
        Table(f"{node.name}: {', '.join(('zebra', *node.routing.daemons))}", ["frr.conf"], [[line] for line in lines])
        for node in plan.nodes
        if isinstance(node, RouterNode) and node.routing is not None
        if (lines := node.routing.config.splitlines())
    ]


def _private(plan: Plan) -> list[Table]:
    """Directories of single nodes."""
    rows = [[node.name, ", ".join(node.private)] for node in plan.nodes if isinstance(node, HostNode | RouterNode)]
    rows = [row for row in rows if row[1]]
    return [Table("Private directories", ["node", "directories"], rows)] if rows else []


def _programs(plan: Plan) -> list[Table]:
    """Programs of no flow, and the CPUs of single nodes, or the share of one."""
    rows = [[one.name, one.node, one.command, words.ready(one.ready)] for one in plan.programs]
    cpus = [
        [node.name, ", ".join(map(str, node.cpus)) or "all", _share(node.cpu_ppm)]
        for node in plan.nodes
        if isinstance(node, HostNode | RouterNode) and (node.cpus or node.cpu_ppm is not None)
    ]
    return [
        *([Table("Programs", ["program", "node", "command", "ready"], rows)] if rows else []),
        *([Table("CPUs of programs", ["node", "CPUs", "share of one CPU"], cpus)] if cpus else []),
    ]


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


def _share(ppm: int | None) -> str:
    return "no limit" if ppm is None else f"{ppm / 10_000:g} %"

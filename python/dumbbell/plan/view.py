"""A plan for people: the same facts as tables, each quantity with its unit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dumbbell.plan.expand import Plan
from dumbbell.plan.paths import base_rtt_ns, is_transparent, path
from dumbbell.scenario.bottleneck import FULL_FRAME
from dumbbell.scenario.quantities import Rate, Size, Time


@dataclass(frozen=True)
class Table:
    """Rows of text under a title."""

    title: str
    columns: list[str]
    rows: list[list[str]]


def tables(plan: Plan, rtt_ns: int) -> list[Table]:
    """All of a plan; `rtt_ns` is the largest base RTT, by which BDPs are reckoned."""
    return [_run(plan), _links(plan, rtt_ns), _flows(plan), _hosts(plan), _sysctls(plan)]


def _run(plan: Plan) -> Table:
    record, emulate = plan["record"], plan["emulate"]
    rows = [
        ["duration", str(Time(plan["duration_ns"]))],
        ["seed", str(plan["seed"])],
        ["record.sample_interval", str(Time(record["sample_interval_ns"]))],
        ["record.packets", _yes(record["packets"])],
        ["emulate.ring", str(Size(emulate["ring_bytes"]))],
        ["emulate.spin", str(Time(emulate["spin_ns"]))],
        ["emulate.arena", str(Size(emulate["arena_bytes"]))],
    ]
    return Table(f"Run {plan['name']}", ["setting", "value"], rows)


def _links(plan: Plan, rtt_ns: int) -> Table:
    """Links that do something to packets; the others are only counted."""
    shown = [link for link in plan["links"] if not is_transparent(link)]
    rest = len(plan["links"]) - len(shown)
    title = "Links" + (f" (and {rest} without rate, delay or loss)" if rest else "")
    columns = ["link", "from", "to", "rate", "delay", "BDP", "buffer", "loss", "overhead"]
    return Table(title, columns, [_link(link, rtt_ns) for link in shown])


def _link(link: dict[str, Any], rtt_ns: int) -> list[str]:
    rate = link["rate_bps"]
    return [
        link["name"],
        link["from"],
        link["to"],
        str(Rate(rate)) if rate else "unlimited",
        str(Time(link["delay_ns"])),
        str(Size(rate * rtt_ns // (8 * 10**9))) if rate else "-",
        _buffer(link, rtt_ns),
        _loss(link),
        str(Size(link["overhead_bytes"])),
    ]


def _buffer(link: dict[str, Any], rtt_ns: int) -> str:
    """In the plan's unit, then in the others, for full frames."""
    buffer, rate = link["buffer"], link["rate_bps"]
    if buffer == "unlimited":
        return "unlimited"
    frame = FULL_FRAME + link["overhead_bytes"]
    if "packets" in buffer:
        texts, size = [f"{buffer['packets']} packets"], buffer["packets"] * frame
        texts.append(str(Size(size)))
    else:
        size = buffer["bytes"]
        texts = [str(Size(size)), f"{size // frame} packets"]
    if rate:
        texts.append(f"{size * 8000 / rate:.4g} ms")
    if rate and rtt_ns:
        texts.append(f"{size * 8 * 10**9 / (rate * rtt_ns):.4g} bdp")
    return texts[0] + (f" ({', '.join(texts[1:])})" if texts[1:] else "")


def _loss(link: dict[str, Any]) -> str:
    where = {"loss_before": "before the queue", "loss_after": "after it"}
    texts = [f"{100 * link[key]:.4g} % {text}" for key, text in where.items() if link[key]]
    return ", ".join(texts) or "none"


def _flows(plan: Plan) -> Table:
    columns = ["flow", "from", "to", "port", "sends", "start", "stop", "base RTT", "path"]
    rows = []
    for flow in plan["flows"]:
        ends = flow["from"], flow["to"]
        nodes = [flow["from"], *(link["to"] for link in path(plan, *ends))]
        times = [str(Time(flow["start_ns"])), str(Time(flow["stop_ns"])), str(Time(base_rtt_ns(plan, flow)))]
        rows.append([flow["id"], *ends, str(flow["port"]), _sends(flow["workload"]), *times, " > ".join(nodes)])
    return Table("Flows", columns, rows)


def _sends(workload: dict[str, Any]) -> str:
    if workload["kind"] == "command":
        server = workload["server_command"]
        return f"{workload['command']}" + (f" (server: {server})" if server else "")
    amount = "" if workload["bytes"] is None else f", {Size(workload['bytes'])}"
    if workload["kind"] == "udp":
        return f"UDP, {Rate(workload['rate_bps'])}, {workload['payload_bytes']} B each{amount}"
    return f"TCP, {workload['cc']}{amount}{', ECN' if workload['ecn'] else ''}"


def _hosts(plan: Plan) -> Table:
    hosts = [node for node in plan["nodes"] if node["kind"] == "host"]
    return Table("Hosts", ["host", "address"], [[host["name"], host["address"]] for host in hosts])


def _sysctls(plan: Plan) -> Table:
    """One row per setting; hosts are named only where they differ."""
    hosts = [node for node in plan["nodes"] if node["kind"] == "host"]
    values: dict[tuple[str, str], list[str]] = {}
    for host in hosts:
        for key, value in host["sysctl"].items():
            values.setdefault((key, value), []).append(host["name"])
    rows = [
        [key, value, "all" if len(names) == len(hosts) else ", ".join(names)]
        for (key, value), names in sorted(values.items())
    ]
    return Table("Kernel settings", ["sysctl", "value", "hosts"], rows)


def _yes(value: bool) -> str:
    return "yes" if value else "no"

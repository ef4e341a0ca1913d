"""Checks whether hosts and flows did what the plan says."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

from dumbbell.analysis import thresholds as limit
from dumbbell.analysis.evidence import Evidence
from dumbbell.analysis.rules.rule import (
    MOST_NAMED,
    Judgement,
    Rule,
    Verdict,
    at_most,
    not_applicable,
    rule,
    several,
    worst,
)
from dumbbell.counts import count
from dumbbell.engines.capabilities import HANDOVER, HOSTS, TRAFFIC
from dumbbell.plan.network import network
from dumbbell.plan.parts import cc, gateway, group, hosts, kind
from dumbbell.plan.sysctls import own_buffers
from dumbbell.plan.types import Plan
from dumbbell.scenario.traffic.kinds.flow import Kind

_PRESSURES: Final = "TCPMemoryPressures"

UNCONNECTED: Final = "it was not connected when it stopped"
"""The error that both engines give for a flow whose SYN, or the answer to it, never arrived."""


@rule("complete", "the run was stopped before its end", TRAFFIC)
def complete(evidence: Evidence) -> Judgement:
    """Judges whether the traffic ran for as long as planned."""
    stopped = evidence.traffic["interrupted"]
    measured = f"stopped after {evidence.traffic['wall_s']:.1f} s" if stopped else "ran to its end"
    return Judgement(Verdict.INVALID if stopped else Verdict.VALID, measured, "runs to its end")


@rule("flow-errors", "a flow did not run as planned", TRAFFIC)
def flow_errors(evidence: Evidence) -> Judgement:
    """Flows that report an error, and flows that delivered nothing.

    Nothing delivered may be the result: a flow that starves. It counts, and somebody should look. Some of many
    connections with random starts begin when there is no time left to deliver. On a path with too many routers nothing
    can arrive.
    """
    late = {
        flow.id
        for flow in evidence.plan.flows
        if group(flow) != flow.id and flow.stop_ns - flow.start_ns < limit.CONNECTED_WITHIN_NS
    }
    commands = {flow.id for flow in evidence.plan.flows if kind(flow).runs_programs}
    flows = evidence.traffic["flows"]
    silent = {flow["id"] for flow in flows if not flow["received_bytes"]} - late
    failed = [flow for flow in flows if flow["error"] not in (None, UNCONNECTED)]
    starved_ids = silent - commands - {flow["id"] for flow in failed}
    starved = [flow for flow in flows if flow["id"] in starved_ids]
    wrong = [
        f"{flow['id']}: {flow['error'] or 'delivered nothing'}{_expired(evidence.plan, flow['id'])}"
        for flow in (*failed, *starved)
    ]
    hopeless = any(_expired(evidence.plan, flow["id"]) for flow in starved)
    verdict = Verdict.INVALID if failed or hopeless else Verdict.SUSPECT if starved else Verdict.VALID
    return Judgement(verdict, several(wrong) or "none", "none")


def _expired(plan: Plan, flow_id: str) -> str:
    """`, the TTL ran out at r64` of a flow whose path has too many routers."""
    flow = next(flow for flow in plan.flows if flow.id == flow_id)
    router = network(plan).ttl_ends(flow)
    return "" if router is None else f", the TTL ran out at {router}"


@rule("algorithm", "a flow did not use the congestion control that the scenario names", TRAFFIC)
def algorithm(evidence: Evidence) -> Judgement:
    """The algorithm read back from each socket; of a program, from its connection that sent most."""
    planned = {flow.id: cc(flow) for flow in evidence.plan.flows}
    programs = {flow.id for flow in evidence.plan.flows if kind(flow).runs_programs}
    # A program sets its algorithm itself: only the plan has the one that it should set.
    asked = [
        (flow["id"], flow["cc_requested"] or planned[flow["id"]], flow["cc_actual"] or "unknown")
        for flow in evidence.traffic["flows"]
        # A flow that starved so that it never connected has no socket to ask.
        if flow["cc_actual"] or flow["received_bytes"] or flow["id"] in programs
    ]
    flows = [(flow, requested, actual) for flow, requested, actual in asked if requested]
    if not flows:
        return not_applicable("no flow sets an algorithm")
    wrong = [f"{flow}: {actual} instead of {requested}" for flow, requested, actual in flows if actual != requested]
    # Such a connection has the algorithm's name and keeps its first window.
    wrong += [
        f"{fact['label']}: no memory for the state of {count(fact['stateless_flows'], 'connection')} "
        "(net.core.optmem_max)"
        for fact in evidence.lab.get("algorithms", [])
        if fact.get("stateless_flows")
    ]
    used = ", ".join(f"{flow}: {actual}" for flow, _, actual in flows)
    if len(flows) > MOST_NAMED:
        counts = Counter(actual for _, _, actual in flows)
        used = ", ".join(f"{count(n, 'flow')}: {actual}" for actual, n in counts.items())
    return Judgement(Verdict.INVALID if wrong else Verdict.VALID, several(wrong) or used, "as requested")


@rule(
    "window-limits",
    "a receive window or send buffer limited a flow, and not its congestion control",
    TRAFFIC,
)
def window_limits(evidence: Evidence) -> Judgement:
    """Busy time limited by rwnd or sndbuf, for the flow that was limited most.

    A scenario that sets the size of a buffer may want just that: then it is suspect at most.
    """
    planned = {flow.id: flow for flow in evidence.plan.flows}
    own = _own_buffers(evidence)
    suspect, invalid = limit.LIMITED_SHARE
    found: list[tuple[Verdict, float, str]] = []
    for flow in evidence.traffic["flows"]:
        if not flow["busy_us"]:
            continue
        ends = planned[flow["id"]]
        for side, named, host in (("rwnd", "receive window", ends.to), ("sndbuf", "send buffer", ends.from_)):
            share = flow[f"{side}_limited_us"] / flow["busy_us"]
            verdict = at_most(share, (suspect, invalid))
            said = f"{flow['id']}: {share:.2%} of busy time limited by the {named}"
            if verdict is not Verdict.VALID and side in own[host]:
                verdict, said = Verdict.SUSPECT, f"{said}, whose size the scenario sets"
            found.append((verdict, share, said))
    if not found:
        return not_applicable("no TCP flow was busy")
    verdict, _, said = max(found, key=lambda one: (one[0].badness, one[1]))
    return Judgement(verdict, said, f"<= {suspect:.0%}")


@rule(
    "congestion-window",
    "a congestion window was larger than any path can fill: the algorithm or the kernel is at fault",
    TRAFFIC,
)
def congestion_window(evidence: Evidence) -> Judgement:
    """The largest window of all samples, in packets."""
    largest = evidence.largest_window
    if largest is None:
        return not_applicable("no TCP flow was sampled")
    most = limit.WINDOW_PACKETS
    verdict = Verdict.SUSPECT if largest > most else Verdict.VALID
    return Judgement(verdict, f"at most {largest:,} packets", f"<= {most:,} packets")


@rule(
    "offloads",
    "segments were merged or split outside the emulator, so queues did not hold packets of wire size",
    HOSTS,
    HANDOVER,
)
def offloads(evidence: Evidence) -> Judgement:
    """Segmentation and checksum offloads, as read back at the end of the run and as seen in the packets."""
    # Hosts on the GSO path send and receive bursts, which the emulator takes apart and puts together.
    in_bursts = evidence.plan.emulate.path == "gso"
    wrong = [
        f"{host}: {feature} is on"
        for host, features in evidence.lab["offloads"].items()
        for feature in sorted(features)
        if features[feature] and not in_bursts
    ]
    seen = {"oversize_packets": "larger than on a wire", "checksum_missing": "without a checksum"}
    wrong += [f"{count(n, 'packet')} {what}" for key, what in seen.items() if (n := evidence.network[key])]
    sound = "every burst was taken apart" if in_bursts else "all off"
    return Judgement(Verdict.INVALID if wrong else Verdict.VALID, several(wrong) or sound, sound)


@rule("sysctls", "a kernel setting was not what the plan says", HOSTS)
def sysctls(evidence: Evidence) -> Judgement:
    """Every planned sysctl against its value read back at the end of the run."""
    wrong = [
        f"{host}: {key} = {actual!r} instead of {wanted!r}"
        for host, key, wanted, actual in _sysctls(evidence)
        if actual is None or actual.split() != wanted.split()
    ]
    return Judgement(Verdict.INVALID if wrong else Verdict.VALID, several(wrong) or "as planned", "as planned")


@rule(
    "tcp-memory",
    "TCP lacked memory: a receiver threw segments away, a loss that no link caused, or windows shrank",
    HOSTS,
)
def tcp_memory(evidence: Evidence) -> Judgement:
    """Judges shortages of memory on hosts, by the kernel's counters.

    A scenario that limits a receiver's buffer may want just that: then it is suspect at most. A full buffer puts no
    kernel under memory pressure, so it does not explain what was thrown away under pressure. Pressure is counted once,
    at the host whose socket brought it about, and is felt by all.
    """
    own, shortages = _own_buffers(evidence), evidence.lab["shortages"]
    pressed = any(_PRESSURES in counts for counts in shortages.values())
    found: list[tuple[Verdict, str]] = []
    for host, counts in shortages.items():
        said = f"{host}: " + ", ".join(f"{n} {name}" for name, n in counts.items())
        if counts.keys() == {_PRESSURES}:
            found.append((Verdict.SUSPECT, said))
        elif "rwnd" in own.get(host, ()) and not pressed:
            found.append((Verdict.SUSPECT, f"{said}, with a buffer whose size the scenario sets"))
        else:
            found.append((Verdict.INVALID, said))
    measured = several([said for _, said in found]) or "nothing thrown away"
    return Judgement(worst(verdict for verdict, _ in found), measured, "none")


@rule("udp-hosts", "datagrams were lost inside a host: a loss that no link caused", HOSTS)
def udp_hosts(evidence: Evidence) -> Judgement:
    """Datagrams refused by the sender's kernel, or dropped by the receiver's full socket."""
    counted = [(flow["id"], kind.lost_in_hosts(flow)) for kind, flow in _accounts(evidence)]
    flows = [(flow, losses) for flow, losses in counted if losses is not None]
    if not flows:
        return not_applicable("no UDP flow")
    lost = []
    for flow, (refused, dropped) in flows:
        # The kernel counts datagrams with a wrong checksum there, too.
        dropped = max(dropped - _corrupted(evidence, flow), 0)
        if refused or dropped:
            lost.append(f"{flow}: {refused} refused, {dropped} dropped by the receiver's socket")
    return Judgement(Verdict.INVALID if lost else Verdict.VALID, several(lost) or "none lost", "none")


def _corrupted(evidence: Evidence, flow: str) -> int:
    """Packets of `flow` that links corrupted; without a record of packets, those of all flows."""
    if evidence.corrupted_packets is None:
        return sum(link["corrupted"] for link in evidence.network["links"])
    return evidence.corrupted_packets.get(flow, 0)


@rule("commands", "an external program failed, so its traffic is not what the scenario asks for", HOSTS)
def commands(evidence: Evidence) -> Judgement:
    """Exit codes of external programs and of their servers. One that ran until we ended it may answer with any."""
    ended = [(flow["id"], kind.failed_programs(flow)) for kind, flow in _accounts(evidence)]
    ran = [(flow, failures) for flow, failures in ended if failures is not None]
    programs = evidence.traffic.get("programs", ())
    if not ran and not programs:
        return not_applicable("no flow runs a program")
    wrong = [f"{flow}: {failure}" for flow, failures in ran for failure in failures]
    wrong += [
        f"{one['name']}: exit code {one['exit_code']}"
        for one in programs
        if one["exit_code"] not in (0, None) and not one["ended_by_us"]
    ]
    threshold = "exit code 0, or ended at the flow's stop"
    return Judgement(Verdict.INVALID if wrong else Verdict.VALID, several(wrong) or "no failures", threshold)


@rule("outside", "traffic with this machine's network is in no plan, so that nothing repeats the run", HOSTS)
def outside(evidence: Evidence) -> Judgement:
    """Judges whether the network led out of the lab while a lab was recorded."""
    router = gateway(evidence.plan)
    measured = "the network leads nowhere else" if router is None else f"{router} leads to this machine's network"
    return Judgement(Verdict.VALID if router is None else Verdict.SUSPECT, measured, "no way out")


def _accounts(evidence: Evidence) -> Iterator[tuple[type[Kind[Any]], Any]]:
    """Counts of each flow of the run, and the flow's kind."""
    kinds = {flow.id: kind(flow) for flow in evidence.plan.flows}
    return ((kinds[flow["id"]], flow) for flow in evidence.traffic["flows"])


def _own_buffers(evidence: Evidence) -> dict[str, set[str]]:
    """The windows of each host that the scenario limits itself."""
    return {node.name: own_buffers(node.sysctl) for node in hosts(evidence.plan)}


def _sysctls(evidence: Evidence) -> Iterator[tuple[str, str, str, str | None]]:
    for host in hosts(evidence.plan):
        actual = evidence.lab["sysctls"].get(host.name, {})
        for key, wanted in host.sysctl.items():
            yield host.name, key, wanted, actual.get(key)


RULES: Final[tuple[Rule, ...]] = (
    complete,
    flow_errors,
    algorithm,
    window_limits,
    congestion_window,
    offloads,
    sysctls,
    tcp_memory,
    udp_hosts,
    commands,
    outside,
)

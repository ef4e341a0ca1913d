"""Checks whether every packet is accounted for, and whether the links did what the plan says."""

from __future__ import annotations

from typing import Final

from dumbbell.analysis import thresholds as limit
from dumbbell.analysis.evidence import Evidence
from dumbbell.analysis.rules.rule import (
    Judgement,
    Rule,
    Verdict,
    at_most,
    none_of,
    not_applicable,
    rule,
    several,
)
from dumbbell.counts import by_number
from dumbbell.engines.capabilities import CONSERVATION, HANDOVER, HOSTS, TRAFFIC
from dumbbell.plan.network import network


@rule("ring-drops", "packets were lost between kernel and emulator: a loss that no link caused", HANDOVER)
def ring_drops(evidence: Evidence) -> Judgement:
    """Packets that found the ring full."""
    return none_of(evidence.network["ring_drops"], f"of {evidence.network['ring_packets']} packets lost in the ring")


@rule("delay-line", "packets found no room inside a link: a loss that no link caused", HANDOVER)
def delay_line(evidence: Evidence) -> Judgement:
    """Packets that found the arena full."""
    network = evidence.network
    used = network["arena_peak_bytes"] / network["arena_bytes"]
    what = by_number(network["arena_overflows"], "overflow", "overflows")
    return none_of(network["arena_overflows"], f"{what}; at most {used:.1%} of the room was used")


@rule("send-errors", "packets that a link delivered never reached their host", HANDOVER)
def send_errors(evidence: Evidence) -> Judgement:
    """Deliveries that the kernel refused."""
    reason = evidence.network["send_error"]
    what = f"of {evidence.network['sent_packets']} deliveries failed" + (f", the last with: {reason}" if reason else "")
    return none_of(evidence.network["send_errors"], what)


@rule("conservation", "packets vanished, or appeared from nowhere, inside the network", CONSERVATION)
def conservation(evidence: Evidence) -> Judgement:
    """Per link and over all: what entered, and copies, was delivered, dropped for a reason, or is still inside."""
    network = evidence.network
    wrong = []
    for link in network["links"]:
        came = link["arrived_packets"] + link["duplicated"]
        out = sum(link[key] for key in ("delivered_packets", "lost_before", "lost_after", "inside"))
        out += sum(link["dropped"].values())
        if came != out:
            wrong.append(f"{link['name']}: {came} packets came, {out} are accounted for")
    came = sum(network.get(f"{what}_packets", 0) for what in ("entered", "duplicated", "flooded"))
    out = sum(network.get(f"{what}_packets", 0) for what in ("left", "dropped", "filtered", "inside"))
    if came != out:
        wrong.append(f"all links: {came} packets came, {out} are accounted for")
    return Judgement(
        Verdict.INVALID if wrong else Verdict.VALID,
        several(wrong) or f"all {came} packets are accounted for",
        "no difference",
    )


@rule("packet-log", "the packets table lacks packets that the links counted", CONSERVATION)
def packet_log(evidence: Evidence) -> Judgement:
    """Rows of `packets` against the links' own counters."""
    if evidence.logged_packets is None:
        return not_applicable("packets were not recorded")
    silent = network(evidence.plan).transparent
    counted = {
        link["name"]: link["arrived_packets"] + link["duplicated"]
        for link in evidence.network["links"]
        if link["name"] not in silent
    }
    wrong = [
        f"{name}: rows of {evidence.logged_packets.get(name, 0)} of {count} packets"
        for name, count in counted.items()
        if evidence.logged_packets.get(name, 0) != count
    ]
    rows = sum(evidence.logged_packets.values())
    measured = several(wrong) or f"rows of all {rows} packets"
    return Judgement(Verdict.INVALID if wrong else Verdict.VALID, measured, "no difference")


@rule(
    "interfaces", "the kernel lost packets between the emulator and a host: a loss that no link caused", HANDOVER, HOSTS
)
def interfaces(evidence: Evidence) -> Judgement:
    """Drop and error counters of every virtual interface, and frames that hosts received of those sent to them."""
    keys = ("rx_dropped", "tx_dropped", "rx_errors", "tx_errors")
    # An interface counts a burst of segments as one.
    sent = evidence.network["bursts_out"] + evidence.network.get("warm_up_frames", 0)
    received = sum(interface["rx_packets"] for interface in evidence.lab["interfaces"] if interface["side"] == "host")
    # Wires carry frames of any kind. A host counts those as received and dropped whose protocol it does not speak, such
    # as hellos of IS-IS.
    has_wires = any(link.from_interface or link.to_interface for link in evidence.plan.links)
    unknown = ("host", "rx_dropped") if has_wires and received == sent else None
    # An interface that loses its carrier drops what it is about to send.
    links = (*evidence.plan.links, *(event.link for event in evidence.plan.events))
    unplugged = {(link.from_, link.from_interface or "eth0") for link in links if link.carrier == "lost"}
    wrong = [
        f"{interface['interface']} of {interface['host']} ({interface['side']} side): {interface[key]} {key}"
        for interface in evidence.lab["interfaces"]
        if (interface["host"], interface["interface"]) not in unplugged
        for key in keys
        if interface[key] and (interface["side"], key) != unknown
    ]
    if received != sent:
        wrong.append(f"hosts received {received} of {sent} frames")
    measured = several(wrong) or f"no drops or errors; hosts received all {sent} frames"
    return Judgement(Verdict.INVALID if wrong else Verdict.VALID, measured, "none lost")


@rule(
    "softnet",
    "a CPU's packet backlog overflowed; the counter is the machine's, so the packets may not be this run's",
    HOSTS,
)
def softnet(evidence: Evidence) -> Judgement:
    """The machine's softnet drop counter over the run."""
    dropped = evidence.lab["softnet_dropped"]
    return none_of(dropped, by_number(dropped, "drop on the machine", "drops on the machine"), Verdict.SUSPECT)


@rule("unroutable", "hosts sent packets to addresses outside the topology, which lead nowhere", HANDOVER)
def unroutable(evidence: Evidence) -> Judgement:
    """Packets without a path."""
    stray = evidence.network["unroutable_packets"]
    return none_of(stray, by_number(stray, "packet without a path", "packets without a path"), Verdict.SUSPECT)


@rule("rate", "the link was not as fast as configured", CONSERVATION)
def rate(evidence: Evidence) -> Judgement:
    """Achieved against configured rate, for the link that is off most; no link may ever send more than its capacity."""
    if evidence.logged_packets is None:
        return not_applicable("packets were not recorded")
    if evidence.plan.emulate.links == "mininet":
        return not_applicable("in Mininet's links packets propagate before they wait, and htb lets bursts pass")
    within = f"within {limit.RATE_ERROR[0]:.0%}"
    # One packet may be under way at the beginning of any time. tbf's bucket of tokens holds a little more than one.
    most, packets = (1, "a packet") if evidence.plan.emulate.links is None else (2, "two packets")
    too_fast = {name: pace.excess_packets for name, pace in evidence.paces.items() if pace.excess_packets > most}
    if too_fast:
        name = max(too_fast, key=lambda name: too_fast[name])
        measured = f"{name}: {too_fast[name]:.1f} packets more than its capacity in some interval"
        return Judgement(Verdict.INVALID, measured, f"{within}; never more than its capacity and {packets}")
    errors = {name: pace.achieved - 1 for name, pace in evidence.paces.items() if pace.achieved is not None}
    if not errors:
        return not_applicable("no link with a known rate was busy for 0.1 s without a break")
    name = max(errors, key=lambda name: abs(errors[name]))
    first = next(link for link in evidence.plan.links if link.name == name).rate_bps or 0
    is_steady = network(evidence.plan).facts[name].is_steady
    of = f"{first / 1e6:g} Mbit/s" if is_steady else "its rate, which changes"
    return Judgement(at_most(abs(errors[name]), limit.RATE_ERROR), f"{name}: {errors[name]:+.2%} of {of}", within)


@rule("rtt-floor", "packets travelled faster than the links' delays allow", TRAFFIC)
def rtt_floor(evidence: Evidence) -> Judgement:
    """The smallest RTT that TCP measured against the least delay of its path at any time, in whole ms."""
    # The kernel counts RTTs in whole microseconds. After a retransmission it may only have timestamps to measure by,
    # which count whole milliseconds (RFC 7323 section 4). Both round down.
    found = network(evidence.plan)
    margins = {
        flow.id: evidence.min_rtt_us[flow.id] - found.least_rtt_ns(flow) // 1_000_000 * 1000
        for flow in evidence.plan.flows
        if flow.id in evidence.min_rtt_us
    }
    if not margins:
        return not_applicable("no flow measured an RTT")
    flow = min(margins, key=lambda flow: margins[flow])
    verdict = Verdict.INVALID if margins[flow] < -1 else Verdict.VALID
    side = "below" if margins[flow] < 0 else "above"
    measured = f"{flow}: least RTT {abs(margins[flow])} us {side} that of its path in whole ms"
    return Judgement(verdict, measured, "not below that of its path in whole ms")


RULES: Final[tuple[Rule, ...]] = (
    ring_drops,
    delay_line,
    send_errors,
    conservation,
    packet_log,
    interfaces,
    softnet,
    unroutable,
    rate,
    rtt_floor,
)

"""Is every packet accounted for, and did the links do what the plan says?"""

from __future__ import annotations

from typing import Final

from dumbbell.analysis import thresholds as limit
from dumbbell.analysis.evidence import Evidence
from dumbbell.analysis.verdict import Judgement, Rule, Verdict, at_most, none_of, not_applicable, rule
from dumbbell.plan.paths import base_rtt_ns, is_transparent


@rule("ring-drops", "packets were lost between kernel and emulator: a loss that no link caused")
def ring_drops(evidence: Evidence) -> Judgement:
    """Packets that found the ring full."""
    return none_of(evidence.emulator["ring_drops"], f"of {evidence.emulator['ring_packets']} packets lost in the ring")


@rule("delay-line", "packets found no room inside a link: a loss that no link caused")
def delay_line(evidence: Evidence) -> Judgement:
    """Packets that found the arena full."""
    emulator = evidence.emulator
    used = emulator["arena_peak_bytes"] / emulator["arena_bytes"]
    return none_of(emulator["arena_overflows"], f"overflows; at most {used:.1%} of the room was used")


@rule("send-errors", "packets that a link delivered never reached their host")
def send_errors(evidence: Evidence) -> Judgement:
    """Deliveries that the kernel refused."""
    reason = evidence.emulator["send_error"]
    what = f"of {evidence.emulator['sent_packets']} deliveries failed" + (
        f", the last with: {reason}" if reason else ""
    )
    return none_of(evidence.emulator["send_errors"], what)


@rule("conservation", "packets vanished, or appeared from nowhere, inside the emulator")
def conservation(evidence: Evidence) -> Judgement:
    """Per link and over all: what entered was delivered, dropped for a reason, or is still inside."""
    emulator = evidence.emulator
    wrong = []
    for link in emulator["links"]:
        out = sum(link[key] for key in ("delivered_packets", "dropped_tail", "lost_before", "lost_after", "inside"))
        if link["arrived_packets"] != out:
            wrong.append(f"{link['name']}: {link['arrived_packets']} arrived, {out} accounted for")
    out = emulator["left_packets"] + emulator["dropped_packets"] + emulator["inside_packets"]
    if emulator["entered_packets"] != out:
        wrong.append(f"all links: {emulator['entered_packets']} entered, {out} accounted for")
    return Judgement(
        Verdict.INVALID if wrong else Verdict.VALID,
        "; ".join(wrong) or f"all of {emulator['entered_packets']} packets accounted for",
        "no difference",
    )


@rule("packet-log", "the packets table lacks packets that the links counted")
def packet_log(evidence: Evidence) -> Judgement:
    """Rows of `packets` against the links' own counters."""
    if evidence.logged_packets is None:
        return not_applicable("packets were not recorded")
    counted = {link["name"]: link["arrived_packets"] for link in evidence.emulator["links"]}
    wrong = [
        f"{link['name']}: {evidence.logged_packets.get(link['name'], 0)} rows of {counted[link['name']]} packets"
        for link in evidence.plan["links"]
        if not is_transparent(link) and evidence.logged_packets.get(link["name"], 0) != counted[link["name"]]
    ]
    rows = sum(evidence.logged_packets.values())
    return Judgement(
        Verdict.INVALID if wrong else Verdict.VALID, "; ".join(wrong) or f"all {rows} rows", "no difference"
    )


@rule("interfaces", "the kernel lost packets between the emulator and a host: a loss that no link caused")
def interfaces(evidence: Evidence) -> Judgement:
    """Drop and error counters of every virtual interface, and packets that hosts received of those sent to them."""
    keys = ("rx_dropped", "tx_dropped", "rx_errors", "tx_errors")
    wrong = [
        f"{interface['host']} ({interface['side']} side): {interface[key]} {key}"
        for interface in evidence.lab["interfaces"]
        for key in keys
        if interface[key]
    ]
    sent = evidence.emulator["sent_packets"]
    received = sum(interface["rx_packets"] for interface in evidence.lab["interfaces"] if interface["side"] == "host")
    if received != sent:
        wrong.append(f"hosts received {received} of {sent} packets")
    measured = "; ".join(wrong) or f"no drops or errors; hosts received all {sent} packets"
    return Judgement(Verdict.INVALID if wrong else Verdict.VALID, measured, "none lost")


@rule(
    "softnet", "a CPU's packet backlog overflowed; the counter is the machine's, so the packets may not be this run's"
)
def softnet(evidence: Evidence) -> Judgement:
    """The machine's softnet drop counter over the run."""
    return none_of(evidence.lab["softnet_dropped"], "drops on the machine", Verdict.SUSPECT)


@rule("unroutable", "hosts sent packets to addresses outside the topology, which lead nowhere")
def unroutable(evidence: Evidence) -> Judgement:
    """Packets without a path."""
    return none_of(evidence.emulator["unroutable_packets"], "packets without a path", Verdict.SUSPECT)


@rule("rate", "the link was not as fast as configured")
def rate(evidence: Evidence) -> Judgement:
    """Achieved against configured rate, for the link that is off most."""
    if evidence.logged_packets is None:
        return not_applicable("packets were not recorded")
    configured = {link["name"]: link["rate_bps"] for link in evidence.plan["links"]}
    errors = {
        name: achieved / configured[name] - 1
        for name, achieved in evidence.achieved_bps.items()
        if achieved is not None
    }
    if not errors:
        return not_applicable("no rate-limited link was busy for 0.1 s on end")
    name = max(errors, key=lambda name: abs(errors[name]))
    return Judgement(
        at_most(abs(errors[name]), limit.RATE_ERROR),
        f"{name}: {errors[name]:+.2%} of {configured[name] / 1e6:g} Mbit/s",
        f"within {limit.RATE_ERROR[0]:.0%}",
    )


@rule("rtt-floor", "packets travelled faster than the links' delays allow")
def rtt_floor(evidence: Evidence) -> Judgement:
    """The smallest RTT that TCP measured against the base RTT of its path, in whole ms."""
    # The kernel counts RTTs in whole microseconds. After a retransmission it may only have timestamps to measure by,
    # which count whole milliseconds (RFC 7323 section 4). Both round down.
    margins = {
        flow["id"]: evidence.min_rtt_us[flow["id"]] - base_rtt_ns(evidence.plan, flow) // 1_000_000 * 1000
        for flow in evidence.plan["flows"]
        if flow["id"] in evidence.min_rtt_us
    }
    if not margins:
        return not_applicable("no flow measured an RTT")
    flow = min(margins, key=lambda flow: margins[flow])
    verdict = Verdict.INVALID if margins[flow] < -1 else Verdict.VALID
    return Judgement(verdict, f"{flow}: base RTT in whole ms {margins[flow]:+d} us", ">= base RTT in whole ms")


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

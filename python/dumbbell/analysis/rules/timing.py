"""Checks whether everything happened when it was due."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from dumbbell.analysis import thresholds as limit
from dumbbell.analysis.evidence import Evidence
from dumbbell.analysis.rules.rule import (
    Judgement,
    Rule,
    Verdict,
    at_least,
    at_most,
    not_applicable,
    rule,
    worst,
)
from dumbbell.counts import count
from dumbbell.engines.capabilities import CLOCK, CPU, HANDOVER, HOSTS, SCHEDULE
from dumbbell.plan.network import network
from dumbbell.plan.parts import kind


@rule("lateness", "late packets add to every RTT and blur the gaps between packets", HANDOVER)
def lateness(evidence: Evidence) -> Judgement:
    """99th percentile of lateness, and the share of packets that are over 1 ms late."""
    limits = _lateness_us(evidence)
    p99 = evidence.network["lateness_us"]["p99"]
    sent, late = evidence.network["sent_packets"], evidence.network["late_over_1ms"]
    share = late / sent if sent else 0.0
    return Judgement(
        worst([at_most(p99, limits), at_most(share, limit.LATE_OVER_1MS_SHARE)]),
        f"p99 {p99:.0f} us; {share:.3%} of packets over 1 ms",
        f"p99 <= {limits[0]:.0f} us; <= {limit.LATE_OVER_1MS_SHARE[0]:.1%} over 1 ms",
    )


@rule("stall", "the network paused for so long that a congestion control may have reacted to it", HANDOVER)
def stall(evidence: Evidence) -> Judgement:
    """The longest lateness of any packet."""
    longest_ms = evidence.network["lateness_us"]["max"] / 1000
    suspect, invalid = limit.STALL_MS
    return Judgement(at_most(longest_ms, (suspect, invalid)), f"longest {longest_ms:.1f} ms", f"<= {suspect:.0f} ms")


@rule("read-lag", "packets that wait long in the ring may come too late for links of short delay", HANDOVER)
def read_lag(evidence: Evidence) -> Judgement:
    """Judges the time from arrival in the ring until the emulator reads."""
    p99 = evidence.network["read_lag_us"]["p99"]
    suspect, invalid = limit.READ_LAG_P99_US
    return Judgement(at_most(p99, (suspect, invalid)), f"p99 {p99:.0f} us", f"p99 <= {suspect:.0f} us")


@rule("emulator-starved", "the emulator was ready to run and had no CPU", CPU)
def emulator_starved(evidence: Evidence) -> Judgement:
    """Time in the run queue, of the run, and at a time."""
    return _waited(evidence, evidence.network, limit.EMULATOR_WAIT_SHARE)


@rule(
    "traffic-starved",
    "senders and receivers were ready to run and had no CPU, so hosts were slower than the network",
    CPU,
)
def traffic_starved(evidence: Evidence) -> Judgement:
    """Time in the run queue, of the run, and at a time."""
    return _waited(evidence, evidence.traffic, limit.TRAFFIC_WAIT_SHARE)


@rule(
    "cpus",
    "hosts and links took turns on one CPU: the testbed influenced the results, and an algorithm that needs more "
    "CPU time looks worse than it is",
    CPU,
)
def cpus(evidence: Evidence) -> Judgement:
    """Judges the number of CPUs that the lab could use."""
    cpus = evidence.lab.get("cpus")
    if cpus is None:
        return not_applicable("the run was made before this was recorded")
    verdict = Verdict.SUSPECT if cpus < limit.CPUS else Verdict.VALID
    return Judgement(verdict, f"all processes of the lab shared {count(cpus, 'CPU')}", f">= {limit.CPUS} CPUs")


@rule("steal", "the hypervisor gave this machine's CPU to others", CPU)
def steal(evidence: Evidence) -> Judgement:
    """Steal time, of all cores' time."""
    cpu = evidence.lab["cpu"]
    share = _share(cpu["steal_s"], sum(cpu[kind] for kind in ("user_s", "system_s", "steal_s", "idle_s")))
    suspect, invalid = limit.STEAL_SHARE
    return Judgement(at_most(share, (suspect, invalid)), f"{share:.2%} of the time of all cores", f"<= {suspect:.0%}")


@rule("virtual-cpu", "hosts and links took turns on the one CPU of a virtual machine, which was busy", HOSTS)
def virtual_cpu(evidence: Evidence) -> Judgement:
    """Time in which a virtual machine's CPU was not idle, of the run."""
    kernel = evidence.lab.get("kernel", {})
    if "machine" not in kernel:
        return not_applicable("no virtual machine whose clock counts instructions took part")
    cpu = evidence.lab["cpu"]
    busy = _share(cpu["user_s"] + cpu["system_s"], cpu["user_s"] + cpu["system_s"] + cpu["idle_s"])
    suspect = limit.VIRTUAL_CPU_SHARE[0]
    return Judgement(at_most(busy, limit.VIRTUAL_CPU_SHARE), f"busy {busy:.0%} of the time", f"<= {suspect:.0%}")


@rule("clock-steps", "arrivals are stamped with the wall clock, which was set during the run", CLOCK)
def clock_steps(evidence: Evidence) -> Judgement:
    """Steps of the wall clock against the monotonic one."""
    steps = [
        f"{step['step_ns'] / 1e6:+.1f} ms at {step['time_ns'] / 1e9:.1f} s" for step in evidence.network["clock_steps"]
    ]
    return Judgement(Verdict.INVALID if steps else Verdict.VALID, ", ".join(steps) or "no steps", "none")


@rule("samples", "a short event, such as BBR's ProbeRTT, may be missing from the plots", SCHEDULE)
def samples(evidence: Evidence) -> Judgement:
    """Samples taken of those expected, and the longest gap."""
    sampling = evidence.traffic["sampling"]
    if not sampling["expected"]:
        return not_applicable("no samples were due")
    share = sampling["taken"] / sampling["expected"]
    gap_ms = sampling["interval_us"]["max"] / 1000
    gap_limit_ms = max(limit.SAMPLE_GAP_MS, limit.SAMPLE_GAP_INTERVALS * evidence.plan.record.sample_interval_ns / 1e6)
    return Judgement(
        worst(
            [
                at_least(share, limit.SAMPLES_TAKEN_SHARE),
                Verdict.SUSPECT if gap_ms > gap_limit_ms else Verdict.VALID,
            ]
        ),
        f"{share:.2%} of samples taken; longest gap {gap_ms:.0f} ms",
        f">= {limit.SAMPLES_TAKEN_SHARE[0]:.0%}; gap <= {gap_limit_ms:.0f} ms",
    )


@rule("udp-schedule", "datagrams did not leave at the times of their constant rate", SCHEDULE)
def udp_schedule(evidence: Evidence) -> Judgement:
    """99th percentile of |actual - scheduled| sending time, for the worst UDP flow."""
    planned = {flow.id: flow for flow in evidence.plan.flows}
    worst_flow: tuple[float, Judgement] | None = None
    for flow in evidence.traffic["flows"]:
        of = planned[flow["id"]]
        p99, gap_us = kind(of).schedule_error_us(flow), kind(of).gap_us(of.workload, of.ip)
        if p99 is None:
            continue
        assert gap_us is not None
        suspect, invalid = (
            max(floor, share * gap_us)
            for floor, share in zip(limit.SCHEDULE_ERROR_P99_US, limit.SCHEDULE_ERROR_OF_GAP, strict=True)
        )
        found = Judgement(
            at_most(p99, (suspect, invalid)), f"{flow['id']}: p99 {p99:.0f} us", f"p99 <= {suspect:.0f} us"
        )
        if worst_flow is None or p99 / suspect > worst_flow[0]:
            worst_flow = (p99 / suspect, found)
    return worst_flow[1] if worst_flow else not_applicable("no UDP flow sent")


def _lateness_us(evidence: Evidence) -> tuple[float, float]:
    """The lateness that is suspect, and the one that is invalid."""
    rtt_us = min(network(evidence.plan).base_rtts_ns, default=0) / 1000
    suspect, invalid = (
        max(floor, share * rtt_us)
        for floor, share in zip(limit.LATENESS_P99_US, limit.LATENESS_P99_OF_RTT, strict=True)
    )
    return suspect, invalid


def _waited(evidence: Evidence, process: Mapping[str, Any], limits: tuple[float, float]) -> Judgement:
    """A process that wakes up thousands of times a second may wait for a large share of it, yet never for long."""
    if process["run_delay_s"] is None:
        return not_applicable("this kernel keeps no scheduler statistics")
    share = _share(process["run_delay_s"], process["wall_s"])
    measured, verdict = f"waited for a CPU {share:.2%} of the time", at_most(share, limits)
    if process.get("scheduled"):
        each_us, (short_us, _) = 1e6 * process["run_delay_s"] / process["scheduled"], _lateness_us(evidence)
        measured += f", {each_us:.0f} us each time"
        if verdict is Verdict.INVALID and each_us <= short_us:
            verdict = Verdict.SUSPECT
    return Judgement(verdict, measured, f"<= {limits[0]:.0%}")


def _share(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


RULES: Final[tuple[Rule, ...]] = (
    lateness,
    stall,
    read_lag,
    emulator_starved,
    traffic_starved,
    cpus,
    steal,
    virtual_cpu,
    clock_steps,
    samples,
    udp_schedule,
)

"""Each rule: what it lets pass, and what it catches."""

from __future__ import annotations

import copy
import re
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import known_run
import polars as pl
import pytest

from dumbbell.analysis.evidence import Coverage, Evidence
from dumbbell.analysis.pace import Pace
from dumbbell.analysis.rules.hosts import UNCONNECTED
from dumbbell.analysis.rules.rule import Check, Verdict, at_least, at_most, several, worst
from dumbbell.analysis.verdict import RULES
from dumbbell.analysis.verdict import check_all as check_all_rules
from dumbbell.engines.registry import capabilities
from dumbbell.pipeline.compose import evidence_of
from dumbbell.plan import wire
from dumbbell.records import Run
from dumbbell.records.accounts import Accounts

Change = Callable[[Evidence], object]


def sound() -> Evidence:
    """Evidence of a run without fault; a copy, free to be changed."""
    return Evidence(
        engine="emulate",
        plan=copy.deepcopy(known_run.PLAN),  # type: ignore[arg-type]
        network=copy.deepcopy(known_run.EMULATOR),
        traffic=copy.deepcopy(known_run.TRAFFIC),
        lab=copy.deepcopy(known_run.LAB),
        paces={"bottleneck": Pace(1.0, 0.4), "bottleneck-reverse": Pace(None, 0.0)},
        logged_packets={"bottleneck": known_run.PACKETS},
        corrupted_packets={},
        min_rtt_us={"f1": 21_000, "f2": 21_500},
        probe=copy.deepcopy(known_run.PROBE),
        ack_coverage={"f1": Coverage(1000, 0, 0), "f2": Coverage(1000, 1, 0)},
    )


def simulated() -> Evidence:
    """The same of a simulated run."""
    files = known_run.simulator_output()
    return replace(
        sound(),
        engine="simulate",
        network=files["simulator.json"],
        traffic=files["traffic.json"],
        lab={},
        probe=None,
    )


def check_all(evidence: Evidence) -> list[Check]:
    """All checks. The plan, which changes have altered as it is written, is read first."""
    return check_all_rules(replace(evidence, plan=wire.parsed(evidence.plan)))  # type: ignore[arg-type]


def update(path: str, value: Any) -> Change:
    """Set one value, as in `network.lateness_us.p99`; a list takes an index."""

    def change(evidence: Evidence) -> None:
        first, *middle, last = path.split(".")
        place: Any = getattr(evidence, first)
        for part in middle:
            place = place[int(part) if isinstance(place, list) else part]
        place[int(last) if isinstance(place, list) else last] = value

    return change


def virtual_cpu(share: float) -> Change:
    """Say that a virtual machine's CPU was busy for a share of the time."""

    def change(evidence: Evidence) -> None:
        update("lab.kernel", {"machine": "qemu"})(evidence)
        update("lab.cpu", {"user_s": share, "system_s": 0.0, "steal_s": 0.0, "idle_s": 1 - share, "cores": 1})(evidence)

    return change


def waited(process: str, seconds: float, times: int) -> Change:
    """Set how long a process waited for a CPU, and how often."""

    def change(evidence: Evidence) -> None:
        update(f"{process}.run_delay_s", seconds)(evidence)
        update(f"{process}.scheduled", times)(evidence)

    return change


def window(packets: int | None) -> Change:
    """Set the largest window."""
    return lambda evidence: object.__setattr__(evidence, "largest_window", packets)


def udp(flow: int = 0, **changes: Any) -> Change:
    """Make f1, or another flow, one of UDP with 1472 bytes at 10 Mbit/s: a datagram each 1211.2 us."""
    report = {
        "sent_packets": 1000,
        "refused_packets": 0,
        "received_packets": 1000,
        "lost_packets": 0,
        "reordered_packets": 0,
        "socket_drops": 0,
        "schedule_error_us": {"p50": 5.0, "p99": 50.0, "max": 100.0},
    } | changes

    def change(evidence: Evidence) -> None:
        workload = {"kind": "udp", "rate_bps": 10_000_000, "payload_bytes": 1472, "bytes": None}
        update(f"plan.flows.{flow}.workload", workload)(evidence)
        update(f"traffic.flows.{flow}.cc_requested", None)(evidence)
        update(f"traffic.flows.{flow}.udp", report)(evidence)

    return change


def command(
    exit_code: int | None,
    server_exit_code: int | None,
    *,
    ended: bool = False,
    server_ended: bool = False,
    cc: str | None = None,
) -> Change:
    """Make f1 a program with the key `cc`; `ended`: by us, at its stop."""
    workload = {"kind": "command", "command": "iperf3", "server_command": None} | ({"cc": cc} if cc else {})
    report = {
        "exit_code": exit_code,
        "ended_by_us": ended,
        "server_exit_code": server_exit_code,
        "server_ended_by_us": server_ended,
    }
    return both(
        update("plan.flows.0.workload", workload),
        update("traffic.flows.0.cc_requested", None),
        update("traffic.flows.0.command", report),
    )


def beside(exit_code: int | None, *, ended: bool) -> Change:
    """A program of no flow; `ended`: by us."""
    return update("traffic.programs", [{"name": "p1", "exit_code": exit_code, "ended_by_us": ended}])


def program_with(cc: str | None, actual: str | None) -> Change:
    """f1 is a program with the key `cc`; its socket said `actual`."""
    return both(command(0, None, cc=cc), update("traffic.flows.0.cc_actual", actual))


def both(*changes: Change) -> Change:
    return lambda evidence: [change(evidence) for change in changes]


def starved(error: str | None) -> Change:
    """No packet arrived, not even the handshake: there was no socket to ask for its algorithm."""
    changes = {"received_bytes": 0, "cc_actual": None, "error": error}
    return both(*(update(f"traffic.flows.1.{key}", value) for key, value in changes.items()))


EARLY = {"probability": 0.1, "correlation": 0.0, "gap": 1, "delay_ns": 2_000_000}
"""Packets that overtake."""


def later(**changes: Any) -> Change:
    """The bottleneck changes after a second."""
    event = {"at_ns": 10**9, "link": known_run.PLAN["links"][0] | changes}
    return lambda evidence: evidence.plan["events"].append(event)  # type: ignore[index]


def in_bursts(change: Change) -> Change:
    """The GSO path: 20 segments a burst, which interfaces count as one."""
    received = [update(f"lab.interfaces.{i}.rx_packets", known_run.PACKETS // 20) for i in (2,)]
    bursts = update("network.bursts_out", known_run.PACKETS // 20)
    return both(update("plan.emulate.path", "gso"), bursts, *received, change)


def steps(*sizes_ns: int) -> Change:
    return update("network.clock_steps", [{"time_ns": 1_750_000_000, "step_ns": size} for size in sizes_ns])


def _interface(number: int) -> dict[str, Any]:
    return {"name": "eth0", "mac": f"02:db:00:00:00:0{number}", "addresses": [f"10.0.0.{number}/30"]}


WIRED = both(
    *(update(f"plan.nodes.{i}.interfaces", [_interface(i + 1)]) for i in (0, 1)),
    *(update(f"plan.links.{i}.{end}_interface", "eth0") for i in (0, 1) for end in ("from", "to")),
)
"""The network is drawn: its frames cross links as on wires."""


def with_gateway(evidence: Evidence) -> None:
    """Add a router that leads to this machine's network, at an idle cable."""
    WIRED(evidence)
    plan: Any = evidence.plan
    router = {"kind": "router", "name": "r1", "address": "10.0.1.2", "sysctl": {}, "nat": True}
    nodes = [plan["nodes"][1], router | {"interfaces": []}]
    for number, node in enumerate(nodes, 1):
        own = _interface(2 + number) | {"name": "eth1", "addresses": [f"10.0.1.{number}/30"]}
        node["interfaces"] = [*node["interfaces"], own]
    plan["nodes"].append(nodes[1])
    for name, ends in (("cable", ("h2", "r1")), ("cable-reverse", ("r1", "h2"))):
        plan["links"].append(known_run.link(name, *ends, None, from_interface="eth1", to_interface="eth1"))


V, S, X = Verdict.VALID, Verdict.SUSPECT, Verdict.INVALID

CASES: list[tuple[str, Verdict, Change]] = [
    # Base RTT 20 ms: p99 up to max(150 us, 1 % of it = 200 us).
    ("lateness", V, update("network.lateness_us.p99", 200.0)),
    ("lateness", S, update("network.lateness_us.p99", 201.0)),
    ("lateness", S, update("network.lateness_us.p99", 2000.0)),
    ("lateness", X, update("network.lateness_us.p99", 2001.0)),
    ("lateness", V, update("network.late_over_1ms", known_run.PACKETS // 1000)),
    ("lateness", S, update("network.late_over_1ms", known_run.PACKETS // 1000 + 1)),
    ("lateness", X, update("network.late_over_1ms", known_run.PACKETS // 50)),
    ("stall", V, update("network.lateness_us.max", 10_000.0)),
    ("stall", S, update("network.lateness_us.max", 50_000.0)),
    ("stall", X, update("network.lateness_us.max", 200_001.0)),
    ("read-lag", V, update("network.read_lag_us.p99", 1000.0)),
    ("read-lag", S, update("network.read_lag_us.p99", 1001.0)),
    ("read-lag", X, update("network.read_lag_us.p99", 10_001.0)),
    ("emulator-starved", V, update("network.run_delay_s", 0.02)),
    ("emulator-starved", V, update("network.run_delay_s", None)),
    ("emulator-starved", V, both(update("network.run_delay_s", 0.0), update("network.wall_s", 0.0))),
    ("emulator-starved", S, update("network.run_delay_s", 0.021)),
    ("emulator-starved", X, update("network.run_delay_s", 0.21)),
    # Many short waits make a large share; 20 ms of RTT allow 0.2 ms each.
    ("emulator-starved", S, waited("network", 0.21, 2100)),
    ("emulator-starved", X, waited("network", 0.21, 1000)),
    ("traffic-starved", S, waited("traffic", 0.41, 4100)),
    ("traffic-starved", X, waited("traffic", 0.41, 2000)),
    ("traffic-starved", V, update("traffic.run_delay_s", 0.1)),
    ("traffic-starved", S, update("traffic.run_delay_s", 0.11)),
    ("traffic-starved", X, update("traffic.run_delay_s", 0.41)),
    ("cpus", V, update("lab.cpus", 2)),
    ("cpus", V, update("lab.cpus", None)),
    ("cpus", S, update("lab.cpus", 1)),
    ("steal", V, update("lab.cpu.steal_s", 0.04)),
    ("steal", S, update("lab.cpu.steal_s", 0.05)),
    ("steal", X, update("lab.cpu.steal_s", 0.5)),
    ("virtual-cpu", V, virtual_cpu(0.5)),
    ("virtual-cpu", S, virtual_cpu(0.51)),
    ("virtual-cpu", X, virtual_cpu(0.81)),
    ("clock-steps", V, steps()),
    ("clock-steps", X, steps(-2_000_000)),
    ("samples", V, update("traffic.sampling.taken", 198)),
    ("samples", S, update("traffic.sampling.taken", 197)),
    ("samples", X, update("traffic.sampling.taken", 179)),
    ("samples", V, update("traffic.sampling.interval_us.max", 100_000.0)),
    ("samples", S, update("traffic.sampling.interval_us.max", 100_001.0)),
    ("udp-schedule", V, udp()),
    ("udp-schedule", S, udp(schedule_error_us={"p50": 5.0, "p99": 201.0, "max": 300.0})),
    ("udp-schedule", X, udp(schedule_error_us={"p50": 5.0, "p99": 2001.0, "max": 3000.0})),
    ("udp-schedule", S, udp(1, schedule_error_us={"p50": 5.0, "p99": 201.0, "max": 300.0})),
    ("ring-drops", V, update("network.ring_drops", 0)),
    ("ring-drops", X, update("network.ring_drops", 1)),
    ("delay-line", V, update("network.arena_peak_bytes", 1 << 28)),
    ("delay-line", X, update("network.arena_overflows", 1)),
    ("send-errors", X, update("network.send_errors", 1)),
    (
        "conservation",
        V,
        both(
            update("network.links.0.delivered_packets", known_run.PACKETS - 5),
            update("network.links.0.dropped.dropped-tail", 2),
            update("network.links.0.dropped.dropped-early", 1),
            update("network.links.0.lost_after", 2),
            update("network.links.0.duplicated", 1),
            update("network.links.0.inside", 1),
            update("network.left_packets", known_run.PACKETS - 5),
            update("network.dropped_packets", 5),
            update("network.duplicated_packets", 1),
            update("network.inside_packets", 1),
            update("logged_packets.bottleneck", known_run.PACKETS + 1),
        ),
    ),
    ("conservation", X, update("network.links.0.delivered_packets", known_run.PACKETS - 1)),
    ("conservation", X, update("network.left_packets", known_run.PACKETS + 1)),
    ("conservation", X, update("network.duplicated_packets", 1)),
    ("packet-log", X, update("logged_packets.bottleneck", known_run.PACKETS - 1)),
    ("interfaces", X, update("lab.interfaces.3.rx_dropped", 1)),
    ("interfaces", X, update("lab.interfaces.0.rx_dropped", 1)),
    ("interfaces", V, both(WIRED, update("lab.interfaces.0.rx_dropped", 1))),
    ("interfaces", X, both(WIRED, update("lab.interfaces.1.rx_dropped", 1))),
    (
        "interfaces",
        X,
        both(WIRED, update("lab.interfaces.0.rx_dropped", 1), update("lab.interfaces.2.rx_packets", 0)),
    ),
    ("interfaces", X, update("lab.interfaces.0.tx_errors", 2)),
    ("interfaces", X, update("lab.interfaces.2.rx_packets", known_run.PACKETS - 1)),
    ("softnet", S, update("lab.softnet_dropped", 1)),
    ("unroutable", S, update("network.unroutable_packets", 1)),
    ("rate", V, update("paces.bottleneck", Pace(1.009, 0.0))),
    ("rate", V, update("paces.bottleneck", Pace(None, 1.0))),
    ("rate", S, update("paces.bottleneck", Pace(0.989, 0.0))),
    ("rate", X, update("paces.bottleneck", Pace(0.94, 0.0))),
    ("rate", X, update("paces.bottleneck", Pace(1.0, 1.1))),
    ("rate", X, update("paces.bottleneck-reverse", Pace(None, 2.0))),
    ("rtt-floor", V, update("min_rtt_us.f2", 19_999)),
    ("rtt-floor", X, update("min_rtt_us.f2", 19_900)),
    ("rtt-floor", V, both(update("min_rtt_us.f2", 15_000), later(delay_ns=5_000_000))),
    ("rtt-floor", X, both(update("min_rtt_us.f2", 14_900), later(delay_ns=5_000_000))),
    ("rtt-floor", V, both(update("min_rtt_us.f2", 12_000), update("plan.links.0.reorder", EARLY))),
    ("complete", X, update("traffic.interrupted", True)),
    ("flow-errors", X, update("traffic.flows.1.error", "connection refused")),
    # Starved, perhaps: that is a result.
    ("flow-errors", S, starved(error=None)),
    ("flow-errors", S, starved(error=UNCONNECTED)),
    ("algorithm", X, update("traffic.flows.1.cc_actual", "cubic")),
    ("algorithm", X, update("traffic.flows.1.cc_actual", None)),
    ("algorithm", X, update("lab.algorithms", [{"label": "bbr3", "stateless_flows": 2}])),
    ("algorithm", V, update("lab.algorithms", [{"label": "bbr3", "stateless_flows": 0}, {"label": "my_cc"}])),
    ("algorithm", V, program_with("bbr3", "bbr3")),
    ("algorithm", V, program_with(None, "bbr")),
    # It did not pass {cc} on, or has no TCP connection.
    ("algorithm", X, program_with("bbr3", "bbr")),
    ("algorithm", X, program_with("bbr3", None)),
    ("window-limits", V, update("traffic.flows.0.rwnd_limited_us", 19_000)),
    ("window-limits", S, update("traffic.flows.0.rwnd_limited_us", 20_000)),
    ("window-limits", X, update("traffic.flows.0.sndbuf_limited_us", 100_000)),
    (
        "window-limits",
        X,
        both(update("traffic.flows.0.busy_us", 0), update("traffic.flows.1.sndbuf_limited_us", 1_000_000)),
    ),
    ("congestion-window", V, window(1 << 20)),
    ("congestion-window", S, window(1_948_793_488)),
    ("congestion-window", V, window(None)),
    ("offloads", X, update("lab.offloads.h2.tx-tcp-segmentation", True)),
    ("offloads", X, update("network.oversize_packets", 1)),
    ("offloads", V, in_bursts(update("lab.offloads.h2.tx-tcp-segmentation", True))),
    ("offloads", X, in_bursts(update("network.oversize_packets", 1))),
    ("offloads", X, update("network.checksum_missing", 1)),
    ("sysctls", X, update("lab.sysctls.h1", {"net.ipv4.tcp_rmem": "4096 131072 6291456"})),
    ("sysctls", X, update("lab.sysctls.h1", {})),
    ("tcp-memory", X, update("lab.shortages", {"h2": {"OfoPruned": 1, "TCPMemoryPressures": 1}})),
    ("tcp-memory", S, update("lab.shortages", {"h2": {"TCPMemoryPressures": 2}})),
    # The scenario sets the buffer of h1, which puts nobody under pressure.
    ("tcp-memory", S, update("lab.shortages", {"h1": {"OfoPruned": 1}})),
    ("tcp-memory", X, update("lab.shortages", {"h1": {"OfoPruned": 1}, "h2": {"TCPMemoryPressures": 1}})),
    ("udp-hosts", V, udp()),
    ("udp-hosts", X, udp(socket_drops=1)),
    ("udp-hosts", V, both(udp(socket_drops=2), update("corrupted_packets.f1", 2))),
    ("udp-hosts", V, both(udp(socket_drops=1), update("corrupted_packets.f1", 2))),
    ("udp-hosts", X, both(udp(socket_drops=3), update("corrupted_packets.f1", 2))),
    ("udp-hosts", X, both(udp(socket_drops=2), update("corrupted_packets.f2", 2))),
    ("udp-hosts", X, udp(refused_packets=1)),
    ("commands", V, command(0, None)),
    ("commands", V, command(0, 0)),
    ("commands", V, command(0, -15, server_ended=True)),
    ("commands", V, command(1, 1, ended=True, server_ended=True)),
    ("commands", V, command(-9, None, ended=True)),
    ("commands", X, command(1, None)),
    ("commands", X, command(-15, None)),
    ("commands", X, command(0, 1)),
    # The program ended by itself, before its flow's stop: a signal is no excuse then.
    ("commands", X, command(0, -15)),
    ("commands", X, command(1, 0, server_ended=True)),
    ("commands", X, command(1, 1, ended=True)),
    ("commands", V, beside(0, ended=False)),
    ("commands", V, beside(None, ended=True)),
    ("commands", V, beside(-15, ended=True)),
    ("commands", X, beside(-15, ended=False)),
    ("outside", S, with_gateway),
    ("ack-rows", S, update("probe.lost_rows", 1)),
    ("ack-rows", S, update("probe.unreadable_rows", 1)),
    ("ack-coverage", V, update("ack_coverage.f2", Coverage(1000, 10, 0))),
    ("ack-coverage", S, update("ack_coverage.f2", Coverage(1000, 11, 0))),
    ("ack-coverage", S, update("ack_coverage.f2", Coverage(0, 0, 1))),
]


@pytest.mark.parametrize(("name", "verdict", "change"), CASES)
def test_rule(name: str, verdict: Verdict, change: Change) -> None:
    evidence = sound()
    change(evidence)
    found = {check.check: check for check in check_all(evidence)}
    assert found[name].verdict is verdict, found[name]
    others = {check.check: check.verdict for check in found.values() if check.verdict is not V and check.check != name}
    assert not others, "one fault, one reason"


OF_SIMULATIONS = {rule.name for rule in RULES if rule.needs <= capabilities("simulate").evidence}


@pytest.mark.parametrize(("name", "verdict", "change"), [case for case in CASES if case[0] in OF_SIMULATIONS])
def test_rule_of_a_simulated_run(name: str, verdict: Verdict, change: Change) -> None:
    """A rule for both engines judges both alike."""
    evidence = simulated()
    change(evidence)
    found = {check.check: check.verdict for check in check_all(evidence)}
    assert {check: word for check, word in found.items() if word is not V} == ({} if verdict is V else {name: verdict})


def test_a_simulated_run_is_judged_by_nothing_that_it_lacks() -> None:
    assert {check.check: check.verdict for check in check_all(simulated())} == dict.fromkeys(OF_SIMULATIONS, V)
    assert {check.check for check in check_all(sound())} == {rule.name for rule in RULES}


def test_the_page_says_which_check_is_for_which_engine() -> None:
    page = (Path(__file__).parents[2] / "docs" / "reference" / "verdict.md").read_text()
    section = page.partition("\n## Which check for which engine\n")[2].partition("\n## ")[0]
    simulated, virtual = (re.findall(r"`([a-z-]+)`", section.split("\n\n")[index]) for index in (0, 1))
    assert set(simulated) == OF_SIMULATIONS
    evidence = capabilities("virtual").evidence
    assert set(virtual) == {rule.name for rule in RULES if not rule.needs <= evidence}


def test_an_algorithm_that_a_program_did_not_set_is_named() -> None:
    evidence = sound()
    program_with("bbr3", "bbr")(evidence)
    found = {check.check: check for check in check_all(evidence)}
    assert found["algorithm"].measured == "f1: bbr instead of bbr3"


def test_sound_evidence_is_valid() -> None:
    assert {check.verdict for check in check_all(sound())} == {V}


def test_every_rule_is_tried_with_a_breach() -> None:
    breached = {name for name, verdict, _ in CASES if verdict is not V}
    assert breached == {rule.name for rule in RULES}


def test_names_are_unique() -> None:
    names = [rule.name for rule in RULES]
    assert len(set(names)) == len(names)


def test_every_rule_is_documented() -> None:
    page = (Path(__file__).parents[2] / "docs" / "reference" / "verdict.md").read_text()
    assert [rule.name for rule in RULES if f"`{rule.name}`" not in page] == []


def test_without_packets_the_log_is_not_judged() -> None:
    evidence = replace(sound(), logged_packets=None, corrupted_packets=None)
    found = {check.check: check for check in check_all(evidence)}
    for check in ("packet-log", "rate"):
        assert found[check].measured == "does not apply: packets were not recorded"


def test_where_acks_are_not_recorded_the_reason_is_told() -> None:
    evidence = replace(sound(), probe=None, ack_coverage=None)
    update("lab.acks", {"recorded": False, "why": "it takes CAP_BPF"})(evidence)
    found = {check.check: check for check in check_all(evidence)}
    for check in ("ack-rows", "ack-coverage"):
        assert found[check].measured == "does not apply: ACKs were not recorded: it takes CAP_BPF"


def test_idle_times_without_packets_are_no_slow_link(tmp_path: Path) -> None:
    """A queue at both ends of a sampling interval does not mean that the link was busy all of it."""
    files = known_run.engine_output()
    del files["packets.parquet"]
    files["links.parquet"] = files["links.parquet"].with_columns(departed_bytes=pl.col("departed_bytes") // 2)
    evidence = evidence_of(Run(known_run.make(tmp_path / "run", files=files)))
    found = {check.check: check.verdict for check in check_all(evidence)}
    assert found["rate"] is V


@pytest.mark.parametrize(("excess", "verdict"), [(1.06, V), (2.0, V), (2.1, X)])
def test_the_kernels_own_links_may_send_a_bucket_of_tokens_at_once(excess: float, verdict: Verdict) -> None:
    evidence = sound()
    update("plan.emulate.links", "kernel")(evidence)
    update("paces.bottleneck", Pace(1.0, excess))(evidence)
    found = {check.check: check.verdict for check in check_all(evidence)}
    assert found["rate"] is verdict


def test_mininets_links_are_not_judged_by_their_rate() -> None:
    evidence = sound()
    update("plan.emulate.links", "mininet")(evidence)
    update("paces.bottleneck", Pace(0.5, 43.0))(evidence)
    (found,) = [check for check in check_all(evidence) if check.check == "rate"]
    assert found.verdict is V
    assert "propagate before they wait" in found.measured


@pytest.mark.parametrize(("min_rtt_us", "verdict"), [(20_000, V), (19_999, V), (19_998, X)])
def test_timestamps_round_rtts_down_to_a_millisecond(min_rtt_us: int, verdict: Verdict) -> None:
    evidence = sound()
    update("plan.links.0.delay_ns", 10_700_000)(evidence)
    update("min_rtt_us.f2", min_rtt_us)(evidence)
    found = {check.check: check.verdict for check in check_all(evidence)}
    assert found["rtt-floor"] is verdict


@pytest.mark.parametrize(
    ("told", "resent", "least"),
    [
        ([21_345, 15_000, 21_500], 3, {"f1": 21_345}),
        ([21_000, 20_000], 0, {"f1": 20_000}),
        ([21_000, 15_000], 3, {}),
    ],
)
def test_an_rtt_by_timestamps_alone_does_not_count(told: list[int], resent: int, least: dict[str, int]) -> None:
    """Pacing may have put the timestamp into the future."""
    columns = {"flow": "f1", "cwnd_packets": 10, "retransmitted_segments": resent}
    samples = pl.LazyFrame({"min_rtt_us": told}).with_columns(**{name: pl.lit(one) for name, one in columns.items()})
    accounts = {one.name: getattr(sound(), one.name) for one in fields(Accounts)}
    plan = wire.parsed(accounts["plan"])
    evidence = Evidence.gather(Accounts(**accounts | {"plan": plan}), samples, None, None)
    assert evidence.min_rtt_us == least


def test_steal_is_of_the_time_in_which_it_was_counted() -> None:
    """1.5 % of the run's 2 s, but 0.6 % of the 5 s in which the lab was also built and torn down."""
    evidence = sound()
    update("lab.cpu", {"user_s": 2.0, "system_s": 1.0, "steal_s": 0.06, "idle_s": 6.94, "cores": 2})(evidence)
    found = {check.check: check for check in check_all(evidence)}
    assert found["steal"].verdict is V
    assert found["steal"].measured == "0.60% of the time of all cores"


def test_a_long_rtt_allows_more_lateness() -> None:
    evidence = sound()
    update("plan.links.0.delay_ns", 200_000_000)(evidence)
    update("network.lateness_us.p99", 2000.0)(evidence)
    update("min_rtt_us.f1", 300_000)(evidence)
    update("min_rtt_us.f2", 300_000)(evidence)
    assert worst(check.verdict for check in check_all(evidence)) is V


def test_evidence_of_a_run_directory(tmp_path: Path) -> None:
    evidence = evidence_of(Run(known_run.make(tmp_path / "run")))
    assert evidence.paces["bottleneck"].achieved == pytest.approx(1)
    assert evidence.paces["bottleneck-reverse"].achieved is None
    assert evidence.corrupted_packets == {}
    assert evidence.logged_packets == {"bottleneck": known_run.PACKETS}
    assert evidence.min_rtt_us == {"f1": 21_000, "f2": 21_000}


def test_json_shape() -> None:
    evidence = sound()
    update("network.ring_drops", 3)(evidence)
    check = next(check for check in check_all(evidence) if check.check == "ring-drops")
    assert check.as_json() == {
        "check": "ring-drops",
        "verdict": "invalid",
        "measured": f"3 of {known_run.PACKETS} packets lost in the ring",
        "threshold": "none",
        "why": "packets were lost between kernel and emulator: a loss that no link caused",
    }


def test_limits() -> None:
    assert [at_most(value, (1, 2)) for value in (1, 1.5, 2, 3)] == [V, S, S, X]
    assert [at_least(value, (0.99, 0.9)) for value in (1, 0.99, 0.95, 0.89)] == [V, V, S, X]
    assert worst([]) is V
    assert worst([S, X, V]) is X


def test_a_reason_names_a_dozen_of_many_and_counts_the_rest() -> None:
    assert several([f"f{i}" for i in range(12)]).endswith("f10; f11")
    assert several([f"f{i}" for i in range(13)]).endswith("f10; f11; and 1 more")
    assert several([f"f{i}" for i in range(5_012)]).endswith("f10; f11; and 5,000 more")

"""Words of each rule on a sound run, on its first breach, and on what it allows."""

from __future__ import annotations

import pytest
from test_verdict import CASES, RULES, V, check_all, sound

SAID = [
    # Rule, measured in a sound run, measured at its first breach in CASES, allowed.
    (
        "lateness",
        "p99 20 us; 0.000% of packets over 1 ms",
        "p99 201 us; 0.000% of packets over 1 ms",
        "p99 <= 200 us; <= 0.1% over 1 ms",
    ),
    ("stall", "longest 0.4 ms", "longest 50.0 ms", "<= 10 ms"),
    ("read-lag", "p99 20 us", "p99 1001 us", "p99 <= 1000 us"),
    ("emulator-starved", "waited for a CPU 0.10% of the time", "waited for a CPU 1.05% of the time", "<= 1%"),
    (
        "traffic-starved",
        "waited for a CPU 0.50% of the time",
        "waited for a CPU 20.50% of the time, 100 us each time",
        "<= 5%",
    ),
    ("cpus", "all processes of the lab shared 2 CPUs", "all processes of the lab shared 1 CPU", ">= 2 CPUs"),
    ("steal", "0.00% of the time of all cores", "1.23% of the time of all cores", "<= 1%"),
    (
        "virtual-cpu",
        "does not apply: no virtual machine whose clock counts instructions took part",
        "busy 51% of the time",
        "<= 50%",
    ),
    ("clock-steps", "no steps", "-2.0 ms at 1.8 s", "none"),
    (
        "samples",
        "100.00% of samples taken; longest gap 11 ms",
        "98.50% of samples taken; longest gap 11 ms",
        ">= 99%; gap <= 100 ms",
    ),
    ("udp-schedule", "does not apply: no UDP flow sent", "f1: p99 201 us", "p99 <= 200 us"),
    ("ring-drops", "0 of 1642 packets lost in the ring", "1 of 1642 packets lost in the ring", "none"),
    (
        "delay-line",
        "0 overflows; at most 0.4% of the room was used",
        "1 overflow; at most 0.4% of the room was used",
        "none",
    ),
    ("send-errors", "0 of 1642 deliveries failed", "1 of 1642 deliveries failed", "none"),
    (
        "conservation",
        "all 1642 packets are accounted for",
        "bottleneck: 1642 packets came, 1641 are accounted for",
        "no difference",
    ),
    ("packet-log", "rows of all 1642 packets", "bottleneck: rows of 1641 of 1642 packets", "no difference"),
    (
        "interfaces",
        "no drops or errors; hosts received all 1642 frames",
        "eth0 of h2 (core side): 1 rx_dropped",
        "none lost",
    ),
    ("softnet", "0 drops on the machine", "1 drop on the machine", "none"),
    ("unroutable", "0 packets without a path", "1 packet without a path", "none"),
    ("rate", "bottleneck: +0.00% of 10 Mbit/s", "bottleneck: -1.10% of 10 Mbit/s", "within 1%"),
    (
        "rtt-floor",
        "f1: least RTT 1000 us above that of its path in whole ms",
        "f2: least RTT 100 us below that of its path in whole ms",
        "not below that of its path in whole ms",
    ),
    ("complete", "ran to its end", "stopped after 2.0 s", "runs to its end"),
    ("flow-errors", "none", "f2: connection refused", "none"),
    ("algorithm", "f1: cubic, f2: bbr", "f2: cubic instead of bbr", "as requested"),
    (
        "window-limits",
        "f1: 0.00% of busy time limited by the receive window",
        "f1: 1.05% of busy time limited by the receive window",
        "<= 1%",
    ),
    (
        "congestion-window",
        "does not apply: no TCP flow was sampled",
        "at most 1,948,793,488 packets",
        "<= 1,048,576 packets",
    ),
    ("offloads", "all off", "h2: tx-tcp-segmentation is on", "all off"),
    (
        "sysctls",
        "as planned",
        "h1: net.ipv4.tcp_rmem = '4096 131072 6291456' instead of '4096 131072 8388608'",
        "as planned",
    ),
    ("tcp-memory", "nothing thrown away", "h2: 1 OfoPruned, 1 TCPMemoryPressures", "none"),
    ("udp-hosts", "does not apply: no UDP flow", "f1: 0 refused, 1 dropped by the receiver's socket", "none"),
    (
        "commands",
        "does not apply: no flow runs a program",
        "f1: exit code 1",
        "exit code 0, or ended at the flow's stop",
    ),
    ("outside", "the network leads nowhere else", "r1 leads to this machine's network", "no way out"),
    (
        "ack-rows",
        "0 rows lost, 0 unreadable; 821 written",
        "1 row lost, 0 unreadable; 821 written",
        "none lost or unreadable",
    ),
    (
        "ack-coverage",
        "f2: 0.10% of samples disagree",
        "f2: 1.10% of samples disagree",
        "<= 1%; every connection with acknowledged data has rows",
    ),
]


@pytest.mark.parametrize(("name", "kept", "broken", "allowed"), SAID)
def test_a_rule_says_what_it_measured_and_what_it_allows(name: str, kept: str, broken: str, allowed: str) -> None:
    evidence = sound()
    measured = [next(check for check in check_all(evidence) if check.check == name).measured]
    next(change for rule, verdict, change in CASES if rule == name and verdict is not V)(evidence)
    breach = next(check for check in check_all(evidence) if check.check == name)
    assert [*measured, breach.measured, breach.threshold] == [kept, broken, allowed]


def test_the_words_of_every_rule_are_here() -> None:
    assert [name for name, *_ in SAID] == [rule.name for rule in RULES]

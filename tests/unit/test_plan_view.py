"""The descriptions of links and events by `dumbbell plan`."""

import tomllib
from pathlib import Path
from typing import Any

import pytest
from graphs import flow, graph, link
from planning import planned

from dumbbell.plan.expand import expand
from dumbbell.plan.view import tables
from dumbbell.scenario.file.loading import load

STEPS = [["0 s", "10 Mbit/s"], ["5 s", "0 bit/s"]]


def row(**keys: Any) -> dict[str, str]:
    """The forward link's cells by their columns."""
    table = tables(planned({"rate": "10 Mbit/s", "buffer": "100 packets", **keys}), 30_000_000)[1]
    return dict(zip(table.columns, table.rows[0], strict=True))


@pytest.mark.parametrize(
    ("keys", "column", "expected"),
    [
        ({}, "rate", "10 Mbit/s"),
        ({"rate": "unlimited"}, "rate", "unlimited"),
        ({"rate": "30 kbit/s"}, "buffer", "100 packets (151.4 kB, 40370 ms, 1346 bdp)"),
        ({"rate": {"steps": STEPS}}, "rate", "5 Mbit/s on average: 2 steps from 0 to 10 Mbit/s"),
        (
            {"rate": {"steps": STEPS, "period": "10 s"}},
            "rate",
            "5 Mbit/s on average: 2 steps from 0 to 10 Mbit/s, again after 10 s",
        ),
        ({}, "queue", "drop-tail"),
        ({"queue": {"kind": "drop-head", "ce_threshold": "1 ms"}}, "queue", "drop-head (marks above 1 ms)"),
        ({"queue": {"kind": "drop-tail", "ce_threshold": "30 packets"}}, "queue", "drop-tail (marks above 30 packets)"),
        ({"queue": {"kind": "codel", "ecn": True}}, "queue", "codel (target 5 ms, interval 100 ms, marks with ECN)"),
        ({"queue": "fq"}, "queue", "fq (quantum 1514 B, flows 1024)"),
        (
            {"queue": {"kind": "pie", "alpha": 0, "max_burst": "0 s"}},
            "queue",
            "pie (target 15 ms, t_update 15 ms, alpha 0, beta 1.25, max_burst 0 s, mark_ecnth 0.1)",
        ),
        ({"loss": "1 %"}, "loss", "1 % before the queue"),
        ({"loss": {"model": "burst", "rate": "1 %", "packets": 3}}, "loss", "1 % in bursts of 3 before the queue"),
        (
            {"loss": {"model": "periodic", "every": 7, "position": "after-queue"}},
            "loss",
            "every 7th packet, first after 6 after it",
        ),
        (
            {"loss": {"model": "trace", "lost": [1, 2], "repeat": 9}},
            "loss",
            "2 packets of a trace, again after 9 before the queue",
        ),
        (
            {"loss": {"model": "netem", "rate": "1 %", "correlation": "25 %"}},
            "loss",
            "1 % by netem's correlator at 25 % before the queue",
        ),
        ({}, "besides", "-"),
        ({"up": False}, "besides", "down"),
        ({"jitter": "5 ms"}, "besides", "jitter uniform 0 s to 5 ms, in order"),
        (
            {"jitter": {"distribution": "pareto", "min": "1 ms", "shape": 3}, "reordering": True},
            "besides",
            "jitter Pareto, min 1 ms, shape 3, overtaking",
        ),
        ({"reorder": {"rate": "1 %", "gap": 5}}, "besides", "1 % of every 5th packet go ahead after 0 s"),
        (
            {"slots": {"interval": "2 ms", "packets": 32, "bytes": "64 kB"}, "duplicate": "0.1 %"},
            "besides",
            "a slot every 2 ms, at most 32 packets and 64 kB; 0.1 % duplicated",
        ),
        ({"policer": {"rate": "8 Mbit/s", "burst": "30 kB"}}, "besides", "policer 8 Mbit/s, burst 30 kB"),
        ({"delay_line": "9 packets", "corrupt": "1 %"}, "besides", "delay line of 9 packets; 1 % corrupted"),
        ({"mark": {"rate": "1 %", "correlation": "5 %"}}, "besides", "1 % marking, correlation 5 %"),
    ],
)
def test_links(keys: dict[str, Any], column: str, expected: str) -> None:
    assert row(**keys)[column] == expected


def test_measured_delays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("delays.csv").write_text("delay_ms\n1\n4\n2\n")
    jitter = {"distribution": "table", "file": "delays.csv"}
    assert row(jitter=jitter)["besides"] == "jitter measured, 1 ms to 4 ms, in order"


def test_events() -> None:
    events = [
        {"at": "1 s", "rate": "20 Mbit/s", "buffer": "1 bdp", "queue": "pie"},
        {"at": "2 s", "delay": "20 ms", "loss": "none", "jitter": "none", "duplicate": "1 %"},
        {"at": "3 s", "link": "bottleneck-reverse", "down_for": "100 ms"},
    ]
    plan = planned({"rate": "10 Mbit/s", "loss": "1 %", "jitter": "5 ms"}, events=events)
    shown = next(table for table in tables(plan, 30_000_000) if table.title == "Events")
    assert shown.rows == [
        [
            "1 s",
            "bottleneck",
            "rate 20 Mbit/s; buffer 75 kB (49 packets, 30 ms, 1 bdp); queue pie (target 15 ms, t_update 15 ms, "
            "alpha 0.125, beta 1.25, max_burst 150 ms, mark_ecnth 0.1)",
        ],
        ["2 s", "bottleneck", "delay 20 ms; loss none; 1 % duplicated; no longer jitter uniform 0 s to 5 ms, in order"],
        ["3 s", "bottleneck-reverse", "down"],
        ["3.1 s", "bottleneck-reverse", "up"],
    ]


def test_without_events_there_is_no_table_of_them() -> None:
    assert "Events" not in [table.title for table in tables(planned({"rate": "1 Mbit/s"}), 1)]


def test_the_path_of_packets() -> None:
    wire = dict(tables(planned({"rate": "1 Mbit/s"}), 1)[0].rows)
    assert wire["emulate.path"] == "wire"
    assert "emulate.merge" not in wire
    gso = dict(tables(planned({"rate": "1 Gbit/s"}, emulate={"merge": "50 us"}), 1)[0].rows)
    assert (gso["emulate.path"], gso["emulate.merge"], gso["emulate.whole_bursts"]) == ("gso", "50 us", "no")


def test_the_settings_of_a_run() -> None:
    plain = tables(planned({"rate": "1 Mbit/s"}), 1)[0]
    assert (plain.title, dict(plain.rows)) == (
        "Run x",
        {
            "duration": "10 s",
            "seed": "1",
            "mtu": "1500 B",
            "record.sample_interval": "10 ms",
            "record.packets": "yes",
            "record.acks": "auto",
            "emulate.ring": "64 MiB",
            "emulate.spin": "60 us",
            "emulate.arena": "256 MiB",
            "emulate.path": "wire",
            "simulate.tso": "yes",
        },
    )
    emulate, simulate = {"links": "mininet", "path": "gso"}, {"tso": False, "hosts": "virtual"}
    record = {"capture": True, "acks": False, "packets": False}
    other = tables(planned({"rate": "1 Mbit/s"}, record=record, emulate=emulate, simulate=simulate), 1)[0]
    assert dict(other.rows).items() - dict(plain.rows).items() == {
        ("record.packets", "no"),
        ("record.acks", "off"),
        ("record.capture", "yes"),
        ("emulate.path", "gso"),
        ("emulate.merge", "100 us"),
        ("emulate.whole_bursts", "yes"),
        ("emulate.links", "mininet"),
        ("simulate.tso", "no"),
        ("simulate.hosts", "virtual"),
    }
    acks = tables(planned({"rate": "1 Mbit/s"}, record={"acks": True}), 1)[0]
    assert dict(acks.rows)["record.acks"] == "on"


def test_the_cpus_of_a_lab() -> None:
    assert "emulate.cpus" not in dict(tables(planned({"rate": "1 Mbit/s"}), 1)[0].rows)
    one = planned({"rate": "1 Mbit/s"}, emulate={"cpus": 1})
    assert one.emulate.cpus == 1
    assert dict(tables(one, 1)[0].rows)["emulate.cpus"] == "1"


DRAWN = graph(
    *(link(host, "s1", vlan=10) for host in ("h2", "h3")),
    link("h1", "r1"),
    link("r2", "s1", vlan=10),
    link("r1", "r2", "core", rate="10 Mbit/s", delay="15 ms", buffer="1 bdp"),
    flow("h1", "h2", ecn=True, cc={"name": "bbr3", "parameters": {"full_bw_rounds": 4}}, bytes="300 kB"),
    flow("h2", "h1", connections=3, gap="100 ms", cc="bpf_reno"),
    flow("h3", "h1", protocol="udp", rate="1 Mbit/s", payload="500 B", ip=6, ecn="ect0", on="100 ms", off="2 s"),
    flow("h3", "h1", protocol="ping"),
    flow("h3", "h1", command="iperf3 -c {server} -C {cc} -p {port}", server_command="iperf3 -s -p {port}", cc="cubic"),
    nodes={"s1": {"bridge": True}, "h1": {"private": ["/var/log"]}, "h2": {"cpu": "50 %"}},
    ipv6=True,
)
_IPERF = "iperf3 -c 10.0.0.2 -C {cc} -p 5007 (server: iperf3 -s -p 5007) ({cc}: cubic)"
WAY, BACK = "h1 > r1 > r2 > s1 > h2", "s1 > r2 > r1 > h1"


def test_the_tables_of_a_drawn_network() -> None:
    plan = expand(load(tomllib.loads(DRAWN) | {"hosts": {"h1": {"sysctl": {"net.ipv4.tcp_sack": 0}}}}))
    shown = {table.title: table for table in tables(plan, {"core": 30_000_000})}
    assert {title: table.keys for title, table in shown.items() if table.keys > 1} == {
        "Interfaces": 3,
        "VLANs": 2,
        "Routes": 2,
    }
    bbr3, reno = ((one.sha256 or "")[:12] for one in plan.algorithms)
    expected = {
        "Links (and 8 without rate, delay or loss)": [
            ["core", "r1", "r2", "10 Mbit/s", "15 ms", "37.5 kB", "37.5 kB (24 packets, 30 ms, 1 bdp)"],
            ["core-reverse", "r2", "r1", "10 Mbit/s", "15 ms", "0 B", "37.5 kB (24 packets, 30 ms)"],
        ],
        "Flows": [
            ["f1", "h1", "h2", "5001", "TCP, bbr3, 300 kB, ECN", "0 s", "2 s", "30 ms", WAY],
            ["f2.1 ... f2.3", "h2", "h1", "5002 ... 5004", "3 x TCP, bpf_reno", "0 s ... 200 ms", "2 s", "30 ms"],
            ["f3", "h3", "h1", "5005", "UDP, 1 Mbit/s, 500 B each, 100 ms on, 2 s off, ect0, IPv6"],
            ["f4", "h3", "h1", "5006", "pings (ICMP), 56 B every 200 ms", "0 s", "2 s", "30 ms", f"h3 > {BACK}"],
            ["f5", "h3", "h1", "5007", _IPERF],
        ],
        "Congestion controls": [
            ["bbr3", "bbr3 of dumbbell", "full_bw_rounds = 4", bbr3],
            ["bpf_reno", "bpf_reno of dumbbell", "defaults", reno],
        ],
        "Hosts": [["h1", "10.0.0.2, fd00:0:0:2::2"], ["h2", "10.1.0.2"], ["h3", "10.1.0.3, fd00:0:0:1::3"]],
        "Bridges": [["s1", "3", "none"]],
        "VLANs": [["s1", f"eth{n}", "10", "-"] for n in (1, 2, 3)],
        "Private directories": [["h1", "/var/log"]],
        "CPUs of programs": [["h2", "all", "50 %"]],
        "Kernel settings": [
            ["net.ipv4.tcp_ecn", "1", "h1"],
            ["net.ipv4.tcp_ecn", "2", "h2, h3"],
            ["net.ipv4.tcp_no_metrics_save", "1", "all"],
            ["net.ipv4.tcp_orphan_retries", "1", "all"],
            ["net.ipv4.tcp_rmem", "4096 6291456 6291456", "all"],
            ["net.ipv4.tcp_sack", "0", "h1"],
            ["net.ipv4.tcp_slow_start_after_idle", "1", "all"],
            ["net.ipv4.tcp_wmem", "4096 16384 4194304", "all"],
        ],
    }
    for title, rows in expected.items():
        cut = [row[: len(want)] for row, want in zip(shown[title].rows, rows, strict=True)]
        assert cut == rows, title

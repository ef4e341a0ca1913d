import gc
import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from planning import PLAIN, dumbbell, link, planned

from dumbbell.plan.expand import expand
from dumbbell.plan.identity import canonical, run_id
from dumbbell.plan.network import network
from dumbbell.plan.wire import document, parsed
from dumbbell.scenario.file.loading import load

GOLDEN = Path(__file__).parent / "golden" / "bbr-vs-cubic.plan.json"


def host(plan: dict[str, Any], name: str) -> dict[str, Any]:
    return next(node for node in plan["nodes"] if node["name"] == name)


def test_golden_plan() -> None:
    """After a change that is meant: dumbbell plan bbr-vs-cubic --json > tests/unit/golden/bbr-vs-cubic.plan.json."""
    assert document(expand(load("bbr-vs-cubic"))) == json.loads(GOLDEN.read_text())


@pytest.mark.parametrize(
    ("buffer", "expected"),
    [
        ("1 bdp", {"bytes": 375_000}),
        ("0.5 bdp", {"bytes": 187_500}),
        ("0.001 bdp", {"bytes": 1514}),
        ("10 ms", {"bytes": 125_000}),
        ("123456 ns", {"bytes": 1543}),
        ("100 kB", {"bytes": 100_000}),
        ("100 packets", {"packets": 100}),
        ("unlimited", "unlimited"),
    ],
)
def test_buffers_are_resolved(buffer: str, expected: object) -> None:
    plan = dumbbell({"rate": "100 Mbit/s", "buffer": buffer})
    assert link(plan, "bottleneck")["buffer"] == expected
    assert link(plan, "bottleneck-reverse")["buffer"] == expected


def test_bdp_is_of_the_largest_rtt() -> None:
    plan = dumbbell({"rate": "100 Mbit/s"}, rtt=["20 ms", "80 ms"])
    assert link(plan, "bottleneck")["buffer"] == {"bytes": 1_000_000}


def test_overhead_counts_in_the_smallest_buffer() -> None:
    plan = dumbbell({"rate": "100 Mbit/s", "buffer": "0.001 bdp", "overhead": "24 B"})
    assert link(plan, "bottleneck")["buffer"] == {"bytes": 1538}
    assert link(plan, "bottleneck")["overhead_bytes"] == 24
    assert link(plan, "bottleneck-reverse")["overhead_bytes"] == 24


def test_the_bottleneck_takes_half_of_the_smallest_rtt_and_the_receivers_links_the_rest() -> None:
    plan = dumbbell({"rate": "100 Mbit/s"}, rtt=["20 ms", "81 ms"])
    assert link(plan, "bottleneck")["delay_ns"] == link(plan, "bottleneck-reverse")["delay_ns"] == 10_000_000
    assert link(plan, "right-r1")["delay_ns"] == link(plan, "r1-right")["delay_ns"] == 0
    assert link(plan, "right-r2")["delay_ns"] == link(plan, "r2-right")["delay_ns"] == 30_500_000
    assert link(plan, "s2-left")["delay_ns"] == link(plan, "left-s2")["delay_ns"] == 0


@pytest.mark.parametrize(
    ("delays", "expected"),
    [
        ({}, (15, 15, 0, 0)),
        ({"delay": "5 ms"}, (5, 5, 10, 10)),
        ({"delay": "20 ms"}, (20, 10, 0, 0)),
        ({"reverse": {"delay": "5 ms"}}, (25, 5, 0, 0)),
        ({"delay": "10 ms", "reverse": {"delay": "4 ms"}}, (10, 4, 8, 8)),
        ({"delay": "0 ms"}, (0, 0, 15, 15)),
    ],
)
def test_delays_of_a_dumbbell(delays: dict[str, Any], expected: tuple[int, ...]) -> None:
    plan = dumbbell({"rate": "100 Mbit/s", **delays})
    names = ("bottleneck", "bottleneck-reverse", "right-r1", "r1-right")
    assert tuple(link(plan, name)["delay_ns"] // 10**6 for name in names) == expected


@settings(deadline=None)  # The machine may be busy.
@given(
    rtts=st.lists(st.integers(0, 10**12), min_size=1, max_size=5),
    share=st.one_of(st.none(), st.fractions(0, 1, max_denominator=1000)),
)
def test_base_rtts_are_exact(rtts: list[int], share: Fraction | None) -> None:
    bottleneck: dict[str, Any] = {"rate": "100 Mbit/s", "buffer": "10 packets"}
    if share is not None:
        bottleneck["delay"] = f"{int(min(rtts) * share)} ns"
    flows = [{"from": f"s{i}", "to": f"r{i}"} for i, _ in enumerate(rtts, 1)]
    plan = planned(bottleneck, rtt=[f"{rtt} ns" for rtt in rtts], pairs=len(rtts), flows=flows)
    assert network(plan).base_rtts_ns == rtts


@settings(deadline=None)  # The machine may be busy.
@given(rate=st.integers(1, 10**11), rtt=st.integers(0, 10**10), multiple=st.integers(1, 5000))
def test_bdp_rounds_down_and_holds_a_frame(rate: int, rtt: int, multiple: int) -> None:
    plan = dumbbell({"rate": f"{rate} bit/s", "buffer": f"{multiple / 1000} bdp"}, rtt=f"{rtt} ns")
    exact = rate * rtt * multiple // (8 * 10**12)
    assert link(plan, "bottleneck")["buffer"] == {"bytes": max(exact, 1514)}


def test_the_reverse_direction_can_differ() -> None:
    reverse = {"rate": "10 Mbit/s", "loss": {"rate": "2 %", "position": "after-queue"}, "overhead": "0 B"}
    plan = dumbbell({"rate": "100 Mbit/s", "loss": "1 %", "overhead": "24 B", "reverse": reverse})
    forward, back = link(plan, "bottleneck"), link(plan, "bottleneck-reverse")
    independent = {"model": "independent"}
    assert forward == PLAIN | {
        "name": "bottleneck", "from": "left", "to": "right", "rate_bps": 100_000_000, "delay_ns": 15_000_000,
        "buffer": {"bytes": 375_000}, "loss_before": [independent | {"probability": 0.01}], "overhead_bytes": 24,
    }  # fmt: skip
    assert back == PLAIN | {
        "name": "bottleneck-reverse", "from": "right", "to": "left", "rate_bps": 10_000_000, "delay_ns": 15_000_000,
        "buffer": {"bytes": 37_500}, "loss_after": [independent | {"probability": 0.02}],
    }  # fmt: skip


def test_loss_is_forward_only_unless_said() -> None:
    assert link(dumbbell({"rate": "1 Mbit/s", "loss": "1 %"}), "bottleneck-reverse")["loss_before"] == []


def test_no_limit() -> None:
    plan = dumbbell({"rate": "unlimited"})
    for name in ("bottleneck", "bottleneck-reverse"):
        assert (link(plan, name)["rate_bps"], link(plan, name)["buffer"]) == (None, "unlimited")
    plan = dumbbell({"rate": "10 Mbit/s", "buffer": "1 bdp", "reverse": {"rate": "unlimited"}})
    assert link(plan, "bottleneck-reverse")["buffer"] == "unlimited"


def test_a_path_is_two_hosts_and_two_links() -> None:
    topology = {"kind": "path", "rtt": "9 ns", "bottleneck": {"rate": "1 Mbit/s", "buffer": "5 packets"}}
    flows = [{"from": "h1", "to": "h2"}]
    plan = document(expand(load({"name": "x", "duration": "1 s", "topology": topology, "flows": flows})))
    assert [(node["name"], node["address"]) for node in plan["nodes"]] == [("h1", "10.0.0.1"), ("h2", "10.0.1.1")]
    assert [(link["from"], link["to"], link["delay_ns"]) for link in plan["links"]] == [
        ("h1", "h2", 4),
        ("h2", "h1", 5),
    ]


def test_250_pairs_have_addresses_of_their_own() -> None:
    plan = dumbbell({"rate": "1 Gbit/s"}, pairs=250)
    addresses = [node["address"] for node in plan["nodes"] if node["kind"] == "host"]
    assert len(set(addresses)) == 500
    assert host(plan, "s250")["address"] == "10.0.0.250"
    assert host(plan, "r250")["address"] == "10.0.1.250"


def test_paths() -> None:
    plan = planned({"rate": "1 Mbit/s"}, flows=[{"from": "s1", "to": "r2"}, {"from": "s1", "to": "s2"}])
    found, (across, beside) = network(plan), plan.flows
    assert [link.name for link in found.there(across)] == ["s1-left", "bottleneck", "right-r2"]
    assert [link.name for link in found.back(across)] == ["r2-right", "bottleneck-reverse", "left-s1"]
    assert [link.name for link in found.there(beside)] == ["s1-left", "left-s2"]


def test_flows() -> None:
    flows = [
        {"from": "s1", "to": "r1", "port": 5002},
        {"from": "s2", "to": "r1", "bytes": "300 kB", "ecn": True, "start": "1 s"},
        {"id": "u", "from": "r2", "to": "s2", "protocol": "udp", "rate": "3 Mbit/s", "payload": "100 B", "stop": "2 s"},
        {
            "from": "s1", "to": "r2", "start": "1.5 s",
            "command": "x {server} {client} {port} {duration} ${port} {print}", "server_command": "y {port}",
        },
    ]  # fmt: skip
    plan = dumbbell({"rate": "1 Mbit/s"}, flows=flows)
    assert [(f["id"], f["port"], f["start_ns"], f["stop_ns"]) for f in plan["flows"]] == [
        ("f1", 5002, 0, 10 * 10**9),
        ("f2", 5001, 10**9, 10 * 10**9),
        ("u", 5003, 0, 2 * 10**9),
        ("f4", 5004, 1_500_000_000, 10 * 10**9),
    ]
    assert [f["workload"] for f in plan["flows"]] == [
        {"kind": "tcp", "cc": "cubic", "bytes": None, "ecn": False, "on_off": None},
        {"kind": "tcp", "cc": "cubic", "bytes": 300_000, "ecn": True, "on_off": None},
        {"kind": "udp", "rate_bps": 3_000_000, "payload_bytes": 100, "bytes": None, "ecn": "not-ect", "on_off": None},
        {
            "kind": "command",
            "command": "x 10.0.1.2 10.0.0.1 5004 8.5 ${port} {print}",
            "server_command": "y 5004",
            "cc": None,
        },
    ]
    assert host(plan, "s2")["sysctl"]["net.ipv4.tcp_ecn"] == "1"
    assert host(plan, "s1")["sysctl"]["net.ipv4.tcp_ecn"] == "2"


def test_one_port_for_tcp_and_udp() -> None:
    flows = [
        {"from": "s1", "to": "r1", "port": 80},
        {"from": "s1", "to": "r1", "port": 80, "protocol": "udp", "rate": "1 Mbit/s"},
        {"from": "s1", "to": "r2", "port": 80},
    ]
    assert [flow["port"] for flow in dumbbell({"rate": "1 Mbit/s"}, flows=flows)["flows"]] == [80, 80, 80]


def test_run_id_names_the_plan_the_engine_and_the_version() -> None:
    plan = expand(load("bbr-vs-cubic"))
    reordered = parsed(json.loads(json.dumps(document(plan), sort_keys=True)))
    ids = {
        run_id(plan, "emulate", "0.1.0"),
        run_id(plan, "simulate", "0.1.0"),
        run_id(plan, "emulate", "0.1.1"),
        run_id(replace(plan, seed=2), "emulate", "0.1.0"),
    }
    assert len(ids) == 4
    assert run_id(reordered, "emulate", "0.1.0") == run_id(plan, "emulate", "0.1.0")
    assert all(len(run_id) == 12 and int(run_id, 16) >= 0 for run_id in ids)
    written_out = expand(load("bbr-vs-cubic", ["flows.0.start=0 ms", "topology.bottleneck.delay=15 ms"]))
    assert run_id(written_out, "emulate", "0.1.0") == run_id(plan, "emulate", "0.1.0")


def test_a_plan_is_hashed_as_json_that_anybody_can_read() -> None:
    assert canonical({"b": [1, "\N{DEGREE SIGN}"], "a": None}) == '{"a":null,"b":[1,"\\u00b0"]}'
    with pytest.raises(ValueError, match="not JSON compliant"):
        canonical(float("nan"))


@pytest.mark.parametrize("collects", [True, False])
def test_garbage_is_collected_afterwards_if_it_was_before(collects: bool) -> None:
    was = gc.isenabled()
    try:
        (gc.enable if collects else gc.disable)()
        expand(load("bbr-vs-cubic"))
        assert gc.isenabled() is collects
    finally:
        (gc.enable if was else gc.disable)()

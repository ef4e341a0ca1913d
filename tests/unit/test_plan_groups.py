"""Entries of `[[flows]]` that make many connections."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from dumbbell.plan.expand import expand
from dumbbell.plan.flow_rows import rows
from dumbbell.plan.wire import document
from dumbbell.scenario.file.loading import load
from dumbbell.scenario.resolve.connections import is_drawn

SIZES = [{"bytes": "300 kB", "share": 0.8}, {"bytes": "30 MB", "share": 0.2}]


def scenario(*flows: dict[str, Any], pairs: int = 3, seed: int = 1, **more: Any) -> dict[str, Any]:
    bottleneck = {"rate": "100 Mbit/s", "reverse": {"rate": "10 Mbit/s"}}
    topology = {"kind": "dumbbell", "pairs": pairs, "rtt": "30 ms", "bottleneck": bottleneck}
    return {"name": "x", "duration": "20 s", "seed": seed, "topology": topology, "flows": [*flows], **more}


def plan(*flows: dict[str, Any], **more: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = document(expand(load(scenario(*flows, **more))))["flows"]
    return found


def many(number: int, **keys: Any) -> dict[str, Any]:
    return {"id": "web", "from": "s*", "to": "r*", "connections": number, **keys}


def test_connections_are_numbered_and_take_turns_over_the_pairs() -> None:
    found = plan({"from": "s1", "to": "r1"}, many(7))
    assert [flow["id"] for flow in found] == ["f1", *(f"web.{n}" for n in range(1, 8))]
    assert [flow["group"] for flow in found] == ["f1"] + ["web"] * 7
    ends = [(flow["from"], flow["to"]) for flow in found[1:]]
    assert ends == [(f"s{n}", f"r{n}") for n in (1, 2, 3, 1, 2, 3, 1)]
    assert len({(flow["to"], flow["port"]) for flow in found}) == 8


def test_one_of_many_is_numbered_too() -> None:
    """The names are then the same throughout a study over the number of connections."""
    assert [flow["id"] for flow in plan(many(1))] == ["web.1"]


def test_a_host_takes_all_connections_and_250_pairs_one_each() -> None:
    assert {(flow["from"], flow["to"]) for flow in plan(many(5, **{"from": "s2", "to": "r*"}))} == {
        ("s2", "r1"),
        ("s2", "r2"),
        ("s2", "r3"),
    }
    large = plan(many(300), pairs=250)
    assert Counter(flow["from"] for flow in large) == Counter({f"s{n}": 2 if n <= 50 else 1 for n in range(1, 251)})


def test_ports_follow_the_first_and_leave_others_alone() -> None:
    found = plan(many(3, port=5002), {"from": "s1", "to": "r1"}, {"from": "s1", "to": "r1"})
    assert [flow["port"] for flow in found] == [5002, 5003, 5004, 5001, 5005]


@pytest.mark.parametrize(("number", "expected"), [(1, (1, 0)), (2, (2, 0)), (4, (3, 1)), (30, (23, 7))])
def test_a_mix_has_its_shares(number: int, expected: tuple[int, int]) -> None:
    found = plan(many(number, mix={"cubic": 0.75, "bbr": 0.25}))
    counted = Counter(flow["workload"]["cc"] for flow in found)
    assert (counted["cubic"], counted["bbr"]) == expected


def test_an_algorithm_that_no_connection_gets_is_not_in_the_plan() -> None:
    found = document(expand(load(scenario(many(4, mix={"cubic": 1.0, "bbr3": 0.0})))))
    assert found["algorithms"] == []


def test_sizes_have_their_shares_in_an_order_of_the_seed() -> None:
    def sizes(seed: int) -> list[int]:
        return [flow["workload"]["bytes"] for flow in plan(many(50, sizes=SIZES), seed=seed)]

    assert Counter(sizes(1)) == {300_000: 40, 30_000_000: 10}
    assert sizes(1) == sizes(1)
    assert sizes(1) != sizes(2)
    assert sorted(sizes(1)) == sorted(sizes(2))


def test_starts_are_a_gap_apart() -> None:
    found = plan(many(4, gap="2 s", start="1 s"))
    assert [flow["start_ns"] for flow in found] == [10**9 * at for at in (1, 3, 5, 7)]


def test_random_starts_are_the_seeds_and_nobody_elses() -> None:
    def starts(*before: dict[str, Any], seed: int = 1, **keys: Any) -> list[int]:
        found = plan(*before, many(40, gap="0.1 s", arrivals="poisson", **keys), seed=seed)
        return [flow["start_ns"] for flow in found if flow["group"] == "web"]

    first = starts()
    assert first[0] == 0
    assert first == sorted(first)
    assert len(set(first)) == 40
    # Nothing else in the scenario moves them.
    assert starts({"from": "s1", "to": "r1"}, mix={"cubic": 0.5, "bbr": 0.5}, sizes=SIZES) == first
    assert starts(seed=2) != first
    assert [at + 10**9 for at in first] == starts(start="1 s")
    # Half of the gap is half of each gap, but for rounding.
    halves = plan(many(40, gap="0.05 s", arrivals="poisson"))
    assert all(abs(2 * flow["start_ns"] - at) < 100 for flow, at in zip(halves, first, strict=True))


def test_random_starts_after_the_end_are_left_out() -> None:
    found = plan(many(1000, gap="0.1 s", arrivals="poisson", stop="10 s"))
    # Poisson of mean 100; within five standard deviations.
    assert 50 < len(found) < 150
    assert max(flow["start_ns"] for flow in found) < 10**10


def test_is_drawn() -> None:
    def drawn(**keys: Any) -> bool:
        return is_drawn(load(scenario(many(4, **keys))))

    assert drawn(mix={"cubic": 0.5, "bbr": 0.5})
    assert drawn(sizes=SIZES)
    assert drawn(gap="1 s", arrivals="poisson")
    assert not drawn(gap="1 s")
    assert not drawn(mix={"cubic": 1, "bbr": 0})
    assert not drawn(mix={"cubic": 0.9, "bbr": 0.1})  # of four none


def test_udp_takes_a_share_of_the_bottleneck_in_its_direction() -> None:
    udp = {"protocol": "udp", "rate": "12.5 %"}
    there, back = plan({"from": "s1", "to": "r1", **udp}, {"from": "r1", "to": "s1", **udp})
    assert there["workload"]["rate_bps"] == 12_500_000
    assert back["workload"]["rate_bps"] == 1_250_000


def test_on_and_off() -> None:
    tcp, udp = plan(
        {"from": "s1", "to": "r1", "on": "300 kB", "off": "2 s"},
        {"from": "s1", "to": "r1", "on": "0.5 s", "off": "10 ms", "protocol": "udp", "rate": "1 Mbit/s"},
    )
    assert tcp["workload"]["on_off"] == {"on": {"bytes": 300_000}, "off_ns": 2 * 10**9}
    assert udp["workload"]["on_off"] == {"on": {"ns": 500_000_000}, "off_ns": 10_000_000}


def test_commands_are_many_too() -> None:
    found = plan(many(2, command="x -c {server} -p {port}"))
    assert [flow["workload"]["command"] for flow in found] == ["x -c 10.0.1.1 -p 5001", "x -c 10.0.1.2 -p 5002"]


def test_overrides_change_numbers_and_shares() -> None:
    given = scenario(many(4, mix={"cubic": 0.5, "bbr": 0.5}))
    changed = load(given, {"flows.0.connections": 8, "flows.0.mix.cubic": 0.25, "flows.0.mix.bbr": 0.75})
    assert Counter(flow["workload"]["cc"] for flow in document(expand(changed))["flows"]) == {"cubic": 2, "bbr": 6}
    changed = load(given, ["flows.0.mix={reno=1}", "flows.0.gap=1 s"])
    assert {flow["workload"]["cc"] for flow in document(expand(changed))["flows"]} == {"reno"}


def test_ecn_is_asked_for_by_every_host_of_a_group() -> None:
    found = document(expand(load(scenario(many(2, ecn=True)))))
    asks = {node["name"]: node["sysctl"]["net.ipv4.tcp_ecn"] for node in found["nodes"] if node["kind"] == "host"}
    assert [asks[name] for name in ("s1", "s2", "s3", "r1")] == ["1", "1", "2", "2"]


def test_a_row_for_each_entry() -> None:
    given = scenario(
        many(60, mix={"cubic": 0.5, "bbr": 0.5}, gap="0.1 s"),
        {"id": "noise", "from": "s1", "to": "r1", "protocol": "udp", "rate": "10 %", "on": "1 s", "off": "2 s"},
    )
    web, noise = rows(expand(load(given)))
    assert web[:5] == [
        *("web.1 ... web.60", "s1 ... s3", "r1 ... r3", "5001 ... 5060"),
        "30 x TCP, bbr; 30 x TCP, cubic",
    ]
    assert web[5:8] == ["0 s ... 5.9 s", "20 s", "30 ms"]
    assert noise[4] == "UDP, 10 Mbit/s, 1472 B each, 1 s on, 2 s off"

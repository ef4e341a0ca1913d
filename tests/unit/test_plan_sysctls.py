from dataclasses import replace
from typing import Any

import pytest
from graphs import transparent
from hypothesis import given, settings
from hypothesis import strategies as st

from dumbbell.plan.expand import expand
from dumbbell.plan.sysctls import CEILING, own_buffers, socket_memory
from dumbbell.plan.types import BufferBytes, Jitter, NormalDistribution
from dumbbell.plan.wire import document
from dumbbell.scenario.file.loading import load


def sysctls(bottleneck: dict[str, Any], rtt: str = "30 ms", **more: Any) -> dict[str, dict[str, str]]:
    topology = {"kind": "path", "rtt": rtt, "bottleneck": bottleneck}
    flows = [{"from": "h1", "to": "h2"}]
    scenario = {"name": "x", "duration": "1 s", "topology": topology, "flows": flows, **more}
    plan = document(expand(load(scenario)))
    return {node["name"]: node["sysctl"] for node in plan["nodes"]}


def maxima(found: dict[str, str]) -> tuple[int, int]:
    return int(found["net.ipv4.tcp_rmem"].split()[2]), int(found["net.ipv4.tcp_wmem"].split()[2])


@pytest.mark.parametrize(
    ("bottleneck", "rtt", "expected"),
    [
        # 100 Mbit/s x (30 + 30 + 30) ms = 1.125 MB; 8 times that, rounded up to a power of two.
        ({"rate": "100 Mbit/s"}, "30 ms", (16 << 20, 16 << 20)),
        # A slow path gets what the kernel would give it.
        ({"rate": "1 Mbit/s"}, "30 ms", (6 << 20, 4 << 20)),
        ({"rate": "unlimited"}, "0 ms", (6 << 20, 4 << 20)),
        # 10 Gbit/s are assumed: x 1 ms x 8 = 10 MB.
        ({"rate": "unlimited"}, "1 ms", (16 << 20, 16 << 20)),
        ({"rate": "100 Mbit/s", "buffer": "unlimited"}, "30 ms", (1 << 30, 1 << 30)),
        ({"rate": "100 Gbit/s"}, "1 s", (1 << 30, 1 << 30)),
        # The largest step, not the mean: 100 Mbit/s x (30 + 40 + 40) ms x 8 = 11 MB.
        (
            {"rate": {"steps": [["0 s", "1 Mbit/s"], ["0.1 s", "100 Mbit/s"]]}, "buffer": "500 kB"},
            "30 ms",
            (16 << 20, 16 << 20),
        ),
        # Jitter counts as delay: 100 Mbit/s x (30 + 60 + 90) ms x 8 = 18 MB.
        ({"rate": "100 Mbit/s", "jitter": "90 ms"}, "30 ms", (32 << 20, 32 << 20)),
    ],
)
def test_socket_memory(bottleneck: dict[str, Any], rtt: str, expected: tuple[int, int]) -> None:
    assert maxima(sysctls(bottleneck, rtt)["h1"]) == expected


@pytest.mark.parametrize(("longest_ns", "expected"), [(1 << 20, 1 << 20), ((1 << 20) + 1, 1 << 21)])
def test_socket_memory_is_the_least_power_of_two_that_is_enough(longest_ns: int, expected: int) -> None:
    """At 1 Gbit/s the eightfold capacity is a byte for each ns; two buffers of 125 bytes take 1 us each."""
    link = replace(transparent("a", "h1", "h2", 0), rate_bps=10**9, buffer=BufferBytes(bytes=125))
    assert socket_memory([[link]], [[link]], longest_ns - 2000, 1514) == expected
    # Hardly a delay is longer than the mean and four standard deviations.
    jitter = Jitter(distribution=NormalDistribution(mean_ns=1000, sd_ns=500), correlation=0.0)
    assert socket_memory([[replace(link, jitter=jitter)]], [[link]], longest_ns - 5000, 1514) == expected


@pytest.mark.parametrize(
    ("rmem", "wmem", "expected"),
    [
        ("4096 6291456 6291456", "4096 16384 4194304", set()),
        ("4096 6291455 6291455", "4096 16384 4194304", {"rwnd"}),
        ("4096 131072 6291456", "4096 16384 4194304", {"rwnd"}),
        ("4096 6291456 6291456", "4096 16384 4194303", {"sndbuf"}),
        ("4096 6291456 6291456", "4096 87380 4194304", {"sndbuf"}),
    ],
)
def test_buffers_that_a_scenario_sets_are_known_by_their_values(rmem: str, wmem: str, expected: set[str]) -> None:
    assert own_buffers({"net.ipv4.tcp_rmem": rmem, "net.ipv4.tcp_wmem": wmem}) == expected
    assert own_buffers({}) == set()


@settings(deadline=None)  # The machine may be busy.
@given(
    mbit=st.integers(1, 10_000),
    reverse_mbit=st.integers(1, 10_000),
    rtt_ms=st.integers(0, 1000),
    packets=st.integers(1, 10_000),
)
def test_socket_memory_is_at_least_four_times_bdp_and_buffer(
    mbit: int, reverse_mbit: int, rtt_ms: int, packets: int
) -> None:
    reverse = {"rate": f"{reverse_mbit} Mbit/s"}
    bottleneck = {"rate": f"{mbit} Mbit/s", "buffer": f"{packets} packets", "reverse": reverse}
    need = 4 * (mbit * rtt_ms * 125 + packets * 1514)
    hosts = sysctls(bottleneck, f"{rtt_ms} ms")
    assert len(hosts) == 2
    for found in hosts.values():
        assert min(maxima(found)) >= min(need, CEILING)


def test_pins() -> None:
    found = sysctls({"rate": "1 Mbit/s"})["h2"]
    assert found == {
        "net.ipv4.tcp_ecn": "2",
        "net.ipv4.tcp_no_metrics_save": "1",
        "net.ipv4.tcp_orphan_retries": "1",
        "net.ipv4.tcp_rmem": "4096 6291456 6291456",
        "net.ipv4.tcp_slow_start_after_idle": "1",
        "net.ipv4.tcp_wmem": "4096 16384 4194304",
    }


def test_the_user_wins_and_a_single_host_wins_over_all() -> None:
    hosts = {
        "sysctl": {"net.ipv4.tcp_ecn": 0, "net.ipv4.tcp_sack": 1},
        "h1": {"sysctl": {"net.ipv4.tcp_sack": 0, "net.ipv4.tcp_rmem": "4096 65536 65536"}},
    }
    found = sysctls({"rate": "1 Mbit/s"}, hosts=hosts)
    assert [found[h]["net.ipv4.tcp_ecn"] for h in ("h1", "h2")] == ["0", "0"]
    assert [found[h]["net.ipv4.tcp_sack"] for h in ("h1", "h2")] == ["0", "1"]
    assert maxima(found["h1"]) == (65536, 4 << 20)
    assert maxima(found["h2"]) == (6 << 20, 4 << 20)


@pytest.mark.parametrize(
    "event",
    [
        {"rate": "400 Mbit/s"},
        {"buffer": "2 MB"},
        {"delay": "200 ms"},
        {"jitter": {"distribution": "normal", "mean": "0 s", "sd": "50 ms"}},
        {"jitter": {"distribution": "pareto", "min": "20 ms", "shape": 3}},
        {"link": "bottleneck-reverse", "buffer": "2 MB"},
    ],
)
def test_events_count_in_socket_memory(event: dict[str, Any]) -> None:
    """100 Mbit/s x 90 ms x 8 = 9 MB need 16 MiB; with the event more."""
    found = sysctls({"rate": "100 Mbit/s"}, events=[{"at": "0.5 s", **event}])
    assert maxima(found["h1"])[0] > 16 << 20
    # The rate before the change counts, too.
    found = sysctls({"rate": "100 Mbit/s"}, events=[{"at": "0.5 s", "rate": "1 Mbit/s"}])
    assert maxima(found["h1"]) == (16 << 20, 16 << 20)


@pytest.mark.parametrize(
    ("flow", "asks"),
    [
        ({"ecn": True}, True),
        ({"protocol": "rpc", "ecn": True}, True),
        ({"ecn": False}, False),
        # The mark of datagrams is no negotiation.
        ({"protocol": "udp", "rate": "1 Mbit/s", "ecn": "ect0"}, False),
    ],
)
def test_hosts_ask_for_ecn_if_a_flow_of_tcp_does(flow: dict[str, Any], asks: bool) -> None:
    found = sysctls({"rate": "10 Mbit/s"}, flows=[{"from": "h1", "to": "h2", **flow}])
    assert [found[host]["net.ipv4.tcp_ecn"] for host in ("h1", "h2")] == ["1" if asks else "2", "2"]

"""Kernel settings that a run pins on its hosts, so that it measures the algorithm and not this machine's defaults."""

from __future__ import annotations

from dumbbell.scenario.bottleneck import FULL_FRAME, Direction, directions, largest_rtt
from dumbbell.scenario.model import Dumbbell, Path, Scenario, TcpFlow
from dumbbell.scenario.quantities import Time

RMEM_MAX_FLOOR = 6 << 20
WMEM_MAX_FLOOR = 4 << 20
"""The kernel's long-standing defaults: what a run gets at least."""

CEILING = 1 << 30
"""The largest TCP window (65535 << 14, RFC 7323)."""

HEADROOM = 8
"""How many times the path's capacity a socket's memory may grow to.

Twice, since slow start sends up to two capacities before it learns of its first loss (and BBR keeps up to two BDPs in
flight). Twice again, since the receiver holds back what lies behind a hole: while a lost segment is sent again, up to
another window arrives. And twice for the kernel's accounting: it charges a frame's whole memory (about 2.3 kB for 1448
bytes of data) and offers at most the share that data make of it. It is a limit, not an allocation. `tcp_info`'s
`rwnd_limited` and `sndbuf_limited` tell whether it was enough.
"""

ASSUMED_RATE = 10 * 10**9
"""Bits per second that a link without a rate is reckoned with here."""


def pinned(scenario: Scenario, hosts: list[str]) -> dict[str, dict[str, str]]:
    """Sysctls of each host: ours, then `[hosts] sysctl`, then the host's own table."""
    memory = socket_memory(scenario.topology)
    ecn = {flow.from_ for flow in scenario.flows if isinstance(flow, TcpFlow) and flow.ecn}
    return {host: _host(scenario, host, memory, host in ecn) for host in hosts}


def _host(scenario: Scenario, host: str, memory: int, ecn: bool) -> dict[str, str]:
    single = scenario.hosts.single.get(host)
    settings = {
        # 1: ask for ECN on outgoing connections; 2, the kernel's default: agree if asked.
        "net.ipv4.tcp_ecn": "1" if ecn else "2",
        # No cwnd, ssthresh or RTT from an earlier connection to the same address.
        "net.ipv4.tcp_no_metrics_save": "1",
        # A closed sender with unacknowledged data keeps its namespace alive until it gives up.
        "net.ipv4.tcp_orphan_retries": "1",
        # A receiver's buffer starts at its maximum: autotuning grows it a round trip behind a sender that doubles its
        # rate, and BBR's Startup ran into the window for 2 to 8 % of its busy time.
        "net.ipv4.tcp_rmem": f"4096 {max(memory, RMEM_MAX_FLOOR)} {max(memory, RMEM_MAX_FLOOR)}",
        "net.ipv4.tcp_wmem": f"4096 16384 {max(memory, WMEM_MAX_FLOOR)}",
        **scenario.hosts.sysctl,
        **(single.sysctl if single else {}),
    }
    return dict(sorted(settings.items()))


def socket_memory(topology: Dumbbell | Path) -> int:
    """Bytes of socket memory with which no window limits a flow: a power of two, at most 1 GiB.

    `HEADROOM` times the path's capacity, which is the rate times the longest RTT: the base RTT and full queues in both
    directions.
    """
    forward, reverse = directions(topology)
    rtt = largest_rtt(topology)
    queues = [_drain_ns(link, rtt) for link in (forward, reverse)]
    if None in queues:
        return CEILING
    rate = max(link.rate or ASSUMED_RATE for link in (forward, reverse))
    longest_ns = rtt + sum(drain for drain in queues if drain is not None)
    need = HEADROOM * rate * longest_ns // (8 * 10**9)
    return min(1 << max(need - 1, 0).bit_length(), CEILING)


def _drain_ns(link: Direction, rtt: Time) -> int | None:
    """How long a full buffer takes to drain; none if it has no limit."""
    kind, amount = link.resolve(rtt)
    if link.rate is None:
        return 0
    if kind == "unlimited":
        return None
    size = amount * (FULL_FRAME + link.overhead) if kind == "packets" else amount
    return size * 8 * 10**9 // link.rate

"""Kernel settings that a run pins on its hosts, so that it measures the algorithm and not this machine's defaults."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dumbbell.plan.network import peak_bps
from dumbbell.plan.types import (
    BufferBytes,
    BufferPackets,
    Distribution,
    Link,
    NormalDistribution,
    ParetoDistribution,
    StepsDelays,
    TableDistribution,
    UniformDistribution,
)
from dumbbell.scenario.resolve import Resolved
from dumbbell.scenario.resolve.outline import Way
from dumbbell.units.mtu import frame_bytes

RMEM_MAX_FLOOR = 6 << 20
WMEM_MAX_FLOOR = 4 << 20
"""The kernel's long-standing defaults: what a run gets at least."""

_SENDS_AT_FIRST = 16384
"""The kernel's default size of a sender's buffer, which grows."""

CEILING = 1 << 30
"""The largest TCP window (65535 << 14, RFC 7323)."""

HEADROOM = 8
"""The factor by which a socket's memory may exceed the path's capacity.

Twice, since slow start sends up to two capacities before it learns of its first loss (and BBR keeps up to two BDPs in
flight). Twice again, since the receiver holds back what lies behind a hole: while a lost segment is sent again, up to
another window arrives. And twice for the kernel's accounting: it charges a frame's whole memory (about 2.3 kB for 1448
bytes of data) and offers at most the share that data make of it. It is a limit, not an allocation. `tcp_info`'s
`rwnd_limited` and `sndbuf_limited` tell whether it was enough.
"""

ASSUMED_RATE = 10 * 10**9
"""The rate in bits per second that is assumed here for a link without a rate."""


def pinned(resolved: Resolved, links: Sequence[Link]) -> dict[str, dict[str, str]]:
    """Sysctls of each host: ours, then `[hosts] sysctl`, then the host's own table.

    `links` are the plan's, as they are at first and after each event.
    """
    frame, memory = frame_bytes(resolved.network.largest_mtu), dict[Way, int]()
    states: dict[str, list[Link]] = {}
    for link in links:
        states.setdefault(link.name, []).append(link)
    for way in {way for ways in resolved.network.prepared.values() for way in ways}:
        there, back = ([states[name] for name in names] for names in (way.there, way.back))
        memory[way] = socket_memory(there, back, way.rtt, frame)
    ecn = {one.from_ for one in resolved.connections if one.flow.negotiates_ecn}
    return {
        host: _host(own, max((memory[way] for way in resolved.network.prepared[host]), default=0), host in ecn)
        for host, own in resolved.sysctls.items()
    }


def _host(own: Mapping[str, str], memory: int, ecn: bool) -> dict[str, str]:
    settings = {
        # 1: ask for ECN on outgoing connections; 2, the kernel's default: agree if asked.
        "net.ipv4.tcp_ecn": "1" if ecn else "2",
        # The setting keeps cwnd, ssthresh and RTT of an earlier connection to the same address from being used.
        "net.ipv4.tcp_no_metrics_save": "1",
        # A closed sender with unacknowledged data keeps its namespace alive until it gives up.
        "net.ipv4.tcp_orphan_retries": "1",
        # After a pause the window begins anew (RFC 5681 section 4.1).
        "net.ipv4.tcp_slow_start_after_idle": "1",
        # A receiver's buffer starts at its maximum: autotuning grows it a round trip behind a sender that doubles its
        # rate, and BBR's Startup ran into the window for 2 to 8 % of its busy time.
        "net.ipv4.tcp_rmem": f"4096 {max(memory, RMEM_MAX_FLOOR)} {max(memory, RMEM_MAX_FLOOR)}",
        "net.ipv4.tcp_wmem": f"4096 {_SENDS_AT_FIRST} {max(memory, WMEM_MAX_FLOOR)}",
        **own,
    }
    return dict(sorted(settings.items()))


def own_buffers(sysctl: Mapping[str, str]) -> set[str]:
    """The windows of a host in a plan that the scenario limits itself, and not we: `rwnd`, `sndbuf`.

    The form of the values shows it: a receiver's buffer of ours begins at its maximum, and no maximum of ours is below
    the kernel's default.
    """
    own = set()
    if received := sysctl.get("net.ipv4.tcp_rmem"):
        _, first, most = map(int, received.split())
        if first != most or most < RMEM_MAX_FLOOR:
            own.add("rwnd")
    if sent := sysctl.get("net.ipv4.tcp_wmem"):
        _, first, most = map(int, sent.split())
        if first != _SENDS_AT_FIRST or most < WMEM_MAX_FLOOR:
            own.add("sndbuf")
    return own


def socket_memory(there: Sequence[Sequence[Link]], back: Sequence[Sequence[Link]], rtt_ns: int, frame: int) -> int:
    """Bytes of socket memory with which no window limits a flow: a power of two, at most 1 GiB.

    `HEADROOM` times the way's capacity, which is the rate times the longest RTT: the base RTT, what the links' delays
    may add to it, and full queues in both directions. The rate of a way is that of its slowest link; flows may run in
    both directions. For a link that changes, each is the largest that it comes to. A packet of a buffer in packets has
    `frame` bytes and the link's overhead.

    Args:
        there: the states of each link from one host to the other, over time.
        back: those of each link from the other host to the one.
        rtt_ns: base RTT, in ns.
        frame: bytes of a full frame.
    """
    links = (*there, *back)
    drains = [_drain_ns(states, frame) for states in links]
    if None in drains:
        return CEILING
    rate = max(min((_fastest(states) for states in way), default=ASSUMED_RATE) for way in (there, back))
    delays = [max(map(_delay_ns, states)) - states[0].delay_ns for states in links]
    longest_ns = rtt_ns + sum(delays) + sum(drain for drain in drains if drain is not None)
    need = HEADROOM * rate * longest_ns // (8 * 10**9)
    return int(min(1 << max(need - 1, 0).bit_length(), CEILING))


def _fastest(states: Sequence[Link]) -> int:
    """The largest rate that a link comes to, in bit/s."""
    return max(peak_bps(link) or ASSUMED_RATE for link in states)


def _drain_ns(states: Sequence[Link], frame: int) -> int | None:
    """The time that a link's largest buffer takes to drain at its largest rate; `None` if it has no limit.

    At a lower rate it takes longer, but what is then in flight is no more.
    """
    limited = [(link, rate) for link in states if (rate := peak_bps(link)) is not None]
    if any(link.buffer == "unlimited" for link, _ in limited):
        return None
    fastest = max((rate for _, rate in limited), default=1)
    return max((_room(link, frame) * 8 * 10**9 // fastest for link, _ in limited), default=0)


def _room(link: Link, frame: int) -> int:
    """Bytes, packets taken for full frames."""
    match link.buffer:
        case BufferBytes(bytes=size):
            return size
        case BufferPackets(packets=packets):
            return packets * (frame + link.overhead_bytes)
    raise ValueError(f"no size: {link.buffer}")


def _delay_ns(link: Link) -> int:
    """The delay that hardly a packet exceeds."""
    longest = max((ns for _, ns in link.delays.steps), default=0) if isinstance(link.delays, StepsDelays) else 0
    return max(link.delay_ns, longest) + (0 if link.jitter is None else _jitter_ns(link.jitter.distribution))


def _jitter_ns(distribution: Distribution) -> int:
    match distribution:
        case UniformDistribution():
            return distribution.max_ns
        case NormalDistribution():
            return distribution.mean_ns + 4 * distribution.sd_ns
        case ParetoDistribution():
            return int(distribution.min_ns * 1000 ** (1 / distribution.shape))
        case TableDistribution():
            return distribution.quantiles_ns[-1]

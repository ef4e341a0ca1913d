"""Our link beside the kernel's shapers: how close is each to an ideal drop-tail link of its rate and delay?

Every shaper sits in a namespace between two hosts. tcpdump at the sender and at the receiver sees what goes in and what
comes out; the sender's capture is replayed through an ideal FIFO, and the receiver's compared with that. First comes a
probe on an idle link, 200 full datagrams a second, then a CUBIC flow that fills it. The captures' own delay counts as
the shaper's error.

The CPU is the whole machine's while CUBIC sends, from /proc/stat, as nothing tells which share of a softirq is a
shaper's: less that of the row "no shaper", where iperf3 paces itself through the same namespaces, it is the shaper's.
"""

from __future__ import annotations

import argparse
import tempfile
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import dumbbell
from benches.busy import Busy, watching
from benches.emulation import middle
from benches.emulation.capture import Segment, read
from benches.emulation.middle import Qdiscs
from benches.replay import Passed, replay
from benches.table import show

DELAY_MS = 25
PROBE_S = 2
WARM_UP_S = 2
FRAME = 1514


@dataclass(frozen=True)
class Seen:
    """One shaper's run, from outside."""

    sent: list[Segment]
    received: list[Segment]
    busy: Busy

    @property
    def loaded(self) -> tuple[int, int]:
        """When CUBIC had found its rate, and when it stopped."""
        times = [segment.time_ns for segment in self.sent if segment.protocol == "tcp"]
        return times[0] + WARM_UP_S * 10**9, times[-1]


def buffer_bytes(mbit: int) -> int:
    """A bandwidth-delay product, for all."""
    return mbit * 10**6 // 8 * 2 * DELAY_MS // 1000


def ours(mbit: int, delay_ms: int, seconds: int, scratch: Path) -> Seen:
    """The emulated link."""
    tap = "exec tcpdump -i eth0 -s 80 -B 65536 --time-stamp-precision nano -Z root -w {file} {filter}"
    what = "'tcp dst port 5201 or udp dst port 9000'"
    ends = {"from": "h1", "to": "h2"}
    start = f"{PROBE_S + 1} s"
    bottleneck = {"rate": f"{mbit} Mbit/s", "buffer": f"{buffer_bytes(mbit)} B"}
    scenario = {
        "name": "shapers",
        # Packets under way at the end arrive in this time, and tcpdump records them.
        "duration": f"{PROBE_S + seconds + 3} s",
        "topology": {"kind": "path", "rtt": f"{2 * delay_ms} ms", "bottleneck": bottleneck},
        "emulate": {"path": "wire"},
        "flows": [
            {
                **ends,
                "command": tap.format(file=scratch / "a.pcap", filter=what),
                "server_command": tap.format(file=scratch / "b.pcap", filter=what),
                "port": 9,
            },
            {
                **ends,
                "protocol": "udp",
                "rate": f"{FRAME * 8 * 200} bit/s",
                "start": "1 s",
                "stop": start,
                "port": 9000,
            },
            {**ends, "cc": "cubic", "start": start, "stop": f"{PROBE_S + seconds + 1} s", "port": 5201},
        ],
    }
    with watching() as busy:
        dumbbell.run(scenario, directory=scratch / "runs")
    return Seen(list(read(scratch / "a.pcap")), list(read(scratch / "b.pcap")), busy)


def kernels(qdiscs: Qdiscs, seconds: int, scratch: Path, rate: str = "") -> Seen:
    """A qdisc."""
    with watching() as busy:
        middle.measure(qdiscs, scratch, seconds, PROBE_S * 200, rate)
    return Seen(list(read(scratch / "a.pcap")), list(read(scratch / "b.pcap")), busy)


def shapers(mbit: int) -> dict[str, tuple[str, Qdiscs]]:
    """Kernel shapers and their names: the qdisc without which there is none, and its use at both ends."""
    limit = buffer_bytes(mbit)
    # netem's limit holds what waits and what is on its way.
    packets = 2 * limit // FRAME
    tbf = "tbf rate {rate}mbit burst {burst} limit {limit}"
    netem = f"netem rate {mbit}mbit delay {DELAY_MS}ms limit {packets}"
    return {
        "tbf, burst of 1 packet": ("tbf", Qdiscs(tbf.format(rate=mbit, burst=1540, limit=limit))),
        "tbf, burst of 10 packets": ("tbf", Qdiscs(tbf.format(rate=mbit, burst=15400, limit=limit))),
        f"netem, {DELAY_MS} ms each way": ("netem", Qdiscs(netem, f"netem delay {DELAY_MS}ms limit 100000")),
    }


PROBES_OF_KERNEL = {"tbf": "tbf rate 1mbit burst 1540 limit 15400", "netem": "netem delay 1ms"}


def row(name: str, mbit: int, delay_ms: int, seen: Seen) -> list[str]:
    """Errors against the ideal."""
    arrivals = ((s.time_ns, s.size_bytes) for s in seen.sent)
    passed = replay(arrivals, mbit * 10**6, buffer_bytes(mbit))
    ideal = {s.key: (s, one) for s, one in zip(seen.sent, passed, strict=True)}
    both = [(s, *ideal[s.key]) for s in seen.received if s.key in ideal and ideal[s.key][1].departure_ns is not None]
    probe = [late(got, want, delay_ms) for got, sent, want in both if sent.protocol == "udp"]
    loaded = [(got, want) for got, sent, want in both if sent.protocol == "tcp"]
    load = [late(got, want, delay_ms) for got, want in loaded]
    gaps = [
        abs((b.time_ns - a.time_ns) - ((w.departure_ns or 0) - (v.departure_ns or 0)))
        for (a, v), (b, w) in pairwise(loaded)
    ]
    came = [(s.time_ns, s.size_bytes) for s in seen.received]
    delay = delay_ms * 10**6
    departures = zip(seen.sent, passed, strict=True)
    due = [(p.departure_ns + delay, s.size_bytes) for s, p in departures if p.departure_ns is not None]
    drops = len(seen.sent) - len(seen.received), sum(one.departure_ns is None for one in passed)
    return [
        name,
        f"{rate_error(came, seen.loaded, mbit):+.3%} / {rate_error(due, seen.loaded, mbit):+.3%}",
        two(probe),
        two(load),
        two(gaps),
        "{:,} / {:,}".format(*drops),
        f"{seen.busy.cores(*seen.loaded):.2f}",
    ]


def late(got: Segment, want: Passed, delay_ms: int) -> int:
    """The distance from the ideal delivery, ns."""
    return abs(got.time_ns - (want.departure_ns or 0) - delay_ms * 10**6)


def rate_error(through: list[tuple[int, int]], window: tuple[int, int], mbit: int) -> float:
    """The output (time, bytes) from one packet to another, compared with the output that the rate allows in that time.

    The ideal link's error is not zero when its queue runs dry.
    """
    within = [one for one in through if window[0] <= one[0] <= window[1]]
    bits = 8 * sum(size for _, size in within[1:])
    return bits * 1e9 / (within[-1][0] - within[0][0]) / (mbit * 1e6) - 1


def two(errors: list[int]) -> str:
    """p50 and p99, us."""
    ordered = sorted(errors)
    return " / ".join(f"{ordered[min(len(ordered) - 1, int(q * len(ordered)))] / 1e3:,.1f}" for q in (0.5, 0.99))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rates", type=int, nargs="+", default=[10, 100], help="Mbit/s; 1000 needs a machine for it")
    parser.add_argument("--seconds", type=int, default=10)
    options = parser.parse_args()
    for mbit in options.rates:
        rows = []
        for delay_ms, name in ((DELAY_MS, f"dumbbell, {DELAY_MS} ms each way"), (0, "dumbbell, rate only")):
            with tempfile.TemporaryDirectory() as scratch:
                rows.append(row(name, mbit, delay_ms, ours(mbit, delay_ms, options.seconds, Path(scratch))))
        for name, (kind, qdiscs) in shapers(mbit).items():
            if not middle.knows(PROBES_OF_KERNEL[kind]):
                rows.append([name, "not in this kernel", *[""] * 5])
                continue
            with tempfile.TemporaryDirectory() as scratch:
                delay_ms = DELAY_MS if kind == "netem" else 0
                rows.append(row(name, mbit, delay_ms, kernels(qdiscs, options.seconds, Path(scratch))))
        with tempfile.TemporaryDirectory() as scratch:
            plain = kernels(Qdiscs(), options.seconds, Path(scratch), f"{mbit * 1448 / FRAME:.3f}M")
            rows.append(["no shaper, paced by iperf3", *[""] * 5, f"{plain.busy.cores(*plain.loaded):.2f}"])
        show(
            f"{mbit} Mbit/s, buffer {buffer_bytes(mbit):,} B, CUBIC for {options.seconds} s; errors p50 / p99 in us",
            ["", "rate / ideal", "idle delay", "loaded delay", "gaps", "drops / ideal", "cores"],
            rows,
        )


if __name__ == "__main__":
    main()

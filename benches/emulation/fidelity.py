"""The distance of the emulated link from an ideal one, seen from outside: 100 Mbit/s, 25 ms each way, CUBIC saturating.

tcpdump at the sender and at the receiver captures the same flow. The packets of the sender's capture are
replayed through an ideal drop-tail FIFO; its output is compared with the receiver's capture, packet by packet. The
captures' own delay, about 6 us on the receiver's way, counts as the emulator's error. With `--engine virtual` all of it
is inside a kernel in virtual time: hosts, link and captures.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import dumbbell
from benches.emulation.capture import read
from benches.replay import replay
from benches.table import show

RATE_BPS = 100_000_000
DELAY_MS = 25
BUFFER_BYTES = RATE_BPS // 8 * 2 * DELAY_MS // 1000
WARM_UP_S = 5


TAP = "exec tcpdump -i eth0 -s 80 -B 65536 --time-stamp-precision nano -Z root -w - tcp port 5001"


def scenario(seconds: int) -> dict[str, object]:
    """One CUBIC flow and a tap at either end, which writes to the run's logs."""
    taps = {"id": "tap", "from": "h1", "to": "h2", "command": TAP, "server_command": TAP, "port": 9}
    flow = {"from": "h1", "to": "h2", "cc": "cubic", "port": 5001, "start": "1 s"}
    return {
        "name": "fidelity",
        "duration": f"{seconds} s",
        "topology": {
            "kind": "path",
            "rtt": f"{2 * DELAY_MS} ms",
            "bottleneck": {"rate": f"{RATE_BPS} bit/s", "buffer": "1 bdp"},
        },
        "flows": [taps, flow],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=int, default=20)
    parser.add_argument("--engine", default="emulate", choices=["emulate", "virtual"])
    options = parser.parse_args()
    seconds = options.seconds
    with tempfile.TemporaryDirectory() as scratch:
        run = dumbbell.run(scenario(seconds), directory=Path(scratch), engine=options.engine, report=False)
        logs = run.directory / "logs"
        sent = list(read(logs / "tap.stdout"))
        received = {segment.key: segment for segment in read(logs / "tap.server.stdout")}
        dropped = sum(link["drops"] for link in run.summary["links"])
        verdict = run.verdict
    passed = replay(((s.time_ns, s.size_bytes) for s in sent), RATE_BPS, BUFFER_BYTES)
    expected = [
        (segment, ideal.departure_ns + DELAY_MS * 10**6)
        for segment, ideal in zip(sent, passed, strict=True)
        if ideal.departure_ns is not None
    ]
    drops = len(sent) - len(expected)
    both = [(received[s.key], at) for s, at in expected if s.key in received]
    errors = sorted(abs(segment.time_ns - at) for segment, at in both)
    begin = sent[0].time_ns + WARM_UP_S * 10**9
    end = max(segment.time_ns for segment, _ in both)
    ideal_bytes = sum(s.payload_bytes for s, at in expected if begin <= at < end)
    real_bytes = sum(s.payload_bytes for s in received.values() if begin <= s.time_ns < end)

    def quantile(q: float) -> float:
        return errors[min(len(errors) - 1, int(q * len(errors)))] / 1e3

    show(
        f"{options.engine}: 100 Mbit/s, 2 x {DELAY_MS} ms, buffer 1 BDP, one CUBIC flow, {seconds} s "
        f"(verdict of the run: {verdict})",
        ["", "measured", "target"],
        [
            ["packets compared", f"{len(both):,}", ""],
            ["delivery error p50", f"{quantile(0.5):.1f} us", "<= 15 us"],
            ["delivery error p99", f"{quantile(0.99):.1f} us", "<= 150 us"],
            ["delivery error max", f"{quantile(1):.0f} us", ""],
            ["goodput against the ideal", f"{real_bytes / ideal_bytes - 1:+.4%}", "within 0.1 %"],
            ["drops, emulator / ideal", f"{dropped} / {drops}", f"within {max(1, drops / 1000):.0f}"],
        ],
    )


if __name__ == "__main__":
    main()

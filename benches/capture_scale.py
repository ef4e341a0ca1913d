"""Memory of `dumbbell pcap` with a million connections, and with a stream of 10 GB.

The first capture is a SYN scan of 700,000 ports, among 300,000 connections with data. The second is a stream on
standard input that is made while it is read, of eight connections.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benches.pcap import CONNECTIONS, PAYLOAD, SNAPLEN, records
from benches.table import show

SCANNED, ANSWERED = 700_000, 300_000
CHUNK = 3 * CONNECTIONS * 20_000


def head() -> bytes:
    """The header of the file."""
    return np.array([0xA1B2C3D4, 4 << 16 | 2, 0, 0, SNAPLEN, 1], "<u4").tobytes()


def many() -> Iterator[bytes]:
    """The scan among connections of a handshake, data and their acknowledgement."""
    yield head()
    step = 100_000
    for first in range(0, SCANNED + ANSWERED, step):
        number = np.arange(first, first + step)
        is_answered = number % 10 >= 7
        for kind in range(5):
            chosen = number if kind == 0 else number[is_answered]
            made = records(np.zeros(len(chosen), int))
            client, server = 0x0B000000 + chosen // 50_000, 0x0A000001
            port = 10_000 + chosen % 50_000
            from_server = kind in (1, 4)
            made["source"], made["destination"] = (server, client) if from_server else (client, server)
            made["sport"], made["dport"] = (80, port) if from_server else (port, 80)
            made["flags"] = [2, 18, 16, 24, 16][kind]
            made["seq"] = [0, 0, 1, 1, 1][kind]
            made["ack"] = [0, 1, 1, 1, 1 + PAYLOAD][kind]
            made["total"] = 52 + (PAYLOAD if kind == 3 else 0)
            made["length"] = 66 + (PAYLOAD if kind == 3 else 0)
            made["captured"] = SNAPLEN
            us = 10 * (first * 5 + kind * step) + np.arange(len(chosen))
            made["seconds"], made["us"] = us // 1_000_000, us % 1_000_000
            yield made.tobytes()


def stream(size: int) -> Iterator[bytes]:
    """About `size` bytes of long connections."""
    yield head()
    sent, first = 0, 0
    while sent < size:
        chunk = records(np.arange(first, first + CHUNK)).tobytes()
        first += CHUNK
        sent += len(chunk)
        yield chunk


def measured(parts: Iterator[bytes], folder: Path, segments: str) -> tuple[dict[str, object], float, float, int]:
    """The summary, seconds, most MB of memory, and bytes."""
    command = [sys.executable, "-c", _CODE, str(folder / "out"), segments]
    start = time.perf_counter()
    count = 0
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for part in parts:
            process.stdin.write(part)
            count += len(part)
        process.stdin.close()
        told = json.loads(process.stdout.read())
    return told["summary"], time.perf_counter() - start, told["peak_kb"] * 1.024 / 1e3, count


# Not `ru_maxrss`, which begins with the memory of the process that starts it.
_CODE = """
import json, sys, dumbbell
capture = dumbbell.pcap("-", output=sys.argv[1], segments=sys.argv[2])
lines = dict(line.split(":", 1) for line in open("/proc/self/status"))
print(json.dumps({"summary": capture.summary, "peak_kb": int(lines["VmHWM"].split()[0])}))
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gb", type=float, default=10, help="size of the larger stream; 0: without streams")
    parser.add_argument("--segments", choices=("none", "top"), default="none", help="rows of single packets")
    options = parser.parse_args()
    rows = []
    captures = [(f"{SCANNED + ANSWERED:,} connections", many())]
    if options.gb:
        captures += [("1 GB", stream(1_000_000_000)), (f"{options.gb:g} GB", stream(int(options.gb * 1e9)))]
    for name, parts in captures:
        with tempfile.TemporaryDirectory() as scratch:
            summary, seconds, peak_mb, count = measured(parts, Path(scratch), options.segments)
        counts = [f"{summary[key]:,}" for key in ("connections", "evicted")]
        rows.append([name, f"{count / 1e6:,.0f}", *counts, f"{seconds:.1f}", f"{peak_mb:,.0f}"])
    columns = ["capture", "MB", "connections", "evicted", "s", "most MB of memory"]
    show(f"dumbbell pcap from standard input, --segments {options.segments}", columns, rows)


if __name__ == "__main__":
    main()

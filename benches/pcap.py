"""CPU seconds to analyse a capture of 4.72 million packets of 96 bytes, in turns with tools that are installed.

The capture is made here: eight connections at once, an acknowledgement for two segments of 1,448 bytes, timestamps,
1 us between packets, and nothing lost. `segments` also writes a row for each packet of the twelve largest connections,
which are all. `read` is `cat`, which only reads the file. tcptrace and tshark print what they
know of connections (`tcptrace -l -r`, `tshark -q -z conv,tcp`; Debian: `apt-get install tcptrace tshark`).
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import numpy.typing as npt

from benches.table import show

PACKETS = 4_720_000
CONNECTIONS = 8
PAYLOAD = 1448
SNAPLEN = 96
OWN = "dumbbell"
SEGMENTS = "segments"
AT_MOST_S = {OWN: 1.0, SEGMENTS: 1.6}
"""CPU seconds for all packets."""

_RECORD = np.dtype(
    [
        ("seconds", "<u4"), ("us", "<u4"), ("captured", "<u4"), ("length", "<u4"),
        ("macs", "V12"), ("type", ">u2"),
        ("version", "u1"), ("tos", "u1"), ("total", ">u2"), ("id", ">u2"), ("fragment", ">u2"),
        ("ttl", "u1"), ("protocol", "u1"),
        ("ip_sum", ">u2"), ("source", ">u4"), ("destination", ">u4"),
        ("sport", ">u2"), ("dport", ">u2"), ("seq", ">u4"), ("ack", ">u4"), ("offset", "u1"),
        ("flags", "u1"), ("window", ">u2"),
        ("sum", ">u2"), ("urgent", ">u2"),
        ("options", ">u4"), ("tsval", ">u4"), ("tsecr", ">u4"), ("rest", f"V{SNAPLEN - 66}"),
    ]
)  # fmt: skip


def records(at: npt.NDArray[np.int64]) -> npt.NDArray[np.void]:
    """Records of packets with these numbers, which count over all connections."""
    connection, step = at % CONNECTIONS, at // CONNECTIONS
    is_ack, pair = step % 3 == 2, step // 3
    sent = 2 * pair + np.where(is_ack, 2, step % 3)
    made = np.zeros(len(at), _RECORD)
    payload = np.where(is_ack, 0, PAYLOAD)
    sender, receiver = 0x0A000001 + connection, 0x0A000101 + connection
    ms = 1 + at // 1000
    made["seconds"], made["us"] = at // 1_000_000, at % 1_000_000
    made["captured"], made["length"] = SNAPLEN, np.maximum(66 + payload, SNAPLEN)
    made["type"], made["version"], made["total"], made["id"] = 0x0800, 0x45, 52 + payload, at % 65_536
    made["ttl"], made["protocol"] = 64, 6
    made["source"], made["destination"] = np.where(is_ack, receiver, sender), np.where(is_ack, sender, receiver)
    made["sport"], made["dport"] = np.where(is_ack, 80, 40_000), np.where(is_ack, 40_000, 80)
    # Numbers wrap.
    reached = (1 + PAYLOAD * sent) % 2**32
    made["seq"], made["ack"] = np.where(is_ack, 1, reached), np.where(is_ack, reached, 1)
    made["offset"], made["flags"], made["window"] = 0x80, 0x10, 60_000
    made["options"], made["tsval"], made["tsecr"] = 0x0101080A, ms, ms
    return made


def write(path: Path, packets: int) -> None:
    """Write the capture."""
    count = packets // (3 * CONNECTIONS) * 3 * CONNECTIONS
    header = np.array([0xA1B2C3D4, 4 << 16 | 2, 0, 0, SNAPLEN, 1], "<u4")
    path.write_bytes(header.tobytes() + records(np.arange(count)).tobytes())


def cpu_s(command: list[str]) -> tuple[float, float]:
    """User and system time of a command."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime, after.ru_stime - before.ru_stime


_OF_THREAD = """
import resource, sys, dumbbell

def spent(who):
    used = resource.getrusage(who)
    return used.ru_utime + used.ru_stime

whose = (resource.RUSAGE_THREAD, resource.RUSAGE_SELF)
before = [spent(who) for who in whose]
dumbbell.pcap(sys.argv[1], output=sys.argv[2])
of_thread, of_all = (spent(who) - was for who, was in zip(whose, before))
print(of_thread / of_all)
"""


def analysing_share(file: Path, output: str) -> float:
    """The share of an analysis' CPU time that the calling thread takes, which analyses what others read and write."""
    command = [sys.executable, "-c", _OF_THREAD, str(file), output]
    return float(subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout)


def wall_s(command: list[str], cores: int) -> float:
    """Time of a command on so many cores."""
    chosen = ",".join(str(core) for core in sorted(os.sched_getaffinity(0))[:cores])
    start = time.perf_counter()
    subprocess.run(
        ["taskset", "-c", chosen, *command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True
    )
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--packets", type=int, default=PACKETS)
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        file, start = Path(scratch) / "made.pcap", Path(scratch) / "start.pcap"
        write(file, options.packets)
        write(start, 3 * CONNECTIONS)
        analyse = "import sys, dumbbell; dumbbell.pcap(sys.argv[1], output=sys.argv[2])"
        own = [sys.executable, "-c", analyse]
        keep = analyse.replace(")", ", segments='top')")
        tools = {
            "read": ["cat", str(file)],
            OWN: [*own, str(file), f"{scratch}/out"],
            SEGMENTS: [sys.executable, "-c", keep, str(file), f"{scratch}/segments"],
            "tcptrace": ["tcptrace", "-l", "-r", str(file)],
            "tshark": ["tshark", "-q", "-z", "conv,tcp", "-r", str(file)],
        }
        tools = {name: command for name, command in tools.items() if shutil.which(command[0])}
        found: dict[str, list[tuple[float, float]]] = {name: [] for name in tools}
        # Importing Python's packages is no part of the analysis.
        idle = {
            name: min(cpu_s([*tools[name][:-2], str(start), f"{scratch}/idle"]) for _ in range(options.repeat))
            for name in AT_MOST_S
        }
        walls: dict[int, list[float]] = {1: [], 2: []}
        for _ in range(options.repeat):
            for name, command in tools.items():
                user, system = cpu_s(command)
                apart = idle.get(name, (0.0, 0.0))
                found[name].append((user - apart[0], system - apart[1]))
            for cores, times in walls.items():
                times.append(wall_s(tools[OWN], cores))
        share = analysing_share(file, f"{scratch}/out")
        size = file.stat().st_size / 1e6
    rows = []
    for name, spent in found.items():
        user, system = min(spent, key=sum)
        most = f"{AT_MOST_S[name]:g}" if name in AT_MOST_S else ""
        rows.append([name, f"{user:.2f}", f"{system:.2f}", f"{1e9 * (user + system) / options.packets:.0f}", most])
    started = ", ".join(f"{sum(spent):.2f}" for spent in idle.values())
    title = f"{options.packets:,} packets, {size:.0f} MB (CPU; the start of Python, {started} s, is apart)"
    show(title, ["tool", "user s", "system s", "ns per packet", "at most, s"], rows)
    plain, every = (min(sum(spent) for spent in found[name]) for name in (OWN, SEGMENTS))
    print(f"a row for each packet takes {every / plain:.2f} times the CPU time of none")
    one, two = min(walls[1]), min(walls[2])
    print(f"{OWN} on one core {one:.2f} s, on two {two:.2f} s: {one / two:.2f} times as fast (with Python's start)")
    print(
        f"the thread that analyses takes {share:.0%} of the CPU time: "
        f"more cores make it {1 / share:.2f} times as fast at most"
    )
    missing = sorted({"tcptrace", "tshark"} - tools.keys())
    if missing:
        print(f"not installed: {', '.join(missing)}")


if __name__ == "__main__":
    main()

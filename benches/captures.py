"""Compares captures of simulated runs with what is true: `dumbbell pcap`, tshark and tcptrace on the same packets.

Runs of seven algorithms over eleven paths are captured at the sender, in the middle and at the receiver. The simulator
knows why it sends each packet again, which packets links doubled, and in which order packets were sent. It prints the
tables of docs/results/captures.md. Debian: `apt-get install tcptrace tshark`.
"""

from __future__ import annotations

import argparse
import re
import shutil
import struct
import subprocess
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import polars as pl

import dumbbell
from benches.pcapng import Packet, as_pcap, packets

ALGORITHMS: Final = ("reno", "cubic", "bbr", "bbr3", "vegas", "westwood", "htcp")
POINTS: Final = {
    "sender": ("left:in", "left-reverse:out"),
    "middle": ("core:in", "core-reverse:out"),
    "receiver": ("right:out", "right-reverse:in"),
}
_REORDER: Final = 'reorder = { rate = "0.5 %" }'
_COPIES: Final = 'duplicate = "1 %"'
PATHS: Final = {
    "shallow buffer": ('buffer = "0.3 bdp"', ""),
    "deep buffer": ('buffer = "2 bdp"', ""),
    "1 % loss": ('buffer = "1 bdp", loss = "1 %"', ""),
    "5 % loss": ('buffer = "1 bdp", loss = "5 %"', ""),
    "reordering": ('buffer = "1 bdp"', _REORDER),
    "copies": ('buffer = "1 bdp"', _COPIES),
    "loss and reordering": ('buffer = "1 bdp", loss = "0.5 %"', _REORDER),
}
TSHARK: Final = {
    "tcp.analysis.spurious_retransmission": "spurious",
    "tcp.analysis.fast_retransmission": "fast",
    "tcp.analysis.out_of_order": "out of order",
    "tcp.analysis.retransmission": "retransmission",
}


def scenario(cc: str, core: str, edges: str, seconds: int) -> str:
    """Two hosts with a bottleneck between two other links, which reorder and double as it does."""
    more = f", {edges}" if edges else ""
    return f"""
name = "captured"
duration = "{seconds} s"
record = {{ capture = true }}
[topology]
kind = "graph"
nodes = {{ a = {{}}, b = {{}}, r1 = {{ kind = "router" }}, r2 = {{ kind = "router" }} }}
links = [
  {{ name = "left", between = ["a", "r1"], delay = "4 ms"{more} }},
  {{ name = "core", between = ["r1", "r2"], rate = "20 Mbit/s", delay = "8 ms", {core}{more} }},
  {{ name = "right", between = ["r2", "b"], delay = "4 ms" }},
]
[[flows]]
from = "a"
to = "b"
cc = "{cc}"
"""


@dataclass
class Scores:
    """Events of one point by what is true and by what a tool says."""

    ours: Counter[tuple[str, str]] = field(default_factory=Counter)
    tshark: Counter[tuple[str, str]] = field(default_factory=Counter)
    tcptrace: Counter[str] = field(default_factory=Counter)


def truth(packets: Sequence[Packet], all_packets: Mapping[int, str]) -> dict[int, str]:
    """Kinds of packets with data that is not new data in order, by their place in the capture."""
    said: dict[int, str] = {}
    highest: dict[int, int] = defaultdict(int)
    seen: set[tuple[int, int]] = set()
    for at, packet in enumerate(packets):
        port, seq, size = headers(packet)
        if not size:
            continue
        number = int(re.match(r"packet (\d+)", packet.comment)[1])  # type: ignore[index]
        if (port, number) in seen:
            said[at] = "copy"
        elif seq < highest[port]:
            said[at] = all_packets.get(number, "late")
        seen.add((port, number))
        highest[port] = max(highest[port], seq + size)
    return said


def headers(packet: Packet) -> tuple[int, int, int]:
    """Source port, sequence number and payload of a simulated packet over IPv4."""
    (total,) = struct.unpack_from(">H", packet.data, 16)
    port, _, seq = struct.unpack_from(">HHI", packet.data, 34)
    return port, seq, total - 20 - 4 * (packet.data[46] >> 4)


def reasons(file: Path) -> dict[int, str]:
    """Why packets were sent again, by their numbers: the comment of the first link has it."""
    found = {}
    for packet in packets(file, ["left:in"]):
        number = re.match(r"packet (\d+)", packet.comment)
        again = re.search(r"sent again: ([\w-]+)", packet.comment)
        if number and again:
            found[int(number[1])] = again[1]
    return found


def score(file: Path, point: str, scores: Scores, scratch: Path) -> None:
    """Compare one capture."""
    found = list(packets(file, POINTS[point]))
    real = truth(found, reasons(file))
    cut = scratch / "cut.pcap"
    cut.write_bytes(as_pcap(found))
    _ours(cut, found, real, scores.ours, scratch)
    if shutil.which("tshark"):
        _tshark(cut, real, scores.tshark)
    if shutil.which("tcptrace"):
        _tcptrace(cut, scores.tcptrace)


def _ours(
    cut: Path, packets: Sequence[Packet], real: Mapping[int, str], into: Counter[tuple[str, str]], scratch: Path
) -> None:
    capture = dumbbell.pcap(cut, output=scratch / "analysis")
    ports = dict(capture.connections.select("connection", "client_port").rows())
    origin = capture.summary["origin_ns"]
    places: dict[tuple[int, int, int], list[int]] = defaultdict(list)
    for at, packet in enumerate(packets):
        port, seq, size = headers(packet)
        if size:
            places[packet.time_ns // 1000, port, seq - 1].append(at)
    left = dict(real)
    for event in capture.events.filter(
        (pl.col("bytes") > 0) & (pl.col("direction").cast(pl.String) == "to-server")
    ).to_dicts():
        key = (event["time_ns"] + origin) // 1000, ports[event["connection"]], event["seq"]
        at = places[key].pop() if places[key] else -1
        into[left.pop(at, "nothing"), event["cause"]] += 1
    for kind in left.values():
        into[kind, "nothing"] += 1


def _tshark(cut: Path, real: Mapping[int, str], into: Counter[tuple[str, str]]) -> None:
    command = ["tshark", "-r", cut, "-T", "fields", *(word for name in TSHARK for word in ("-e", name))]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    for at, line in enumerate(done.stdout.splitlines()):
        marks = [word for word, mark in zip(TSHARK.values(), line.split("\t"), strict=True) if mark]
        kind = real.get(at)
        if marks or kind:
            into[kind or "nothing", marks[0] if marks else "nothing"] += 1


def _tcptrace(cut: Path, into: Counter[str]) -> None:
    text = subprocess.run(["tcptrace", "-l", "-n", cut], capture_output=True, text=True, check=True).stdout
    for name in ("rexmt data pkts", "outoforder pkts"):
        into[name] += sum(int(count) for count in re.findall(rf"{name}: +(\d+)", text))


def matrix(title: str, counts: Counter[tuple[str, str]]) -> Iterable[str]:
    """A table in Markdown: a row for each truth, a column for each word of the tool."""
    words = sorted({said for _, said in counts}, key=lambda word: (word == "nothing", word))
    yield f"| {title} | {' | '.join(words)} |"
    yield f"|---|{'---|' * len(words)}"
    for kind in sorted({real for real, _ in counts}, key=lambda word: (word == "nothing", word)):
        yield f"| {kind} | {' | '.join(f'{counts[kind, word]:,}' if counts[kind, word] else '' for word in words)} |"
    yield ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--cc", nargs="*", default=ALGORITHMS)
    options = parser.parse_args()
    scores = {point: Scores() for point in POINTS}
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        for cc in options.cc:
            for core, edges in PATHS.values():
                file = folder / "captured.toml"
                file.write_text(scenario(cc, core, edges, options.seconds))
                run = dumbbell.run(file, (), folder / "runs", engine="simulate", report=False)
                for point, of_point in scores.items():
                    score(run.directory / "capture.pcapng", point, of_point, folder)
                shutil.rmtree(folder / "runs")
    for point, of_point in scores.items():
        print(f"## At the {point}\n" if point != "middle" else "## In the middle\n")
        for title, found in (
            ("true, and what `dumbbell pcap` says", of_point.ours),
            ("true, and what tshark says", of_point.tshark),
        ):
            print("\n".join(matrix(title, found)))
        kinds = Counter[str]()
        for (real, _), count in of_point.ours.items():
            kinds[real] += count
        again = sum(count for kind, count in kinds.items() if kind not in ("late", "copy", "nothing"))
        told = of_point.tcptrace
        print(
            f"tcptrace counts {told['rexmt data pkts']:,} retransmitted packets and {told['outoforder pkts']:,} out of "
            f"order; in truth {again:,} were sent again, {kinds['late']:,} came late, {kinds['copy']:,} are copies.\n"
        )


if __name__ == "__main__":
    main()

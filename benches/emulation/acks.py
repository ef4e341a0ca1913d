"""The cost of recording every ACK: the same run with and without, in turn, as ratios.

One bottleneck, 25 ms, 1 BDP of buffer, one flow. CPU is that of the probe's process, all its threads, and of the BPF
programs by the kernel's own count (`kernel.bpf_stats_enabled`; about 60 ns of each run are the counting). Root only;
the sysctl is put back afterwards.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import dumbbell
from benches.bbr.cost import counting
from benches.table import show
from benches.turns import in_turns
from dumbbell.analysis import metrics
from dumbbell.records.files import read_json

RATES = ("100 Mbit/s", "1 Gbit/s")
ALGORITHMS = ("cubic", "bbr", "bbr3")
WARM_UP_NS = 2 * 10**9
GOODPUT, CORES = 0.97, 0.10
"""Targets: at least, at most."""


@dataclass(frozen=True)
class Outcome:
    """The measurements of one run; without the probe, only the first two are not 0."""

    goodput_mbps: float
    programs: float
    """Time in all BPF programs of the run, in cores."""
    reader: float = 0.0
    """CPU of the thread that reads the ring, in cores."""
    writer: float = 0.0
    """CPU of the thread that writes the table, in cores."""
    rows_per_s: float = 0.0
    bytes_per_row: float = 0.0
    lost: int = 0
    verdict: str = ""


def measure(rate: str, cc: str, acks: bool, seconds: int, path: str) -> Outcome:
    """Run it once."""
    wanted: dict[str, Any] = {
        "name": "acks",
        "duration": f"{seconds} s",
        "topology": {"kind": "path", "rtt": "25 ms", "bottleneck": {"rate": rate, "buffer": "1 bdp"}},
        "flows": [{"from": "h1", "to": "h2", "cc": cc}],
        "record": {"acks": acks},
        "emulate": {"path": path},
    }
    with tempfile.TemporaryDirectory() as directory, counting():
        run = dumbbell.run(wanted, directory=directory)
        end = seconds * 10**9
        received = metrics.between(run.directory, WARM_UP_NS, end).received_bytes["f1"]
        goodput = received * 8e3 / (end - WARM_UP_NS)
        programs = [
            p for algorithm in read_json(run.directory / "lab.json")["algorithms"] for p in algorithm["programs"]
        ]
        if not acks:
            return Outcome(goodput, _share(programs, seconds), verdict=run.verdict)
        probe = read_json(run.directory / "probe.json")
        return Outcome(
            goodput,
            _share(programs + probe["programs"], seconds),
            probe["cpu_s"] / probe["wall_s"],
            probe["writer"]["cpu_s"] / probe["wall_s"],
            probe["rows"] / seconds,
            (run.directory / "acks.parquet").stat().st_size / max(probe["rows"], 1),
            probe["lost_rows"],
            run.verdict,
        )


def _share(programs: list[dict[str, Any]], seconds: int) -> float:
    return float(sum(program["run_time_ns"] for program in programs) / 1e9 / seconds)


def rows(pairs: list[tuple[Outcome, Outcome]]) -> list[list[str]]:
    """The rows of runs with and without the probe, pair by pair."""

    def median(of: Callable[[Outcome, Outcome], float]) -> float:
        return statistics.median(of(*pair) for pair in pairs)

    ratio = median(lambda on, off: on.goodput_mbps / off.goodput_mbps)
    spread = statistics.median(abs(pair[1].goodput_mbps / pairs[0][1].goodput_mbps - 1) for pair in pairs)
    reader, writer = median(lambda on, _: on.reader), median(lambda on, _: on.writer)
    programs = median(lambda on, off: on.programs - off.programs)
    cores = median(lambda on, off: on.reader + on.writer + on.programs - off.programs)
    return [
        ["goodput without, Mbit/s", f"{median(lambda _, off: off.goodput_mbps):.2f}", f"runs differ by {spread:.2%}"],
        ["goodput with, of that", f"{ratio:.4f}", f">= {GOODPUT}"],
        ["probe's process and BPF, cores", f"{cores:.4f}", f"<= {CORES:.2f}"],
        ["  reading the ring", f"{reader:.4f}", ""],
        ["  writing the table", f"{writer:.4f}", ""],
        ["  BPF programs", f"{programs:.4f}", ""],
        ["rows per second", f"{median(lambda on, _: on.rows_per_s):.0f}", ""],
        ["bytes on disk per row", f"{median(lambda on, _: on.bytes_per_row):.1f}", ""],
        ["rows lost, all runs", str(sum(on.lost for on, _ in pairs)), "0"],
        ["verdicts", ", ".join(f"{on.verdict}/{off.verdict}" for on, off in pairs), "with/without"],
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seconds", type=int, default=8)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--rates", nargs="+", default=RATES)
    parser.add_argument("--cc", nargs="+", default=ALGORITHMS)
    parser.add_argument("--path", default="auto", help="between kernel and emulator: auto, wire or gso")
    options = parser.parse_args()
    for rate in options.rates:
        for cc in options.cc:
            measured = partial(measure, rate, cc, seconds=options.seconds, path=options.path)
            found = in_turns({"without": False, "with": True}, options.repeat, measured)
            pairs = list(zip(found["with"], found["without"], strict=True))
            title = f"{rate}, 25 ms, {cc}, path {options.path}, {options.seconds} s, medians of {options.repeat} pairs"
            show(title, ["", "measured", "target"], rows(pairs))


if __name__ == "__main__":
    main()

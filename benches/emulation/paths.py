"""The same runs over both paths between kernel and emulator: do they tell the same, and what do they cost?

One bottleneck, 25 ms, 1 BDP of buffer, one flow; wire and GSO take turns. Medians, from the fourth second on where they
are of a window. Below: how fast each path is when no link slows it.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import polars as pl

import dumbbell
from benches.table import show
from benches.turns import in_turns
from dumbbell.analysis import metrics
from dumbbell.records.files import read_json

PATHS = ("wire", "gso")
WARM_UP_NS = 3 * 10**9


@dataclass(frozen=True)
class Outcome:
    """The measurements of one run."""

    verdict: str
    goodput_mbps: float
    drops: int
    queue_ms: tuple[float, float]
    """p50, p95."""
    rtt_ms: tuple[float, float]
    """min, p50."""
    cores: float
    """The emulator's CPU use."""
    us_per_segment: float
    lateness_us: tuple[float, float]
    """p50, p99."""
    segments_per_frame: tuple[float, float]
    """The segments as they came in and as they went out."""


def scenario(path: str, rate: str, rtt: str, cc: str, seconds: int) -> dict[str, Any]:
    """One flow through one bottleneck, or through none."""
    buffer = "unlimited" if rate == "unlimited" else "1 bdp"
    return {
        "name": "paths",
        "duration": f"{seconds} s",
        "topology": {"kind": "path", "rtt": rtt, "bottleneck": {"rate": rate, "buffer": buffer}},
        "emulate": {"path": path},
        "flows": [{"from": "h1", "to": "h2", "cc": cc}],
    }


def measure(path: str, rate: str, rtt: str, cc: str, seconds: int) -> Outcome:
    """Run it once."""
    with tempfile.TemporaryDirectory() as directory:
        run = dumbbell.run(scenario(path, rate, rtt, cc, seconds), directory=directory)
        emulator = read_json(run.directory / "emulator.json")
        samples = run.scan("samples")
        end = seconds * 10**9
        received = metrics.between(run.directory, WARM_UP_NS, end).received_bytes["f1"]
        rtts = samples.filter(pl.col("time_ns") >= WARM_UP_NS).select("srtt_us", "min_rtt_us").collect()
        (bottleneck,) = [link for link in run.summary["links"] if link["name"] == "bottleneck"]
        queue = bottleneck["queue_ms"] or {"p50": 0.0, "p95": 0.0}
        return Outcome(
            verdict=run.verdict,
            goodput_mbps=received * 8e3 / (end - WARM_UP_NS),
            drops=bottleneck["drops"],
            queue_ms=(queue["p50"], queue["p95"]),
            rtt_ms=(_least(rtts["min_rtt_us"]) / 1e3, _median(rtts["srtt_us"]) / 1e3),
            cores=emulator["cpu_s"] / emulator["wall_s"],
            us_per_segment=emulator["cpu_s"] / emulator["segments_in"] * 1e6,
            lateness_us=(emulator["lateness_us"]["p50"], emulator["lateness_us"]["p99"]),
            segments_per_frame=(
                emulator["segments_in"] / emulator["bursts_in"],
                emulator["segments_out"] / emulator["bursts_out"],
            ),
        )


def _least(column: pl.Series) -> float:
    return float(column.drop_nulls().min() or 0)  # type: ignore[arg-type]


def _median(column: pl.Series) -> float:
    return float(column.drop_nulls().median() or 0)  # type: ignore[arg-type]


def median(outcomes: list[Outcome], of: Callable[[Outcome], float]) -> float:
    """The median over all runs of a path."""
    return statistics.median(map(of, outcomes))


def rows(of: dict[str, list[Outcome]]) -> list[list[str]]:
    """A row per measure, a column per path, and how they compare."""

    def row(name: str, value: Callable[[Outcome], float], form: str, compare: bool = False) -> list[str]:
        wire, gso = (median(of[path], value) for path in PATHS)
        return [name, format(wire, form), format(gso, form), f"{gso / wire - 1:+.2%}" if compare and wire else ""]

    def verdicts(path: str) -> str:
        return ", ".join(f"{n} {verdict}" for verdict, n in sorted(Counter(o.verdict for o in of[path]).items()))

    return [
        row("goodput, Mbit/s", lambda o: o.goodput_mbps, ".2f", compare=True),
        row("drops", lambda o: o.drops, ".0f", compare=True),
        row("queue p50, ms", lambda o: o.queue_ms[0], ".2f", compare=True),
        row("queue p95, ms", lambda o: o.queue_ms[1], ".2f", compare=True),
        row("RTT min, ms", lambda o: o.rtt_ms[0], ".2f", compare=True),
        row("smoothed RTT p50, ms", lambda o: o.rtt_ms[1], ".2f", compare=True),
        row("emulator, cores", lambda o: o.cores, ".2f"),
        row("emulator, us per segment", lambda o: o.us_per_segment, ".2f"),
        row("lateness p50, us", lambda o: o.lateness_us[0], ".0f"),
        row("lateness p99, us", lambda o: o.lateness_us[1], ".0f"),
        row("segments per frame, in", lambda o: o.segments_per_frame[0], ".1f"),
        row("segments per frame, out", lambda o: o.segments_per_frame[1], ".1f"),
        ["verdicts", verdicts("wire"), verdicts("gso"), ""],
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=int, default=8)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--rates", nargs="+", default=["100 Mbit/s", "1 Gbit/s", "unlimited"])
    parser.add_argument("--cc", nargs="+", default=["cubic", "bbr"])
    options = parser.parse_args()
    for rate in options.rates:
        rtt = "0 ms" if rate == "unlimited" else "25 ms"
        for cc in options.cc:
            measured = partial(measure, rate=rate, rtt=rtt, cc=cc, seconds=options.seconds)
            of = in_turns({path: path for path in PATHS}, options.repeat, measured)
            title = f"{rate}, {rtt}, {cc}, {options.seconds} s, medians of {options.repeat}"
            show(title, ["", *PATHS, "gso against wire"], rows(of))


if __name__ == "__main__":
    main()

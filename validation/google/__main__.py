"""Google's BBR beside ours: `python -m validation.google --kernel NAME`, a kernel that you built with their patch."""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import Any, Final

import dumbbell
from benches.table import show, write_csv
from validation.google.cells import CELLS, MARKED, Cell

FIGURES: Final = {
    "goodput": "Mbit/s",
    "rtt": "ms, median",
    "p95": "ms",
    "retransmitted": "segments",
    "marked": "packets",
}


@dataclass(frozen=True)
class Side:
    """Whose BBR, and what runs it."""

    name: str
    engine: str
    cc: str | dict[str, Any]
    kernel: str | None = None


def figures(cell: Cell, side: Side, seed: int, longer_us: int, scratch: Path) -> dict[str, float]:
    """Returns the figures of the flow that is compared."""
    asked = cell.scenario(side.cc, seed, longer_us)
    if side.kernel is not None:
        asked["emulate"] = {"kernel": side.kernel}
    else:
        # Hosts as quick as those of a kernel in virtual time.
        asked["simulate"] = {"hosts": "virtual"}
    run = dumbbell.run(asked, directory=scratch, engine=side.engine, report=False)
    flow: dict[str, Any] = run.summary["flows"][0]
    return {
        "goodput": flow["goodput_bps"] / 1e6,
        "rtt": flow["rtt_ms"]["p50"],
        "p95": flow["rtt_ms"]["p95"],
        "retransmitted": flow["retransmitted_segments"],
        "marked": flow["ce_packets"] or 0,
    }


def _linked(source: Path) -> dict[str, str]:
    return {"kernel": str(source.resolve())}


def spread(values: Sequence[float], digits: int) -> str:
    """The mean, and all values' range if they differ."""
    least, most = min(values), max(values)
    told = f"{mean(values):.{digits}f}"
    return told if least == most else f"{told} [{least:.{digits}f} {most:.{digits}f}]"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--kernel",
        action="append",
        metavar="NAME",
        help="the kernel with Google's patch (6.12-google); can be given again: a column for each",
    )
    parser.add_argument("--theirs", default="bbr", help="what Google's BBR is called there")
    parser.add_argument(
        "--theirs-source",
        type=Path,
        metavar="FILE",
        help="theirs as a source that is linked to its kernel: a copy of tcp_bbr2.c with another default of a switch",
    )
    parser.add_argument("--ours", default="bbr3")
    parser.add_argument("--ours-kernel", default="6.12", help="a kernel without the patch")
    parser.add_argument(
        "--ours-source",
        type=Path,
        metavar="FILE",
        help="ours as a source that is linked to the kernel with the patch, so that nothing but the algorithm differs: "
        "validation/google/bbr2.c",
    )
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument(
        "--longer",
        type=int,
        default=0,
        metavar="US",
        help="each seed's RTT is so many us longer than the one before: without random loss seeds alone change little",
    )
    parser.add_argument(
        "--only", action="append", metavar="TEXT", help="cells whose names contain this; can be given again"
    )
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), metavar="N", help="runs at a time")
    parser.add_argument(
        "--marks", action="store_true", help="the cells with ECN, in which both sources have to answer marks"
    )
    parser.add_argument("--csv", type=Path, metavar="FILE", help="write mean, least and most of each figure there, too")
    parser.add_argument("--simulated", action="store_true", help="only the simulated side, which needs no kernel")
    options = parser.parse_args()
    kernels = options.kernel or ["6.12-google"]
    theirs = options.theirs if options.theirs_source is None else _linked(options.theirs_source)
    sides = [
        *(
            Side("Google's" if len(kernels) == 1 else f"Google's, {kernel}", "virtual", theirs, kernel)
            for kernel in kernels
        ),
        Side("ours, in a kernel", "virtual", options.ours, options.ours_kernel)
        if options.ours_source is None
        else Side("ours, in the same kernel", "virtual", _linked(options.ours_source), kernels[0]),
        Side(
            "ours, simulated",
            "simulate",
            {"name": options.ours, "parameters": {"ecn": True}} if options.marks else options.ours,
        ),
    ]
    sides = sides[-1:] if options.simulated else sides
    cells = [
        cell for cell in (MARKED if options.marks else CELLS) if any(text in cell.name for text in options.only or [""])
    ]
    seeds = range(1, options.seeds + 1)
    with tempfile.TemporaryDirectory() as name, ThreadPoolExecutor(options.jobs) as pool:
        jobs = {
            (cell.name, side.name, seed): pool.submit(
                figures, cell, side, seed, (seed - 1) * options.longer, Path(name) / f"{i}-{j}-{seed}"
            )
            for i, cell in enumerate(cells)
            for j, side in enumerate(sides)
            for seed in seeds
        }
        found = {key: job.result() for key, job in jobs.items()}
    table = []
    for figure, unit in FIGURES.items():
        if figure == "marked" and not options.marks:
            continue
        digits = 2 if figure == "goodput" else 1
        measured = {
            (cell.name, side.name): [found[cell.name, side.name, seed][figure] for seed in seeds]
            for cell in cells
            for side in sides
        }
        rows = [[cell.name, *(spread(measured[cell.name, side.name], digits) for side in sides)] for cell in cells]
        show(
            f"{figure} ({unit}), {options.seeds} seeds: mean, least and most", ["cell", *(s.name for s in sides)], rows
        )
        table += [
            (
                cell,
                len(values),
                side,
                f"{figure} ({unit})",
                *(round(x, digits) for x in (mean(values), min(values), max(values))),
            )
            for (cell, side), values in measured.items()
        ]
    if options.csv:
        write_csv(options.csv, ("network", "seeds", "side", "figure", "mean", "least", "most"), table)


if __name__ == "__main__":
    main()

"""`dumbbell sweep`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dumbbell.cli.options import Json, ScenarioArgument, Set
from dumbbell.cli.output import reader_may_leave

if TYPE_CHECKING:
    from dumbbell.plan.view import Table
    from dumbbell.sweeps import Sweep


def command(
    scenario: ScenarioArgument,
    vary: Annotated[
        list[str] | None,
        typer.Option(
            "--vary",
            metavar="KEY=VALUE,...",
            help="Run with each of these values: --vary flows.0.cc=cubic,bbr. Repeatable: all combinations are run.",
            show_default=False,
        ),
    ] = None,
    repeat: Annotated[int, typer.Option("--repeat", metavar="N", help="Runs of each combination.")] = 1,
    jobs: Annotated[
        int | None,
        typer.Option("--jobs", metavar="N", min=1, help="Runs at a time; by default, one on each core."),
    ] = None,
    overrides: Set = None,
    output: Annotated[Path, typer.Option("--output", metavar="DIR", help="Where sweeps are kept.")] = Path("sweeps"),
    json: Json = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Show no progress.")] = False,
) -> int:
    """Simulate variations of a scenario: many runs at once, of which only the figures are kept.

    Shows progress, then a row per combination, with means over its runs, and where the figures of all runs are. Ctrl-C
    stops early; the same command goes on where it was, and one with a larger --repeat adds runs.

    Exit code: 0 if all runs went well, 1 if some failed, 2 for bad input, 130 if interrupted.
    """
    from dumbbell.cli.sweep_progress import progress
    from dumbbell.sweeps import grid, sweep

    varied = grid.parse(vary or ())
    with progress(json or quiet) as show:
        found = sweep(scenario, varied, repeat, None, jobs, output, overrides or (), show)
    failed = int(found.summary["failed"].sum())
    with reader_may_leave():
        if json:
            from json import dumps

            told = {"sweep_dir": str(found.directory), "runs": found.runs.height, "failed": failed}
            print(dumps({**told, "cells": found.summary.to_dicts()}, indent=2))
        else:
            _print(found, failed)
    return 1 if failed else 0


def _print(sweep: Sweep, failed: int) -> None:
    from dumbbell.cli.tables import print_table

    print_table(_table(sweep))
    if failed:
        errors = sweep.runs["error"].drop_nulls()
        print(f"{failed:,} runs failed, the first with: {errors[0]}")
    print(sweep.directory)


def _table(sweep: Sweep) -> Table:
    from dumbbell.plan.view import Table
    from dumbbell.report import words
    from dumbbell.scenario.source import show

    columns = [*sweep.keys, "runs", "goodput", "Jain", "RTT p50 (ms)", "retransmitted"]
    columns += ["utilisation", "drops", "queue p50", "p95 (ms)"]
    rows = []
    for cell in sweep.summary.iter_rows(named=True):
        values = [value if isinstance(value, str) else show(value) for value in (cell[key] for key in sweep.keys)]
        jain, sent_again, drops = cell["jain_index"], cell["retransmitted_segments"], cell["drops"]
        row = [words.count(cell["runs"]), words.rate(cell["goodput_bps"])]
        row += [words.UNKNOWN if jain is None else f"{jain:.3f}", words.milliseconds(cell["rtt_p50_ms"])]
        row += [_mean_count(sent_again), words.share(cell["utilisation"]), _mean_count(drops)]
        rows.append(values + row + [words.milliseconds(cell[key]) for key in ("queue_p50_ms", "queue_p95_ms")])
    return Table("Means over runs", columns, rows)


def _mean_count(mean: float | None) -> str:
    from dumbbell.report import words

    return words.UNKNOWN if mean is None else f"{mean:,.0f}" if mean >= 10 or mean == int(mean) else f"{mean:.1f}"

"""Compares two engines over the matrix of cells, or over scenarios drawn at random: `docs/explanation/agreement.md`.

    python -m validation --engines virtual,simulate --starts "10 ms" --repeat 5
    python -m validation --random 200 --seed 1 --engines virtual,simulate
    python -m validation --list

Runs on disk are not repeated, except invalid emulated ones. Exit code: 0 if 95 % of the cells meet all targets, 1 if
not, 3 if a cell has no valid runs, 2 for bad input, 130 if interrupted.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from json import dumps
from pathlib import Path

from dumbbell.agree.comparison import Engines
from dumbbell.agree.engines import pair
from dumbbell.agree.page import STEM, write_files
from dumbbell.agree.study import Outcome, Subject, check, run_both, until_decided
from dumbbell.agree.table import write
from dumbbell.agree.targets import Status, judge, overall
from dumbbell.cli import complain
from dumbbell.cli.batch import Teller
from dumbbell.cli.output import without_advice_of_matplotlib
from dumbbell.cli.tables import print_table
from dumbbell.cli.times import time_of
from dumbbell.errors import DumbbellError, InputError, Interrupted, RunInvalid
from dumbbell.report import write_file
from dumbbell.table import Table
from validation import summary
from validation.drawn import About, draw
from validation.matrix import matrix, quick, select
from validation.table import table


def options() -> argparse.ArgumentParser:
    """Returns the parser of the command line."""
    parser = argparse.ArgumentParser("python -m validation", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--engines", metavar="A,B", default="emulate,simulate", help="as in `dumbbell agree`")
    parser.add_argument("--quick", action="store_true", help="only cells with an algorithm alone, on three paths")
    parser.add_argument("--random", type=int, default=0, metavar="N", help="N scenarios drawn at random, no matrix")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="the same seed draws the same scenarios")
    parser.add_argument("--cells", action="append", default=[], metavar="PATTERN", help="only these, e.g. 'bbr_*'")
    parser.add_argument("--list", action="store_true", help="print the names of the cells, and run nothing")
    parser.add_argument("--repeat", type=int, default=3, metavar="N", help="runs under each engine")
    parser.add_argument("--first-seed", type=int, metavar="N", help="seed of the first run; then N + 1, N + 2, ...")
    parser.add_argument("--starts", metavar="TIME", help="start each flow by chance up to TIME later, by the seed")
    parser.add_argument("--most", type=int, default=0, metavar="N", help="repeat undecided cells, up to N runs")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="runs at a time")
    parser.add_argument("--output", type=Path, default=Path("runs/agree"), metavar="DIR")
    parser.add_argument("--resimulate", action="store_true", help="repeat simulated runs on disk")
    parser.add_argument("--as-is", action="store_true", help="run nothing: compare the runs on disk")
    parser.add_argument("--only-valid", action="store_true", help="leave out suspect runs, and repeat them")
    parser.add_argument("--json", action="store_true", help="print JSON in place of tables")
    parser.add_argument("--quiet", action="store_true", help="show no progress")
    return parser


def main(arguments: Sequence[str]) -> int:
    """Compare the engines. Returns the exit code."""
    try:
        return compare(options().parse_args(arguments))
    except DumbbellError as error:
        complain(error.problems)
        return error.exit_code
    except KeyboardInterrupt:
        return Interrupted.exit_code


def compare(asked: argparse.Namespace) -> int:
    """Run the cells, write their tables, and print which are not inside. Raises `InputError` for bad input."""
    if asked.random and asked.quick:
        raise InputError("--quick and --random are two sets of scenarios", "give one or the other")
    if asked.repeat < 1:
        raise InputError("--repeat must be at least 1")
    drawn: Sequence[About] = draw(asked.seed, asked.random) if asked.random else quick() if asked.quick else matrix()
    cells = select(drawn, asked.cells)
    if asked.list:
        print("\n".join(cell.name for cell in cells))
        return 0
    engines, settings = pair(asked.engines, None)
    starts_ns = 0 if asked.starts is None else time_of("--starts", asked.starts)
    seed = [] if asked.first_seed is None else [f"seed={asked.first_seed}"]
    subjects = [Subject.of(cell.scenario(), seed, asked.repeat, asked.output, settings, starts_ns) for cell in cells]
    if not asked.as_is:
        check(subjects, engines)
    teller = Teller(asked.json or asked.quiet)

    def run_subjects(some: Sequence[Subject]) -> list[Outcome]:
        return run_both(some, engines, asked.jobs, teller, asked.resimulate, asked.as_is, asked.only_valid)

    first, second = engines
    return _tell((first, second), cells, until_decided(subjects, asked.most, run_subjects), asked)


def _tell(engines: Engines, cells: Sequence[About], outcomes: Sequence[Outcome], asked: argparse.Namespace) -> int:
    without_advice_of_matplotlib()
    measured = [outcome for outcome in outcomes if outcome.pairs]
    for outcome in measured:
        outside = overall(judge(outcome.comparison)) is Status.OUTSIDE
        write_files(outcome, ("html", "svg") if outside else ())
    found = table({cell.name: cell for cell in cells}, measured, engines)
    page = asked.output / f"{STEM}.md"
    files = [*write(found, asked.output, STEM), page]
    write_file(page, summary.markdown(found, engines, asked.starts).encode())
    refused = [f"{outcome.subject.name}: {one}" for outcome in outcomes for one in outcome.refused]
    rows, within = found.to_dicts(), summary.within_targets(found)
    if asked.json:
        told = {"engines": engines, "starts": asked.starts, "within_targets": within, "cells": rows, "refused": refused}
        print(dumps(told | {"files": [str(path) for path in files]}, indent=2))
    else:
        shown = [summary.cells_of(row, engines) for row in rows if row["agreement"] != Status.INSIDE.value]
        print_table(Table(f"Cells that are not inside: {len(shown)} of {len(rows)}", summary.head(engines), shown))
        print("\n".join([*refused, *summary.summary(rows), *map(str, files)]))
    if any(outcome.refused and not outcome.pairs for outcome in outcomes):
        return RunInvalid.exit_code
    return 0 if within else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

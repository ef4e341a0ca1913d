"""`dumbbell plan`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from dumbbell.cli.options import Json, Repeat, ScenarioArgument, Set, Vary
from dumbbell.cli.tables import print_table

if TYPE_CHECKING:
    from dumbbell.scenario.file.loading import Draft


def command(
    scenario: ScenarioArgument,
    overrides: Set = None,
    engine: Annotated[
        str | None,
        typer.Option(
            "--engine",
            metavar="ENGINE",
            help="Also say what keeps this engine (emulate or simulate) from running the plan here.",
            show_default=False,
        ),
    ] = None,
    vary: Vary = None,
    repeat: Repeat = None,
    json: Json = False,
) -> None:
    """Show the planned run: nodes, links and flows, with every default filled in.

    Starts nothing. With --json, prints the plan as an engine reads it from plan.json. Of a study, and with --vary or
    --repeat, it first lists the cells, how many runs there are, and how much traffic; with --json, these alone.
    """
    import sys
    from json import dumps

    from dumbbell.engines.registry import engine as engine_of
    from dumbbell.plan import algorithms, expand
    from dumbbell.plan.view import tables
    from dumbbell.plan.wire import document
    from dumbbell.scenario.file.loading import checked, read
    from dumbbell.scenario.resolve import resolve
    from dumbbell.studies.cells import is_study, varied

    chosen = engine_of(engine) if engine else None
    draft = varied(read(scenario, overrides), vary, repeat)
    if is_study(draft):
        _study(draft, json)
        if json:
            return
    found = checked(draft)
    plan = expand(found)
    if json:
        print(dumps(document(plan), indent=2))
        return
    for table in tables(plan, resolve(found).network.largest_rtt):
        print_table(table)
    for problem in chosen.check(found, plan) if chosen else algorithms.lacking(found, algorithms.available()):
        # The plan may be meant for another machine or engine, so these are notes; `dumbbell run` refuses.
        print(f"note: {problem.text()}", file=sys.stderr)


def _study(draft: Draft, json: bool) -> None:
    """Print the size of a study, and its cells. Raises `ScenarioError` if a cell is refused."""
    from json import dumps

    from dumbbell.cli.study import MOST_CELLS
    from dumbbell.cli.study_progress import size
    from dumbbell.plan.view import Table
    from dumbbell.scenario.file.loading import checked
    from dumbbell.scenario.source import show
    from dumbbell.studies.cells import KEYS, keys, values
    from dumbbell.studies.rounds import prepared

    base, cells = prepared(draft)
    plain, least = draft.without(KEYS), base.repeat.least
    lasts = [float(checked(plain.with_values(values(cell), "sweep")).duration) / 1e9 for cell in cells]
    told: dict[str, Any] = {
        "cells": len(cells),
        "least": least,
        "until": base.repeat.until is not None,
        "runs": least * len(cells),
    }
    told |= {"traffic_s": least * sum(lasts), "longest_s": max(lasts)}
    if json:
        print(dumps({**told, "varied": list(cells)}, indent=2))
        return
    columns = keys(cells)
    rows = [[str(i), *(show(cell[key]) if key in cell else "-" for key in columns)] for i, cell in enumerate(cells)]
    more = f", the first {MOST_CELLS} of them" if len(rows) > MOST_CELLS else ""
    print(f"{size(told)}\n")
    print_table(Table(f"Cells{more}", ["cell", *columns], rows[:MOST_CELLS]))
    print("Without what is varied:\n")

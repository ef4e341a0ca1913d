"""`dumbbell plan`."""

from __future__ import annotations

from typing import Annotated

import typer

from dumbbell.cli.options import Json, ScenarioArgument, Set
from dumbbell.cli.tables import print_table


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
    json: Json = False,
) -> None:
    """Show the planned run: nodes, links and flows, with every default filled in.

    Starts nothing. With --json, prints the plan as an engine reads it from plan.json.
    """
    import sys
    from json import dumps

    from dumbbell.engines.registry import engine as engine_of
    from dumbbell.plan import algorithms, expand
    from dumbbell.plan.view import tables
    from dumbbell.plan.wire import document
    from dumbbell.scenario.file.loading import load
    from dumbbell.scenario.resolve import resolve
    from dumbbell.studies.cells import cells, keys

    chosen = engine_of(engine) if engine else None
    checked = load(scenario, overrides)
    plan = expand(checked)
    if json:
        print(dumps(document(plan), indent=2))
        return
    for table in tables(plan, resolve(checked).network.largest_rtt):
        print_table(table)
    for problem in chosen.check(checked, plan) if chosen else algorithms.lacking(checked, algorithms.available()):
        # The plan may be meant for another machine or engine, so these are notes; `dumbbell run` refuses.
        print(f"note: {problem.text()}", file=sys.stderr)
    found = cells(checked.sweep)
    if len(found) > 1:
        print(f"note: a study of {len(found):,} cells varies {', '.join(keys(found))} of it", file=sys.stderr)

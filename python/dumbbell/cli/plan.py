"""`dumbbell plan`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

import typer

from dumbbell.cli.options import Json, Repeat, ScenarioArgument, Set, Vary
from dumbbell.cli.output import say
from dumbbell.cli.tables import print_table
from dumbbell.counts import count, listed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from dumbbell.engines.protocol import Engine
    from dumbbell.scenario.file.loading import Draft
    from dumbbell.scenario.resolve.network import Network

MOST_NAMED: Final = 3
"""Links that a note names."""


def command(
    scenario: ScenarioArgument,
    overrides: Set = None,
    engine: Annotated[
        str | None,
        typer.Option(
            "--engine",
            metavar="ENGINE",
            help="Also say what keeps this engine from running the plan here, and how long a study takes with it. "
            "Files that the scenario names are not compiled.",
            show_default=False,
        ),
    ] = None,
    vary: Vary = None,
    repeat: Repeat = None,
    json: Json = False,
) -> None:
    """Show the planned run: nodes, links and flows, with every default filled in.

    Starts nothing. With --json, prints the plan as an engine reads it from plan.json. For a study, and with --vary or
    --repeat, it first lists the cells, how many runs there are, how much traffic, and how long that takes with the
    engine; with --json, these alone.
    """
    import sys
    from json import dumps

    from dumbbell.engines.foreseen import foreseen
    from dumbbell.engines.missing import missing
    from dumbbell.engines.registry import DEFAULT
    from dumbbell.engines.registry import engine as engine_of
    from dumbbell.plan import algorithms
    from dumbbell.plan.expand import expand
    from dumbbell.plan.view import tables
    from dumbbell.plan.wire import document
    from dumbbell.scenario.file.loading import checked, read
    from dumbbell.scenario.resolve import resolve
    from dumbbell.scenario.resolve.chance import tied
    from dumbbell.studies.cells import is_study, varied
    from dumbbell.studies.programs import brings_files
    from dumbbell.studies.starts import moved

    chosen = engine_of(engine) if engine else None
    draft = varied(read(scenario, overrides), vary, repeat)
    found = checked(draft)
    models = chosen is not None and chosen.capabilities.models_tcp
    compiles = models or not brings_files(draft, found)
    if is_study(draft):
        _study(draft, chosen or engine_of(DEFAULT), json, compiles)
        if json:
            return
    plan = expand(found)
    if json:
        print(dumps(document(plan), indent=2))
        return
    for table in tables(plan, resolve(found).network.rtts):
        print_table(table)
    for note in (*found.topology.drawing.notes, *_buffers(resolve(found).network)):
        say(f"note: {note}", sys.stderr)
    if names := tied(moved(found, found.repeat.most)):
        print(
            f"note: {listed(names)} start at the same instant, and their order in the file decides which sends first: "
            'starts = "10 ms" with repeat = 10 shows how much that matters',
            file=sys.stderr,
        )
    for problem in foreseen(found, plan, chosen):
        say(f"warning: {problem.text()}", sys.stderr)
    for problem in (
        missing(chosen, found, plan, compiles) if chosen else algorithms.lacking(found, algorithms.available())
    ):
        # The plan may be meant for another machine or engine, so these are notes; `dumbbell run` refuses.
        say(f"note: {problem.text()}", sys.stderr)
    if chosen and not compiles:
        print(
            "note: nothing was compiled, and this machine was not looked at: the scenario names files with programs or "
            "configurations, which dumbbell run checks",
            file=sys.stderr,
        )


def _buffers(network: Network) -> Iterator[str]:
    """The note on links whose default buffer is larger than 1 BDP."""
    from dumbbell.scenario.resolve.direction import LEAST_PACKETS, LEAST_TIME

    names = [link.name for link in network.links if link.has_least_buffer]
    if names:
        more = f" and {len(names) - MOST_NAMED:,} more" if len(names) > MOST_NAMED else ""
        least = f"{LEAST_PACKETS} packets and {LEAST_TIME}"
        yield f"{', '.join(names[:MOST_NAMED])}{more}: 1 bdp is less than the default buffer's least, {least}"


def _study(draft: Draft, engine: Engine, json: bool, compiles: bool) -> None:
    """Print the size of a study, how long it takes, and its cells; `compiles`: checks may compile what it brings.

    Raises `ScenarioError` if the scenario's rules refuse a cell, or a deterministic engine does: it would anywhere.
    """
    import sys
    from contextlib import closing
    from json import dumps

    from dumbbell.cli.display import with_events
    from dumbbell.cli.study import MOST_CELLS
    from dumbbell.cli.study_progress import progress, size
    from dumbbell.records.manifest import core_version
    from dumbbell.scenario.source import show
    from dumbbell.studies.cells import keys, representative
    from dumbbell.studies.equal import equal_cells, sentences
    from dumbbell.studies.forecast import forecast, sample
    from dumbbell.studies.planning import Planned, Planner
    from dumbbell.studies.prepared import prepared
    from dumbbell.studies.rounds import Wanted
    from dumbbell.table import Table

    base, cells = prepared(draft)
    least, looked_at = base.repeat.least, representative(cells)
    wanted = Wanted(draft, engine)
    # Whether there are several repetitions decides; plans of each are not needed.
    planner = Planner(draft, min(base.repeat.most, 2), engine, core_version() or "none", asks=False, compiles=compiles)
    plans: dict[int, Planned] = {}
    with with_events(progress(quiet=json), None) as display:
        display({"event": "planning", "cells": 0, "of": len(cells), "least": least})
        some = [cells[index] for index in looked_at]
        with closing(planner.all(some, wanted.threads)) as planned:
            for index, plan in zip(looked_at, planned, strict=True):
                plans[index] = plan
                display({"event": "planning", "cells": len(plans), "of": len(looked_at)})
    durations = {show(None): float(base.duration) / 1e9}
    durations |= {show(cells[index].get("duration")): plan.duration_s for index, plan in plans.items()}
    lasts = [durations[show(cell.get("duration"))] for cell in cells]
    runs = least * len(cells)
    size_of: dict[str, object] = {
        "cells": len(cells),
        "least": least,
        "until": base.repeat.until is not None,
        "runs": runs,
        "checked": len(looked_at),
    }
    size_of |= {"traffic_s": least * sum(lasts), "longest_s": max(lasts)}
    size_of |= {"engine": engine.capabilities.name}
    read = [plan.read() for plan in sample(list(plans.values()))]
    size_of |= forecast(engine, read, runs, wanted.executor.room)
    starts_ns, equal = max(plan.starts_ns for plan in plans.values()), equal_cells(plans)
    if json:
        print(dumps({**size_of, "starts_ns": starts_ns, "equal_cells": equal, "varied": list(cells)}, indent=2))
        return
    columns = keys(cells)
    shown = enumerate(cells[:MOST_CELLS])
    rows = [[str(i), *(show(cell[key]) if key in cell else "-" for key in columns)] for i, cell in shown]
    more = f", the first {MOST_CELLS} of them" if len(cells) > MOST_CELLS else ""
    print(f"{size(size_of)} ({engine.capabilities.name})")
    if starts_ns:
        why = "" if base.starts else '. Nothing else differs between repetitions; starts = "0 s" switches this off'
        those = sum(plan.starts_ns > 0 for plan in plans.values())
        where = f"in {those:,} of {count(len(plans), 'cell')} " if those < len(plans) else ""
        print(f"{where}each entry of flows starts up to {starts_ns / 1e6:g} ms later, by the seed{why}")
    if len(looked_at) < len(cells):
        print(
            f"checked {len(looked_at):,} of {count(len(cells), 'cell')}, with each value in at least one; "
            "dumbbell run checks all"
        )
    for said in sentences(cells, equal):
        say(f"warning: {said}: expect equal results", sys.stderr)
    print()
    print_table(Table(f"Cells{more}", ["cell", *columns], rows))
    print("Without what is varied:\n")

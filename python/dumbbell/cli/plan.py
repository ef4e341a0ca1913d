"""`dumbbell plan`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dumbbell.cli.options import Json, ScenarioArgument, Set

if TYPE_CHECKING:
    from dumbbell.plan.view import Table


def command(scenario: ScenarioArgument, overrides: Set = None, json: Json = False) -> None:
    """Show a run as it would be: nodes, links and flows, with every default filled in.

    Nothing is started. With --json, what an engine reads as plan.json.
    """
    import sys
    from json import dumps

    from dumbbell.plan import algorithms, expand
    from dumbbell.plan.view import tables
    from dumbbell.scenario.bottleneck import largest_rtt
    from dumbbell.scenario.loading import load

    checked = load(scenario, overrides)
    plan = expand(checked)
    if json:
        print(dumps(plan, indent=2))
        return
    for table in tables(plan, largest_rtt(checked.topology)):
        _print(table)
    for problem in algorithms.lacking(checked, algorithms.available()):
        # A plan is as good for another machine; `dumbbell run` refuses.
        print(f"note: {problem.text()}", file=sys.stderr)


def _print(table: Table) -> None:
    from rich import box
    from rich.console import Console
    from rich.table import Table as RichTable
    from rich.text import Text

    # Not on a terminal: one line per row, however long.
    console = Console() if Console().is_terminal else Console(width=10_000, no_color=True)
    shown = RichTable(
        box=box.SIMPLE_HEAD if console.is_terminal else None,
        pad_edge=False,
        padding=(0, 1) if console.is_terminal else (0, 2, 0, 0),
    )
    for column in table.columns:
        shown.add_column(column, header_style="dim", no_wrap=not console.is_terminal)
    for row in table.rows:
        shown.add_row(*(Text(cell) for cell in row))
    console.print(Text(table.title, style="bold"))
    console.print(shown)
    console.print()

"""Tables on the console: drawn on a terminal, one plain line per row elsewhere."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dumbbell.plan.view import Table


def print_table(table: Table) -> None:
    """Print `table` under its title."""
    from rich import box
    from rich.console import Console
    from rich.table import Table as RichTable
    from rich.text import Text

    # Elsewhere than on a terminal, each row is one line of any length.
    console = Console() if Console().is_terminal else Console(width=10_000, no_color=True)
    shown = RichTable(box=box.SIMPLE_HEAD if console.is_terminal else None, pad_edge=False, padding=(0, 2, 0, 0))
    for column in table.columns:
        shown.add_column(column, header_style="dim", no_wrap=not console.is_terminal)
    for row in table.rows:
        shown.add_row(*(Text(cell) for cell in row))
    console.print(Text(table.title, style="bold"))
    console.print(shown)
    console.print()

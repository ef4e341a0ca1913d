"""Tables on the console: drawn on a terminal, one plain line per row elsewhere. No number is ever cut."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import IO, TYPE_CHECKING, Final

if TYPE_CHECKING:
    from dumbbell.table import Table

GAP: Final = 2
"""Spaces between columns."""
NARROWEST_TEXT: Final = 24
"""A column of sentences is wrapped, and is at least that wide."""
SENTENCE: Final = 4
"""Words from which on a cell is a sentence."""
DRAWN: Final = 1_000
"""Rows up to which a terminal shows a drawn table."""


def print_table(table: Table) -> None:
    """Print `table` under its title. Columns that don't fit follow below, beside the first ones again."""
    from rich import box
    from rich.console import Console
    from rich.table import Table as RichTable
    from rich.text import Text

    from dumbbell.table import printable

    # A text may be of a stranger's file: it is no line of its own, and no order to the terminal.
    rows = [[printable(cell, keep="") for cell in row] for row in table.rows]
    table = replace(table, title=printable(table.title, keep=""), columns=[*map(printable, table.columns)], rows=rows)
    console = Console()
    if not console.is_terminal or len(table.rows) > DRAWN:
        _print_lines(table, console.file)
        return
    console.print(Text(table.title, style="bold"))
    for columns in _folded(table, console.width):
        shown = RichTable(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, GAP, 0, 0))
        is_too_wide = _width(table, columns) > console.width
        for column in columns:
            wraps = is_too_wide or _least(table, column) < _whole(table, column)
            shown.add_column(table.columns[column], header_style="dim", no_wrap=not wraps, overflow="fold")
        for row in table.rows:
            shown.add_row(*(Text(row[column]) for column in columns))
        console.print(shown)
    console.print()


def _print_lines(table: Table, out: IO[str]) -> None:
    """Print each row as one line of any length: rich takes seconds for 10,000."""
    from rich.cells import cell_len

    rows = [[" ".join(cell.split("\n")) for cell in row] for row in (table.columns, *table.rows)]
    widths = [max(map(cell_len, column)) for column in zip(*rows, strict=True)]
    print(table.title, file=out)
    for row in rows:
        padded = (cell + " " * (width - cell_len(cell)) for cell, width in zip(row, widths, strict=True))
        # A file's name may be no text.
        print((" " * GAP).join(padded).rstrip().encode(errors="replace").decode(), file=out)
    print(file=out)


def _folded(table: Table, width: int) -> Iterator[Sequence[int]]:
    """The columns of each part of the table that fits the width."""
    keys = list(range(min(table.keys, len(table.columns))))
    part = list(keys)
    for column in range(len(keys), len(table.columns)):
        if len(part) > len(keys) and _width(table, [*part, column]) > width:
            yield part
            part = list(keys)
        part.append(column)
    yield part


def _width(table: Table, columns: Sequence[int]) -> int:
    return sum(_least(table, column) + GAP + 1 for column in columns)


def _least(table: Table, column: int) -> int:
    """The least width of a column: sentences can be wrapped, anything else can't."""
    whole = _whole(table, column)
    if any(len(row[column].split()) >= SENTENCE and not _is_figure(row[column]) for row in table.rows):
        return min(whole, NARROWEST_TEXT)
    return whole


def _whole(table: Table, column: int) -> int:
    from rich.cells import cell_len

    return max(cell_len(text) for text in (table.columns[column], *(row[column] for row in table.rows)))


def _is_figure(text: str) -> bool:
    return text[:1].isdigit() or text[:1] in "+-"

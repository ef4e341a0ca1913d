"""Tables of measurements, with the machine that they were measured on."""

from __future__ import annotations

import os
from collections.abc import Sequence

from rich.console import Console
from rich.table import Table

from dumbbell.machine import machine


def show(title: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print one table of results."""
    console = Console(soft_wrap=True)
    # Into a file or a pipe, rich would fold a table at 80 columns.
    console.width = max(console.width, 140)
    about = machine()
    load = " ".join(f"{x:.2f}" for x in os.getloadavg())
    table = Table(title=title, title_justify="left", box=None, pad_edge=False)
    for index, column in enumerate(columns):
        table.add_column(column, justify="left" if index == 0 else "right")
    for row in rows:
        table.add_row(*row)
    console.print(table)
    console.print(f"{about['cpu_model']}, {about['cores']} cores, Linux {about['kernel']}; load {load}", style="dim")
    console.print()

"""Tables of measurements, with the machine that they were measured on.

`BENCH_TABLES=FOLDER python -m benches.NAME` also writes each table to a CSV file in that folder, as docs/results/data
has them.
"""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

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
    if folder := os.environ.get("BENCH_TABLES"):
        name = re.sub(r"[^a-z0-9.]+", "-", title.lower()).strip("-")
        write_csv(Path(folder) / f"{name}.csv", columns, rows)


def write_csv(path: Path, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Write a table to a file, whose folder is made if there is none."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([columns, *rows])

"""`dumbbell query`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from dumbbell.counts import count, listed

if TYPE_CHECKING:
    from dumbbell.statistics.query import Answer

FORMATS = ("table", "csv", "json")


def command(
    study: Annotated[
        str,
        typer.Argument(
            metavar="STUDY|RUN",
            help="The directory of a study, a run or an analysed capture, e.g. studies/buffer-sweep-*; or a name: of "
            "the latest study below ./studies, or else of the latest run below ./runs.",
            show_default=False,
        ),
    ],
    sql: Annotated[
        str,
        typer.Argument(
            metavar="SQL",
            help='A read-only statement: "select cell, avg(jain_index) from runs group by cell".',
            show_default=False,
        ),
    ],
    format: Annotated[str, typer.Option("--format", metavar="FORMAT", help=f"One of {', '.join(FORMATS)}.")] = "table",
) -> None:
    """Query a study, a run or an analysed capture in SQL (DuckDB's dialect), and print the answer.

    The tables of a study are runs, flows, links and cells, each with a column per varied key; quote its name:
    "topology.bottleneck.buffer". Those of a run are what it recorded, such as flows, samples, links and packets; those
    of a capture that dumbbell pcap analysed are connections, directions, intervals, rtt and events. `describe runs`
    lists the columns of a table, `show tables` the tables.
    """
    from dumbbell.captures import Capture, is_capture
    from dumbbell.cli.studies import find, is_study, open_study
    from dumbbell.errors import InputError
    from dumbbell.records.run import Run
    from dumbbell.statistics.query import of_capture, of_run, of_study, query

    if format not in FORMATS:
        raise InputError(f"--format must be {listed(FORMATS, 'or')}", f"given: {format}")
    place = find(study)
    if is_capture(place):
        tables = of_capture(Capture(place))
    else:
        tables = of_study(open_study(place)) if is_study(place) else of_run(Run(place))
    answer = query(tables, sql)
    {"table": _table, "csv": _csv, "json": _json}[format](answer)


def _table(answer: Answer) -> None:
    from dumbbell.cli.tables import print_table
    from dumbbell.table import Table

    rows = [[_text(value) for value in row] for row in answer.rows]
    print_table(Table(count(len(rows), "row"), list(answer.columns), rows))


def _csv(answer: Answer) -> None:
    import csv
    import sys

    from dumbbell.table import printable

    writer = csv.writer(sys.stdout, lineterminator="\n")
    # A file has names as they are; a terminal would obey them.
    obeys = sys.stdout.isatty()
    for row in (answer.columns, *answer.rows):
        writer.writerow(printable(value) if obeys and isinstance(value, str) else value for value in row)


def _json(answer: Answer) -> None:
    from json import dumps

    print(dumps([dict(zip(answer.columns, row, strict=True)) for row in answer.rows], indent=2, default=str))


def _text(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.6g}" if isinstance(value, float) else str(value)

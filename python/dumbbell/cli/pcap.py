"""`dumbbell pcap`."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dumbbell.cli.options import Json

if TYPE_CHECKING:
    from dumbbell.captures import Capture


class Place(StrEnum):
    """Where packets of a run are analysed."""

    SENDER = "sender"
    RECEIVER = "receiver"


SHOWN = 20
"""Connections in the table, those with the most bytes."""


def command(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE...",
            help="Captures, which are read as one: pcap or pcapng, also as .gz, .zst or .lz4; - is standard input. Or "
            "the directory of a run with record.capture = true.",
            show_default=False,
        ),
    ],
    output: Annotated[
        Path | None,
        typer.Option("--output", metavar="DIRECTORY", help="Where the tables go. Default: FILE.analysis."),
    ] = None,
    interval: Annotated[
        str, typer.Option("--interval", metavar="TIME", help="Length of the intervals of the table `intervals`.")
    ] = "100 ms",
    interface: Annotated[
        list[str] | None,
        typer.Option("--interface", metavar="NAME", help="Only packets of this interface of pcapng; repeatable."),
    ] = None,
    at: Annotated[
        Place,
        typer.Option(
            "--at",
            metavar="sender|receiver",
            help="Of a run: analyse its packets at the senders of its flows, or at their receivers.",
        ),
    ] = Place.SENDER,
    json: Json = False,
) -> None:
    """Analyse packet captures: what limits the figures, a table of TCP connections, and tables in Parquet.

    What is on the wire is certain: repeats, filled holes, losses of the capture. Why is inferred, with its evidence.
    """
    from dumbbell.captures import pcap
    from dumbbell.captures.points import FILE, interfaces
    from dumbbell.cli.captured import beside, run_of, table
    from dumbbell.cli.tables import print_table
    from dumbbell.errors import InputError
    from dumbbell.units import Duration, QuantityError

    try:
        interval_ns = int(Duration.parse(interval))
    except QuantityError as error:
        raise InputError(f"--interval {interval} is no time", str(error)) from None
    run, only = run_of(files), list(interface or ())
    if run is not None:
        output = output or Path(f"{run.directory.resolve().name}.analysis")
        files, only = [str(run.directory / FILE)], only or interfaces(run.plan, at.value)
    capture = pcap(*files, output=output, interfaces=only, interval_ns=interval_ns)
    flows = beside(capture, run) if run is not None else None
    if json:
        _print_json(capture, flows)
        return
    for warning in capture.warnings:
        print(f"warning: {warning}")
    _print(capture)
    if flows:
        print_table(table(flows))
    print(capture.directory)


def _print_json(capture: Capture, flows: list[dict[str, Any]] | None) -> None:
    from json import dumps

    directions = capture.directions.to_dicts()
    of = {name: [one for one in directions if one["direction"] == name] for name in ("to-server", "to-client")}
    rows = {name: {one["connection"]: one for one in found} for name, found in of.items()}
    connections = [
        {**one, **{name.replace("-", "_"): rows[name].get(one["connection"]) for name in rows}}
        for one in capture.connections.to_dicts()
    ]
    found = {**capture.summary, "directory": str(capture.directory), "warnings": capture.warnings}
    if flows is not None:
        found["flows"] = flows
    print(dumps({**found, "connections": connections}, indent=2))


def _print(capture: Capture) -> None:
    from dumbbell.cli.tables import print_table
    from dumbbell.plan.view import Table

    data = capture.directions.sort("payload_bytes", "connection", descending=[True, False]).head(SHOWN)
    about = {row["connection"]: row for row in capture.connections.to_dicts()}
    columns = [
        "connection",
        "from",
        "to",
        "state",
        "bytes",
        "goodput",
        "RTT",
        "seen from",
        "sent again",
        "needless",
        "limited by",
    ]
    rows = [_row(about[row["connection"]], row) for row in data.to_dicts() if row["payload_bytes"]]
    count = capture.summary["connections"]
    others = count - len({row[0] for row in rows})
    more = f", {others:,} others are in the tables" if others else ""
    print_table(Table(f"{count:,} connection{'' if count == 1 else 's'}{more}", columns, rows))


def _row(connection: dict[str, Any], row: dict[str, Any]) -> list[str]:
    ends = [_endpoint(connection, side) for side in ("client", "server")]
    if row["direction"] == "to-client":
        ends.reverse()
    rate = row["goodput_bps"]
    limits = {name: row[f"limited_{name}_ns"] or 0 for name in ("window", "application", "recovery", "network")}
    whole = sum(limits.values())
    most = max(limits, key=lambda name: limits[name])
    return [
        str(row["connection"]),
        *ends,
        connection["state"],
        f"{row['payload_bytes']:,}",
        "" if rate is None else f"{rate / 1e6:.3g} Mbit/s",
        "" if row["rtt_p50_ns"] is None else f"{row['rtt_p50_ns'] / 1e6:.3g} ms",
        connection["place"] or "not known",
        f"{row['repeated_packets'] + row['lost_before_packets']:,}",
        "" if row["needless_retransmissions"] is None else f"{row['needless_retransmissions']:,}",
        f"{most} {100 * limits[most] / whole:.0f} %" if whole else "",
    ]


def _endpoint(connection: dict[str, Any], side: str) -> str:
    address, port = connection[side], connection[f"{side}_port"]
    return f"[{address}]:{port}" if ":" in address else f"{address}:{port}"

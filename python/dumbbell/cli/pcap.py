"""`dumbbell pcap`."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dumbbell.captures.rows import Connection, Direction
from dumbbell.cli.options import Json
from dumbbell.cli.output import say
from dumbbell.cli.times import time_of
from dumbbell.counts import by_number
from dumbbell.counts import count as counted

if TYPE_CHECKING:
    from dumbbell.captures.detail import Part
    from dumbbell.captures.diagnosis import Diagnosis
    from dumbbell.pipeline.captured import Capture
    from dumbbell.records.run import Run


class Place(StrEnum):
    """Where a capture was taken, or where packets of a run are analysed."""

    SENDER = "sender"
    RECEIVER = "receiver"
    MIDDLE = "middle"


class Segments(StrEnum):
    """Connections whose packets become rows, one each."""

    NONE = "none"
    TOP = "top"
    ALL = "all"


SHOWN = 20
"""Connections in the table, those with the most bytes."""
_ALL_NS = 1 << 62


def command(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE...",
            help="Captures, which are read as one: pcap or pcapng, also as .gz, .zst or .lz4; - is standard input. Or "
            "the directory of a run with record.capture = true, or of a capture that was analysed.",
            show_default=False,
        ),
    ],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="DIRECTORY", help="Where the tables go. Default: FILE.analysis."),
    ] = None,
    interval: Annotated[
        str, typer.Option("--interval", metavar="TIME", help="Length of the intervals of the table `intervals`.")
    ] = "100 ms",
    interface: Annotated[
        list[str] | None,
        typer.Option("--interface", metavar="NAME", help="Only packets of this interface of pcapng; repeatable."),
    ] = None,
    at: Annotated[
        Place | None,
        typer.Option(
            "--at",
            metavar="sender|receiver|middle",
            help="Where the capture was taken; detected by default. For a run: analyse packets at its flows' "
            "senders (default), or receivers.",
            show_default=False,
        ),
    ] = None,
    connection: Annotated[
        str | None,
        typer.Option(
            "--connection",
            metavar="N|ADDRESS:PORT|ADDRESS:PORT-ADDRESS:PORT|top:N",
            help="Draw and keep only these connections: one by its number, those of an endpoint or between two, "
            "or those with the most payload.",
            show_default=False,
        ),
    ] = None,
    since: Annotated[
        str | None,
        typer.Option(
            "--from", metavar="TIME", help="With --connection: draw every packet from this time on.", show_default=False
        ),
    ] = None,
    until: Annotated[
        str | None, typer.Option("--to", metavar="TIME", help="With --connection: until then.", show_default=False)
    ] = None,
    beside: Annotated[
        str | None,
        typer.Option(
            "--and",
            metavar="FILE",
            help="A capture of the same packets at another place: delays, losses between both, and clocks. For a "
            "run: its directory again.",
            show_default=False,
        ),
    ] = None,
    xplot: Annotated[
        Path | None,
        typer.Option(
            "--xplot",
            metavar="DIRECTORY",
            help="Write time-sequence graphs for xplot, as tcptrace does.",
            show_default=False,
        ),
    ] = None,
    segments: Annotated[
        Segments,
        typer.Option(
            "--segments",
            metavar="none|top|all",
            help="Write a row for each packet to `segments`: of the top 12 connections, of those that "
            "--connection names, or of all. `none`: of what the report draws.",
        ),
    ] = Segments.NONE,
    decode_as: Annotated[
        list[str] | None,
        typer.Option(
            "--decode-as",
            metavar="udp:PORT=vxlan|geneve|gtp, link:TYPE=TYPE",
            help="Decode a UDP port as a tunnel (known: 4789, 8472 as VXLAN, 6081 as Geneve, 2152 as GTP-U), or "
            "frames of a link type as another; link=TYPE: all. Repeatable.",
        ),
    ] = None,
    identify: Annotated[
        bool,
        typer.Option(
            "--identify",
            help="For a run: guess the congestion control of each flow from its packets.",
        ),
    ] = False,
    report: Annotated[
        bool, typer.Option("--report/--no-report", help="Write the report, a page with interactive plots.")
    ] = True,
    json: Json = False,
) -> None:
    """Analyse packet captures: what limits the figures, a table of TCP connections, tables in Parquet, and a report.

    What is on the wire is certain: repeats, filled holes, losses of the capture. Why is inferred, with its evidence.
    """
    from dumbbell.captures.analysis import place_of
    from dumbbell.captures.detail import keep
    from dumbbell.captures.named import Named
    from dumbbell.captures.points import FILE, interfaces
    from dumbbell.captures.xplot import write as write_graphs
    from dumbbell.cli.captured import beside as of_run
    from dumbbell.cli.captured import judge, table
    from dumbbell.cli.identified import guesses, guesses_as_json
    from dumbbell.cli.identified import table as table_of_guesses
    from dumbbell.cli.paired import between, between_as_json
    from dumbbell.cli.paired import table as table_of_pairs
    from dumbbell.cli.tables import print_table
    from dumbbell.pipeline.captured import pcap, quic_flows, run_of
    from dumbbell.report.captured import write_html

    interval_ns = time_of("--interval", interval)
    span = _span(connection, since, until)
    named = None if connection is None else Named.parse(connection)
    run, points = run_of(files), list(interface or ())
    end, is_named = at or Place.SENDER, bool(points)
    if run is not None:
        files, points = [str(run.directory / FILE)], points or interfaces(run.plan, end.value)
        output = output or place_of(run.directory.resolve().name, files)
    # Packets of named connections are read when their numbers are known.
    is_later = named is not None and segments is Segments.TOP
    at_once = Segments.NONE if is_later else segments
    capture = pcap(
        *files,
        output=output,
        interfaces=points,
        interval_ns=interval_ns,
        segments=at_once.value,
        decode_as=decode_as or (),
        at=None if at is None or run is not None else at.value,
    )
    _check_within(span, capture)
    only = None if named is None else named.numbers(capture)
    if only is not None and is_later:
        keep(capture, only)
    flows = of_run(capture, run) if run is not None else None
    if run is not None and not is_named:
        judge(capture, run, end.value)
    other = None if beside is None else _other(beside, run, end, capture, interval_ns, decode_as or ())
    found = None if other is None else between(capture, other)
    if found is not None:
        found.keep(capture)
    seen = guesses(capture, run, flows) if identify else None
    graphs = [] if xplot is None else write_graphs(capture, xplot, only)
    page = write_html(capture, capture.directory / "report.html", _parts(only, span), only, span) if report else None
    if json:
        _print_json(
            capture,
            {"report": None if page is None else str(page), "xplot": [str(path) for path in graphs]}
            | ({} if flows is None else {"flows": flows})
            | ({} if seen is None else {"identified": guesses_as_json(seen)})
            | ({} if found is None else {"between": between_as_json(found)}),
        )
        return
    for warning in capture.warnings:
        say(f"warning: {warning}")
    _print(capture)
    if flows:
        print_table(table(flows))
    if run is not None and (left_out := quic_flows(run)):
        say(f"Left out, as QUIC encrypts acknowledgements: {', '.join(left_out)}.\n")
    if seen is not None:
        print_table(table_of_guesses(seen))
    if found is not None:
        print_table(table_of_pairs(found))
    print(page or capture.directory)


def _span(connection: str | None, since: str | None, until: str | None) -> tuple[int, int] | None:
    """From when to when packets are drawn one by one, if that is said, ns."""
    from dumbbell.errors import InputError

    if since is None and until is None:
        return None
    if connection is None:
        what = "--from and --to say which part of a connection is drawn"
        raise InputError(what, "--connection is missing", "add --connection 1")
    span = 0 if since is None else time_of("--from", since), _ALL_NS if until is None else time_of("--to", until)
    if span[0] >= span[1]:
        raise InputError(
            f"--from {since} is not before --to {until}", "no packet is between them", "--from 10s --to 12s"
        )
    return span


def _check_within(span: tuple[int, int] | None, capture: Capture) -> None:
    """Raises `InputError` if a part begins behind the capture's end."""
    from dumbbell.errors import InputError

    end_ns = capture.summary["end_ns"]
    if span is not None and span[0] > end_ns:
        raise InputError(
            f"--from {span[0] / 1e9:g}s is behind the end of {capture.name}",
            f"its last packet came after {end_ns / 1e9:.3f} s",
            "name a time before that",
        )


def _parts(only: list[int] | None, span: tuple[int, int] | None) -> list[Part] | None:
    """The parts whose packets are all drawn; None if the report chooses them."""
    from dumbbell.captures import TOP
    from dumbbell.captures.detail import ASKED, Part

    if only is None or (len(only) > 1 and span is None):
        return None
    since, until = span or (0, _ALL_NS)
    return [Part(number, since, until, ASKED) for number in only[:TOP]]


def _other(
    name: str, run: Run | None, at: Place, capture: Capture, interval_ns: int, decode_as: Sequence[str]
) -> Capture:
    """The second capture. If both are the same run, it is the one at the other end."""
    from dumbbell.captures.points import FILE, interfaces
    from dumbbell.pipeline.captured import pcap, run_of

    place = capture.directory / "beside"
    other = run_of([name])
    if other is None:
        return pcap(name, output=place, interval_ns=interval_ns, decode_as=decode_as)
    is_same = run is not None and other.directory.resolve() == run.directory.resolve()
    end = at if not is_same else Place.RECEIVER if at is Place.SENDER else Place.SENDER
    only = interfaces(other.plan, end.value)
    return pcap(other.directory / FILE, output=place, interfaces=only, interval_ns=interval_ns)


def _print_json(capture: Capture, more: dict[str, object]) -> None:
    from json import dumps

    from dumbbell.report.captured.diagnosed import diagnoses

    said = diagnoses(capture, capture.largest(SHOWN))
    directions = capture.directions.to_dicts()
    for row in directions:
        diagnosis = said.get((row["connection"], row["direction"]))
        row["diagnosis"] = None if diagnosis is None else _diagnosis(*diagnosis)
    of = {name: [one for one in directions if one["direction"] == name] for name in ("to-server", "to-client")}
    rows = {name: {one["connection"]: one for one in found} for name, found in of.items()}
    connections = [
        {**one, **{name.replace("-", "_"): rows[name].get(one["connection"]) for name in rows}}
        for one in capture.connections.to_dicts()
    ]
    found = {**capture.summary, "directory": str(capture.directory), "warnings": capture.warnings}
    print(dumps({**found, **more, "connections": connections}, indent=2))


def _diagnosis(diagnosis: Diagnosis, sentences: list[str]) -> dict[str, object]:
    seen = diagnosis.seen
    return {
        "cause": str(diagnosis.cause),
        "sentences": sentences,
        "lost_packets": seen.lost_packets,
        "sent_packets": seen.sent_packets,
        "base_rtt_ns": seen.base_rtt_ns,
        "bottleneck_bps": diagnosis.bottleneck_bps,
        "passed_bps": diagnosis.passed_bps,
    }


def _print(capture: Capture) -> None:
    from dumbbell.cli.tables import print_table
    from dumbbell.report.captured.diagnosed import MOST_TOLD, diagnoses, listed
    from dumbbell.report.captured.source import words_of
    from dumbbell.table import Table

    data = capture.largest(SHOWN)
    about = capture.about(row["connection"] for row in data)
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
        "diagnosis",
    ]
    known = diagnoses(capture, data)
    for number, direction, said in listed(known)[:MOST_TOLD]:
        say(f"{number}  {words_of(about[number], direction)}\n   {said}")
    rows = [_row(about[row["connection"]], row) for row in data]
    for cells, (found, _) in zip(rows, known.values(), strict=True):
        cells.append(str(found.cause))
    if any(one["network"] for one in about.values()):
        columns.insert(3, "network")
        for cells, row in zip(rows, data, strict=True):
            cells.insert(3, about[row["connection"]]["network"] or "")
    count = capture.summary["connections"]
    others = count - len({row[0] for row in rows})
    more = f", {others:,} more {by_number(others, 'is', 'are')} in the tables" if others else ""
    print_table(Table(f"{counted(count, 'connection')}{more}", columns, rows))


def _row(connection: Connection, row: Direction) -> list[str]:
    from dumbbell.captures.directions import sent_again
    from dumbbell.captures.named import endpoint
    from dumbbell.report import words
    from dumbbell.report.captured.source import limited_by, place_of

    ends = [endpoint(connection, side) for side in ("client", "server")]
    if row["direction"] == "to-client":
        ends.reverse()
    return [
        str(row["connection"]),
        *ends,
        connection["state"],
        f"{row['payload_bytes']:,}",
        words.measured_rate(row["goodput_bps"]),
        words.UNKNOWN if row["rtt_p50_ns"] is None else f"{words.milliseconds(row['rtt_p50_ns'] / 1e6)} ms",
        place_of(connection),
        words.count(sent_again(row)),
        words.count(row["needless_retransmissions"]),
        limited_by(row),
    ]

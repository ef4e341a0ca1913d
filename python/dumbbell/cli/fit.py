"""`dumbbell fit`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dumbbell.cli.options import Json
from dumbbell.cli.pcap import Place

if TYPE_CHECKING:
    from dumbbell.fitting import Fit
    from dumbbell.fitting.whatif import Outcome


def command(
    captures: Annotated[
        list[str],
        typer.Argument(
            metavar="CAPTURE [CAPTURE]",
            help="A capture, taken at the sender or at the receiver: pcap or pcapng, also as .gz, .zst or .lz4. Or the "
            "directory of a run with record.capture = true, or of a capture that was analysed; or a profile; or a log: "
            "iperf3 --json, ss -ti taken repeatedly, qlog, a Mahimahi trace, a CSV of time, rate and delay. A second "
            "capture is of the other end; of a run, its directory again.",
            show_default=False,
        ),
    ],
    connection: Annotated[
        str | None,
        typer.Option(
            "--connection",
            metavar="N|ADDRESS:PORT|ADDRESS:PORT-ADDRESS:PORT",
            help="The connection. Default: the one with the most payload.",
            show_default=False,
        ),
    ] = None,
    at: Annotated[
        Place | None,
        typer.Option(
            "--at",
            metavar="sender|receiver",
            help="Where the capture was taken; detected by default.",
            show_default=False,
        ),
    ] = None,
    interface: Annotated[
        list[str] | None,
        typer.Option("--interface", metavar="NAME", help="Only packets of this interface of pcapng; repeatable."),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            help="Write the fitted path as a scenario, or with --anonymize as a profile.",
            show_default=False,
        ),
    ] = None,
    wanted: Annotated[
        list[str] | None,
        typer.Option(
            "--what-if",
            metavar="KEY=VALUE,...",
            help="Simulate the transfer again with a change: cc=bbr3,bbr, queue=fq-codel, buffer='50 kB', or any "
            "key of a scenario. Repeatable; each value is a change of its own.",
            show_default=False,
        ),
    ] = None,
    anonymize: Annotated[
        bool,
        typer.Option(
            "--anonymize",
            help="With -o: write a profile in place of a scenario, all figures without addresses, names and packets. "
            "dumbbell fit reads it back.",
        ),
    ] = False,
    cc: Annotated[
        str | None,
        typer.Option(
            "--cc",
            metavar="CC",
            help="Congestion control of the captured transfer, which packets don't tell. Default: the one that a log "
            "names, else cubic.",
            show_default=False,
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Fit a path to a captured transfer: what limits it, and what the network is like.

    The first lines are the answer. Below, each property of the path has an interval and its evidence, or the reason why
    this capture does not tell it.
    """
    from dumbbell import outputs
    from dumbbell.errors import InputError
    from dumbbell.fitting import fit, profile
    from dumbbell.fitting.scenario import toml
    from dumbbell.fitting.whatif import changes, what_if

    asked = changes(wanted or ())
    if len(captures) > 2:
        raise InputError("more than two captures", "a path has two ends", "dumbbell fit SENDER RECEIVER")
    if anonymize and output is None:
        raise InputError("--anonymize needs a file", "a profile is written to be shared", "-o profile.json")
    found = fit(captures[0], connection, None if at is None else at.value, interface or (), *captures[1:])
    if output is not None:
        outputs.write(output, profile.text(found) if anonymize else toml(found, cc))
    outcomes = what_if(found, asked, cc) if asked else []
    if json:
        from dataclasses import asdict
        from json import dumps

        from dumbbell.fitting.whatif import cells, sentences
        from dumbbell.fitting.words import answer, rows

        said = {
            "title": _title(found),
            "answer": [*answer(found), *sentences(found, outcomes)],
            "table": rows(found),
            "written": str(output) if output else None,
            **found.as_json(),
            "what_if": [asdict(one) for one in outcomes],
            "what_if_table": cells(found, outcomes),
        }
        print(dumps(said, indent=2))
        return
    _print(found, outcomes, output)


def _print(fit: Fit, outcomes: Sequence[Outcome], output: Path | None) -> None:
    from dumbbell.cli.output import say
    from dumbbell.cli.tables import print_table
    from dumbbell.fitting.whatif import cells, sentences
    from dumbbell.fitting.words import answer, rows
    from dumbbell.table import Table

    for sentence in (*answer(fit), *sentences(fit, outcomes)):
        say(sentence)
    about, title = fit.transfer, _title(fit)
    print_table(Table(title, ["", "value", "between", "evidence"], [list(cells) for cells in rows(fit)]))
    if outcomes:
        title = f"The transfer again, simulated over {outcomes[0].runs} paths within these intervals"
        columns = ["", "time", "goodput", "sent again", "RTT", "limited by"]
        print_table(Table(title, columns, cells(fit, outcomes)))
    if about.left_out:
        say(f"{about.left_out:,} packets behind the first {about.sent_packets:,} were not read.")
    if output is not None:
        print(output)


def _title(fit: Fit) -> str:
    """The connection and the file, in words."""
    from dumbbell.table import printable

    about, side = fit.transfer, fit.transfer.side
    if about.is_link:
        return f"{printable(fit.name)}, a {printable(about.source)}"
    place = "both ends" if side == "both" else f"the {side}"
    return f"Connection {about.connection} of {printable(fit.name)}, seen from {place}"

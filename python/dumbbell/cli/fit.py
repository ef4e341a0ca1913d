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
    capture: Annotated[
        str,
        typer.Argument(
            metavar="CAPTURE",
            help="A capture, taken at the sender or at the receiver: pcap or pcapng, also as .gz, .zst or .lz4. Or the "
            "directory of a run with record.capture = true, or of a capture that was analysed.",
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
        typer.Option("--output", "-o", metavar="FILE", help="Write the fitted path as a scenario.", show_default=False),
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
    cc: Annotated[
        str,
        typer.Option(
            "--cc", metavar="CC", help="Congestion control of the captured transfer, which packets don't tell."
        ),
    ] = "cubic",
    json: Json = False,
) -> None:
    """Fit a path to a captured transfer: what limits it, and what the network is like.

    The first lines are the answer. Below, each property of the path has an interval and its evidence, or the reason why
    this capture does not tell it.
    """
    from dumbbell import outputs
    from dumbbell.fitting import fit
    from dumbbell.fitting.scenario import toml
    from dumbbell.fitting.whatif import changes, what_if

    asked = changes(wanted or ())
    found = fit(capture, connection, None if at is None else at.value, interface or ())
    if output is not None:
        outputs.write(output, toml(found, cc))
    outcomes = what_if(found, asked, cc) if asked else []
    if json:
        from dataclasses import asdict
        from json import dumps

        from dumbbell.fitting.words import answer

        said = {"answer": answer(found), "scenario": str(output) if output else None, **found.as_json()}
        print(dumps({**said, "what_if": [asdict(one) for one in outcomes]}, indent=2))
        return
    _print(found, outcomes, output)


def _print(found: Fit, outcomes: Sequence[Outcome], output: Path | None) -> None:
    from dumbbell.cli.output import say
    from dumbbell.cli.tables import print_table
    from dumbbell.fitting.whatif import cells, sentences
    from dumbbell.fitting.words import answer, told
    from dumbbell.table import Table, printable

    for sentence in (*answer(found), *sentences(found, outcomes)):
        say(sentence)
    row = found.trace.row
    title = f"Connection {row['connection']} of {printable(found.name)}, seen from the {found.trace.side}"
    print_table(Table(title, ["", "value", "between", "evidence"], [list(cells) for cells in told(found)]))
    if outcomes:
        title = f"The transfer again, simulated over {outcomes[0].runs} paths within these intervals"
        columns = ["", "time", "goodput", "sent again", "RTT", "limited by"]
        print_table(Table(title, columns, cells(found, outcomes)))
    if found.trace.left_out:
        say(f"{found.trace.left_out:,} packets behind the first {len(found.trace.sent_ns):,} were not read.")
    if output is not None:
        print(output)

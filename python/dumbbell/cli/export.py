"""`dumbbell export`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dumbbell.cli.options import ScenarioArgument, Set
from dumbbell.errors import InputError


def command(
    scenario: ScenarioArgument,
    overrides: Set = None,
    format: Annotated[
        str | None,
        typer.Option(
            "--format",
            metavar="FORMAT",
            help="miniedit, containerlab or python. Default: by the end of FILE's name, else miniedit.",
            show_default=False,
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="The new file. Default: standard output.", show_default=False
        ),
    ] = None,
) -> None:
    """Write the network of a scenario as a file of another program, or as a program that draws it.

    Formats: miniedit (.mn), Mininet's editor; containerlab (.clab.yml); python (.py), a program that draws it with
    dumbbell.Lab. What the format has no words for is noted on stderr. The scenario needs no flows and no duration.

    Exit code: 0, or 2 if the scenario is wrong, or the file is there already.
    """
    import sys

    from dumbbell import outputs
    from dumbbell.cli.output import say
    from dumbbell.labs.build import load
    from dumbbell.labs.exports import FORMATS, of_name

    chosen = format or of_name(output.name if output else "")
    if chosen not in FORMATS:
        raise InputError(f"no format {chosen}", f"formats: {', '.join(FORMATS)}", "")
    text, notes = FORMATS[chosen].write(load(scenario, overrides or ()))
    for note in notes:
        say(f"note: {note}", sys.stderr)
    if output is None:
        print(text, end="")
        return
    outputs.write_new(output, text)
    print(output)

"""`dumbbell export`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dumbbell.cli.options import ScenarioArgument, Set


def command(
    scenario: ScenarioArgument,
    overrides: Set = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="The new file. Default: standard output.", show_default=False
        ),
    ] = None,
) -> None:
    """Write the network of a scenario as a file of MiniEdit (.mn), Mininet's editor.

    What MiniEdit has no words for is noted on stderr. The scenario needs no flows and no duration.

    Exit code: 0, or 2 if the scenario is wrong, or the file is there already.
    """
    import sys

    from dumbbell import outputs
    from dumbbell.labs.build import load
    from dumbbell.labs.export import miniedit
    from dumbbell.plan.expand import expand
    from dumbbell.plan.wire import document

    text, notes = miniedit(document(expand(load(scenario, overrides or ()))))
    for note in notes:
        print(f"note: {note}", file=sys.stderr)
    if output is None:
        print(text, end="")
        return
    outputs.write_new(output, text)
    print(output)

"""`dumbbell import`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def command(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE",
            help="A file of MiniEdit (.mn), of containerlab (.clab.yml), Kathará's lab.conf, or GraphML.",
            show_default=False,
        ),
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FILE", help="The scenario. Default: standard output.", show_default=False
        ),
    ] = None,
    routers: Annotated[
        str,
        typer.Option(
            "--routers",
            metavar="WHAT",
            help="Routers without a configuration: `static`, with shortest paths, or `frr`, whose daemons wait for "
            "what you type with vtysh.",
        ),
    ] = "static",
) -> None:
    """Make a scenario of a network that was made for Mininet's editor, containerlab, Kathará or others.

    What a scenario cannot say stands in it as a comment, and on stderr. No command of the file is run.

    Exit code: 0, or 2 if it is no such file, or the scenario would overwrite a file.
    """
    import re
    import sys

    from dumbbell import inputs, outputs
    from dumbbell.cli.output import say
    from dumbbell.errors import InputError
    from dumbbell.scenario.file.loading import LARGEST

    if routers not in ("static", "frr"):
        raise InputError(f"--routers {routers}", "expected static or frr", "leave it out for shortest paths")
    text = inputs.read_named(file, LARGEST, file)
    # Every lab of Kathará is in a file of this name, so the folder's is the lab's.
    named = file.absolute().parent.name if file.name == "lab.conf" else file.name.partition(".")[0]
    name = re.sub(r"[^A-Za-z0-9._-]", "-", named).lstrip("._-") or "imported"
    try:
        made, notes = _scenario(file, text, name, output.parent if output else Path(), routers)
    except InputError as error:
        raise InputError(f"{file}: {error.what}", error.why, error.hint) from None
    for note in notes:
        say(f"note: {note}", sys.stderr)
    if output is None:
        print(made, end="")
        return
    outputs.write_new(output, made)
    print(output)


def _scenario(file: Path, text: str, name: str, home: Path, routers: str) -> tuple[str, list[str]]:
    """The scenario in the folder `home`, and its notes, by the reader of the file's format."""
    import os

    from dumbbell.labs.imports import plannable, with_daemons
    from dumbbell.scenario.file.foreign import containerlab, kathara, miniedit, network
    from dumbbell.scenario.file.foreign.frr import beside

    if file.suffix in (".yml", ".yaml"):
        made = containerlab.scenario(text, name, beside(file.absolute().parent, home))
    elif file.suffix == ".graphml":
        made = network.of_file(name, "GraphML", os.path.relpath(file.absolute(), home.absolute())), []
    elif file.suffix == ".conf":
        made = kathara.of_folder(text, name, file.absolute().parent, home)
    else:
        made = miniedit.scenario(text, name)
    if routers == "frr":
        made = with_daemons(made[0]), made[1]
    return plannable(made, home, asks_frr=True)

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
            help="A file of MiniEdit (.mn), of containerlab (.clab.yml), or Kathará's lab.conf.",
            show_default=False,
        ),
    ],
    output: Annotated[
        Path | None,
        typer.Option("--output", metavar="FILE", help="The scenario. Default: standard output.", show_default=False),
    ] = None,
) -> None:
    """Make a scenario of a network that was made for Mininet's editor, containerlab or Kathará.

    What a scenario cannot say stands in it as a comment, and on stderr. No command of the file is run.

    Exit code: 0, or 2 if it is no such file, or the scenario would overwrite a file.
    """
    import re
    import sys

    from dumbbell import inputs, outputs
    from dumbbell.errors import InputError
    from dumbbell.scenario.file.loading import LARGEST

    text = inputs.read_named(file, LARGEST, file)
    # Every lab of Kathará is in a file of this name, so the folder's is the lab's.
    named = file.absolute().parent.name if file.name == "lab.conf" else file.name.partition(".")[0]
    name = re.sub(r"[^A-Za-z0-9._-]", "-", named).lstrip("._-") or "imported"
    try:
        made, notes = _scenario(file, text, name, output.parent if output else Path())
    except InputError as error:
        raise InputError(f"{file}: {error.what}", error.why, error.hint) from None
    for note in notes:
        print(f"note: {note}", file=sys.stderr)
    if output is None:
        print(made, end="")
        return
    outputs.write_new(output, made)
    print(output)


def _scenario(file: Path, text: str, name: str, home: Path) -> tuple[str, list[str]]:
    """The scenario in the folder `home`, and its notes, by the reader of the file's format."""
    from dumbbell.scenario.file.foreign import containerlab, kathara, miniedit

    if file.suffix in (".yml", ".yaml"):
        return containerlab.scenario(text, name)
    if file.suffix == ".conf":
        return kathara.of_folder(text, name, file.absolute().parent, home)
    return miniedit.scenario(text, name)

"""`dumbbell import`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def command(
    file: Annotated[Path, typer.Argument(metavar="FILE.mn", help="A file that MiniEdit saved.", show_default=False)],
    output: Annotated[
        Path | None,
        typer.Option("--output", metavar="FILE", help="The scenario. Default: standard output.", show_default=False),
    ] = None,
) -> None:
    """Make a scenario of a network that was drawn with MiniEdit, Mininet's editor.

    What a scenario cannot say stands in it as a comment, and on stderr. No command of the file is run.

    Exit code: 0, or 2 if it is no such file, or the scenario would overwrite a file.
    """
    import re
    import sys

    from dumbbell import inputs
    from dumbbell.errors import InputError, unwritable
    from dumbbell.scenario.file.loading import LARGEST
    from dumbbell.scenario.file.miniedit import scenario

    try:
        text = inputs.read_text(file, LARGEST)
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is no text in UTF-8"
        raise InputError(f"cannot read {file}", why or str(error)) from None
    try:
        made, notes = scenario(text, re.sub(r"[^A-Za-z0-9._-]", "-", file.stem).lstrip("._-") or "imported")
    except InputError as error:
        raise InputError(f"{file}: {error.what}", error.why, error.hint) from None
    for note in notes:
        print(f"note: {note}", file=sys.stderr)
    if output is None:
        print(made, end="")
        return
    try:
        with output.open("x", encoding="utf-8") as written:
            written.write(made)
    except FileExistsError:
        raise InputError(f"{output} is there already", "nothing is overwritten", "choose another name") from None
    except OSError as error:
        raise unwritable(output, error) from error
    print(output)

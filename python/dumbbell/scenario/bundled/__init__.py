"""The scenarios that come with dumbbell: `dumbbell run NAME`."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from dumbbell import inputs, outputs
from dumbbell.errors import InputError, Place, Problem, ScenarioError, unwritable
from dumbbell.hints import closest, nearest
from dumbbell.names import is_name

FOLDER: Final = Path(__file__).parent
"""The folder of the scenarios and their traces."""


def names() -> list[str]:
    """All names, sorted."""
    return sorted(file.stem for file in FOLDER.glob("*.toml"))


def text(name: str) -> str:
    """A scenario's TOML. Raises `InputError` for a name that is not among them."""
    known = names()
    if name not in known:
        hint = f"a path has a / or ends in .toml: ./{name}" if Path(name).is_file() else _beside(name, known)
        what = f"no bundled scenario is named {name}"
        raise ScenarioError([Problem(what, hint=hint, place=Place(name))])
    return (FOLDER / f"{name}.toml").read_text(encoding="utf-8")


def description(name: str) -> str:
    """The purpose of a scenario, in a line."""
    return str(tomllib.loads(text(name)).get("description", ""))


def copy(name: str, file: Path) -> list[Path]:
    """Write a scenario to a new file, named after it, and the traces that it uses beside it. Returns what was written.

    Raises:
        InputError: there is no such scenario, a file is there already, or the folder cannot be written to.
    """
    own = text(name)
    if is_name(file.stem):
        own = own.replace(f'name = "{name}"', f'name = "{file.stem}"', 1)
    traces = [trace for trace in sorted(FOLDER.glob("*.trace")) if f'"{trace.name}"' in own]
    files = {file: own.encode(), **{file.with_name(trace.name): trace.read_bytes() for trace in traces}}
    for path, content in files.items():
        if path.exists() and (path == file or inputs.read(path, len(content)) != content):
            raise InputError(f"{path} exists already", "", f"choose another name: dumbbell scenarios copy {name} FILE")
    for path, content in files.items():
        try:
            outputs.write(path, content)
        except OSError as error:
            hint = f"choose a file in another folder: dumbbell scenarios copy {name} FILE"
            raise unwritable(path, error, hint=hint) from None
    return list(files)


def _beside(name: str, known: Iterable[str]) -> str:
    """A hint for a name without a path: a file here of this name or a similar one, or else `suggest`."""
    here = {file.stem: f"./{file}" for file in sorted(Path().glob("*.toml"))}
    close = closest(name, [*here, *known], 0.7)
    return f"did you mean {here[close]}?" if close in here else suggest(name, known)


def suggest(name: str, known: Iterable[str]) -> str:
    """A hint for a name that is not `known`: the nearest one, or else the command that lists what is bundled."""
    return nearest(name, known, "dumbbell scenarios lists the bundled ones", likeness=0.7)

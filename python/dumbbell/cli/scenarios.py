"""`dumbbell scenarios`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dumbbell.cli.options import Json, bundled_names

app = typer.Typer(
    name="scenarios",
    add_completion=False,
    invoke_without_command=True,
    rich_markup_mode="rich",
    help="List the scenarios that come with dumbbell, show one, or copy one to start from.",
)

Name = Annotated[
    str,
    typer.Argument(metavar="NAME", help="A bundled scenario's name.", show_default=False, autocompletion=bundled_names),
]


@app.callback()
def _list(context: typer.Context, json: Json = False) -> None:
    from json import dumps

    from dumbbell.scenario import bundled

    if context.invoked_subcommand is not None:
        return
    found = {name: bundled.description(name) for name in bundled.names()}
    if json:
        print(dumps([{"name": name, "description": text} for name, text in found.items()], indent=2))
        return
    width = max(map(len, found))
    for name, text in found.items():
        print(f"{name:{width}}  {text}")


@app.command()
def show(name: Name, json: Json = False) -> None:
    """Print a scenario's TOML."""
    from json import dumps

    from dumbbell.scenario import bundled

    text = bundled.text(name)
    print(dumps({"name": name, "toml": text}) if json else text, end="\n" if json else "")


@app.command()
def copy(
    name: Name,
    file: Annotated[
        Path | None,
        typer.Argument(metavar="FILE", help="The new file. Default: NAME.toml, here.", show_default=False),
    ] = None,
) -> None:
    """Write a scenario to a file, with its comments, to start your own from. Prints what was written.

    The copy is named after its file, as its runs are; so give it a name of its own. Traces that it uses are copied to
    the same folder.
    """
    from dumbbell.scenario import bundled

    for path in bundled.copy(name, file or Path(f"{name}.toml")):
        print(path)

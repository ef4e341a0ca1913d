"""`dumbbell scenarios`."""

from __future__ import annotations

from typing import Annotated

import typer

from dumbbell.cli.options import Json


def command(
    name: Annotated[
        str | None, typer.Argument(help="Print this scenario's TOML, to start your own file.", show_default=False)
    ] = None,
    json: Json = False,
) -> None:
    """List the scenarios that come with dumbbell, or print one."""
    from json import dumps

    from dumbbell.scenario import bundled

    if name is not None:
        text = bundled.text(name)
        print(dumps({"name": name, "toml": text}) if json else text, end="\n" if json else "")
        return
    found = {name: bundled.description(name) for name in bundled.names()}
    if json:
        print(dumps([{"name": name, "description": text} for name, text in found.items()], indent=2))
        return
    width = max(map(len, found))
    for name, text in found.items():
        print(f"{name:{width}}  {text}")

"""`dumbbell quic`: builds of the program of QUIC flows with stacks of the user's own."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dumbbell.cli.group import group
from dumbbell.cli.options import Json

app = group("quic", "Build QUIC stacks from trees of your own, to compare them with the ones that dumbbell has.")


@app.command()
def build(
    stack: Annotated[str, typer.Argument(metavar="STACK", help="quinn, noq, quiche or s2n.", show_default=False)],
    tree: Annotated[
        Path,
        typer.Argument(metavar="FOLDER", help="A clone of the stack, or its package's folder.", show_default=False),
    ],
    name: Annotated[
        str, typer.Option("--name", metavar="NAME", help='The build in scenarios: stack = "STACK@NAME".')
    ] = "branch",
    json: Json = False,
) -> None:
    """Build a QUIC stack from a tree of yours, in minutes. Prints how scenarios name it.

    It needs Rust's cargo, a C compiler and, for packages of others, crates.io. The tree is not changed.

    Exit code: 0 if it is built; 1 if it does not compile or a tool is missing; 2 for bad input.
    """
    from json import dumps

    from dumbbell.cli.output import say
    from dumbbell.quic.build import build as built

    made = built(stack, tree, name)
    if json:
        told = {"path": str(made.path), "stack": made.stack, "version": made.version, "seconds": made.seconds}
        print(dumps(told, indent=2))
        return
    say(f'{made.version}, built in {made.seconds:.0f} s: {made.path}\nscenarios name it: stack = "{made.stack}"')

"""The command line. Each verb is one module here with a function `command`, or with an `app` of its own verbs. A module
is imported when its verb is called.

Keep a verb's module light: import everything beyond typer inside the function, since `dumbbell --help` imports
them all, and every run should say something within 0.3 s.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from dumbbell.errors import DumbbellError, Problem

VERBS = (
    "run",
    "reproduce",
    "status",
    "plan",
    "report",
    "compare",
    "query",
    "agree",
    "scenarios",
    "schema",
    "cc",
    "doctor",
)
"""The verbs in the order of the help page."""


class Verbs(TyperGroup):
    """The verbs, each loaded when it is called."""

    def list_commands(self, ctx: Any) -> list[str]:
        """All verbs."""
        return list(self.commands)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Load a verb's module and make its command."""
        if cmd_name not in self.commands:
            return None
        module = import_module(f"dumbbell.cli.{cmd_name}")
        if hasattr(module, "app"):
            return typer.main.get_command(module.app)
        app = typer.Typer(add_completion=False)
        app.command(cmd_name)(module.command)
        return typer.main.get_command(app)

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        # Typer looks among these keys for verbs similar to a misspelt one.
        names: dict[str, Any] = dict.fromkeys(VERBS)
        self.commands = names


app = typer.Typer(cls=Verbs, pretty_exceptions_enable=False, rich_markup_mode="rich")


def _version(wanted: bool) -> None:
    if wanted:
        import dumbbell

        typer.echo(f"dumbbell {dumbbell.__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Run TCP congestion controls over an emulated or simulated network, and know whether to trust the result."""


def main() -> None:
    """Entry point of the command `dumbbell`."""
    sys.exit(invoke(sys.argv[1:]))


def invoke(args: Sequence[str]) -> int:
    """Run a command line. Prints errors to stderr, with --json also to stdout. Returns the exit code."""
    command = typer.main.get_command(app)
    try:
        code = command.main(args=list(args) or ["--help"], prog_name="dumbbell", standalone_mode=False)
    except DumbbellError as error:
        complain(error.problems)
        if "--json" in args:
            from json import dumps

            problems = [problem.json() for problem in error.problems]
            print(dumps({"error": {"exit_code": error.exit_code, "problems": problems}}, indent=2))
        return error.exit_code
    except typer.TyperException as error:
        complain([Problem(error.format_message().rstrip("."), hint="dumbbell --help lists the commands")])
        return 2
    except (KeyboardInterrupt, typer.Abort):
        return 130
    return code if isinstance(code, int) else 0


def complain(problems: Sequence[Problem]) -> None:
    """Print problems to stderr, in colour on a terminal, without colour elsewhere."""
    if not sys.stderr.isatty():
        for problem in problems:
            print(f"error: {problem.text()}", file=sys.stderr)
        return
    from rich.console import Console
    from rich.text import Text

    console = Console(stderr=True, soft_wrap=True)
    for problem in problems:
        console.print(Text.assemble(("error: ", "bold red"), (problem.what, "bold")))
        for line in problem.why.splitlines():
            console.print(Text(f"  {line}"))
        if problem.hint:
            console.print(Text.assemble(("hint: ", "bold cyan"), problem.hint))

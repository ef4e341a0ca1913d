"""Verbs that are groups of commands: `dumbbell cc`, `dumbbell kernel`, `dumbbell runs`."""

from __future__ import annotations

import typer

from dumbbell.errors import InputError


def group(name: str, help: str) -> typer.Typer:
    """A group that shows its help if it is called without a command."""
    app = typer.Typer(name=name, add_completion=False, invoke_without_command=True, rich_markup_mode="rich", help=help)

    @app.callback()
    def show_help(context: typer.Context) -> None:
        if context.invoked_subcommand is None:
            typer.echo(context.get_help())

    return app


def check_name_or_all(verb: str, name: str | None, all: bool, hint: str) -> None:
    """Raise `InputError` unless either a name or `--all` is given."""
    if (name is None) != all:
        raise InputError(f"{verb}: no name", "expected a name, or --all", hint)

"""Tables of the command line's arguments and options for the reference, from typer's declarations."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import typer

from dumbbell.cli import VERBS, app
from tools.generate.keys import table


def options() -> Mapping[str, Callable[[], str]]:
    """The function that makes the table of each verb: `options of run`, `options of cc load`."""
    return {f"options of {name}": partial(_table, command) for name, command in _commands()}


def _commands() -> Iterator[tuple[str, Any]]:
    group = typer.main.get_command(app)
    context = typer.Context(group)
    for verb in VERBS:
        command: Any = group.get_command(context, verb)  # type: ignore[attr-defined]
        inner = getattr(command, "commands", None)
        if inner is None:
            yield verb, command
        else:
            yield from ((f"{verb} {name}", inner[name]) for name in inner)


def _table(command: Any) -> str:
    rows = [_row(option) for option in command.params if option.param_type_name == "option" and option.name != "help"]
    return table(["option", "default", "meaning"], rows)


def _row(option: Any) -> list[str]:
    name = option.opts[0] + ("" if option.is_flag else f" {option.metavar}")
    said = re.search(r"\s*Default: (.*?)\.?$", option.help)
    default = "" if option.default is None or option.is_flag else f"`{option.default}`"
    meant = option.help[: said.start()] if said else option.help
    return [f"`{name}`", said[1] if said else default, meant.replace("\\[", "[").strip()]

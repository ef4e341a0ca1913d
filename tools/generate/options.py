"""Lists of the command line's options for the reference, from typer's declarations."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from typing import Any

import typer

from dumbbell.cli import VERBS, app
from tools.generate.keys import items

COMMON = "common options"
"""Name of the section that explains options of several verbs once."""

Row = tuple[str, str]
"""Option, meaning with its default."""


def options() -> Mapping[str, Callable[[], str]]:
    """The function that makes each section: `options of run`, `options of cc load`, and the common options."""
    return {
        **{f"options of {name}": partial(_own, command) for name, command in _commands()},
        COMMON: lambda: items(_common()),
    }


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


@cache
def _common() -> list[Row]:
    """Options that several verbs have with equal words, in the order in which they occur first."""
    counts = Counter(row for _, command in _commands() for row in _rows(command))
    return [row for row, verbs in counts.items() if verbs > 1]


def _own(command: Any) -> str:
    """The options of a verb: its own ones, then a line that names the common ones."""
    rows = _rows(command)
    own = [row for row in rows if row not in _common()]
    common = [re.split(r"[ `]", row[0].lstrip("`"))[0] for row in rows if row in _common()]
    named = ", ".join(f"`{name}`" for name in common)
    parts = [items(own)] if own else []
    if common:
        parts.append(f"{'Also' if own else 'Options:'} {named} ([common options](#common-options)).")
    return "\n\n".join(parts)


def _rows(command: Any) -> list[Row]:
    return [_row(option) for option in command.params if option.param_type_name == "option" and option.name != "help"]


def _row(option: Any) -> Row:
    name = option.opts[0] + ("" if option.is_flag else f" {option.metavar}")
    meant = option.help.replace("\\[", "[").strip()
    if option.default is not None and not option.is_flag and "Default: " not in meant:
        meant += f" Default: `{option.default}`."
    return f"`{name}`", meant

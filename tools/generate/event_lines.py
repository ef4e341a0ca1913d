"""The tables of the lines of `--events` for the reference, from `dumbbell.cli.event_lines`."""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable, Mapping
from typing import Any, Final, Literal, NotRequired, Union, get_args, get_origin, get_type_hints

from dumbbell.cli.event_lines import PARTS, RUN, STUDY
from tools.generate.keys import items
from tools.generate.report_types import docstrings

_WORDS: Final = {int: "integer", float: "number", str: "text", bool: "true or false", type(None): "null"}


def sections() -> Mapping[str, Callable[[], str]]:
    """The sections, by their names in the page."""
    return {
        "events of a run": lambda: _events(RUN),
        "events of a study": lambda: _events(STUDY),
        "parts of events": lambda: _parts(),
    }


def _events(classes: tuple[type, ...]) -> str:
    return items([f"`{_name(one)}`", _whole(one)] for one in classes)


def _parts() -> str:
    return items([f"`{one.__name__}`", _whole(one)] for one in PARTS)


def _whole(of: type) -> str:
    """The meaning of an event or object, then its keys."""
    fields = _fields(of)
    return f"{_summary(of)} Keys: {fields}." if fields else _summary(of)


def _name(event: type) -> str:
    (name,) = get_args(get_type_hints(event)["event"])
    return str(name)


def _summary(of: type) -> str:
    return inspect.cleandoc(of.__doc__ or "").replace("\n", " ")


def _fields(of: type) -> str:
    told, hints = docstrings(of), get_type_hints(of, include_extras=True)
    fields = (_field(name, hint, told.get(name, "")) for name, hint in hints.items() if name != "event")
    return "; ".join(fields)


def _field(name: str, hint: Any, doc: str) -> str:
    may_lack = get_origin(hint) is NotRequired
    kind = _kind(get_args(hint)[0] if may_lack else hint)
    meant = doc.replace("\n", " ").rstrip(".").replace("`None`", "null")
    if not meant[:2].isupper():
        meant = meant[:1].lower() + meant[1:]
    return f"`{name}`{'?' if may_lack else ''} ({kind}){f': {meant}' if meant else ''}"


def _kind(hint: Any) -> str:
    origin, parts = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        return " or ".join(map(_kind, parts))
    if origin is list:
        return f"list of `{parts[0].__name__}`"
    if origin is Literal:
        return ", ".join(f"`{one}`" for one in parts)
    if hint in PARTS:
        return f"`{hint.__name__}`"
    return "object" if origin is not None else _WORDS[hint]

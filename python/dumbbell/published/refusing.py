"""Errors of `study.toml` in the file's own terms: the table that the file has, and the key that was probably meant."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final, get_args, get_type_hints

from pydantic import BaseModel, ValidationError

from dumbbell.errors import InputError
from dumbbell.hints import closest, nearest, some
from dumbbell.published.expanding import Origin
from dumbbell.scenario.source import show

_UNKNOWN: Final = ("extra_forbidden", "unexpected_keyword_argument")


def refused(file: object, error: ValidationError, model: type[BaseModel], origins: Mapping[Any, Origin]) -> InputError:
    """The first error of a validation, unknown keys before all others. `origins`: as of `expanding.expanded`."""
    errors = error.errors(include_url=False)
    # A misspelt key is missing, too.
    first = next((one for one in errors if one["type"] in _UNKNOWN), errors[0])
    loc, each, place, table = first["loc"], "", list[str](), model
    for at, part in enumerate(loc):
        origin = origins.get(loc[: at + 1])
        place.append(str(part if origin is None else origin.index))
        if origin is not None and origin.names is not None:
            each += f" with each = {show(dict(origin.names))}"
        if at < len(loc) - 1:
            table = _within(table, part)
    where = f"{file}: {'.'.join(place)}{each}"
    if first["type"] in _UNKNOWN:
        keys = list(_fields(table))
        key = str(loc[-1])
        return InputError(f"{where}: there is no such key", some(keys) if keys else "", nearest(key, keys))
    if first["type"] == "literal_error":
        known = re.findall("'([^']*)'", first["ctx"]["expected"])
        near = closest(str(first["input"]).lower(), known)
        hint = "" if near is None else f"did you mean {near!r}?"
        return InputError(f"{where}: there is no {first['input']!r}", some(known), hint)
    return InputError(f"{where}: {first['msg'][:1].lower()}{first['msg'][1:]}")


def unknown(what: str, name: str, known: Iterable[str], of: str) -> InputError:
    """The refusal of a name: what there is, and which one was probably meant. `of`: what `known` are."""
    names = list(dict.fromkeys(known))
    return InputError(
        what, f"{of}: {some(names).removeprefix('one of ')}" if names else f"{of}: none", nearest(name, names)
    )


def _fields(kind: Any) -> Mapping[str, Any]:
    """Key -> type of a table's value."""
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return {name: field.annotation for name, field in kind.model_fields.items()}
    return get_type_hints(kind) if hasattr(kind, "__dataclass_fields__") else {}


def _within(kind: Any, part: str | int) -> Any:
    """The type of the value at a key, or in a list; the same for a list's place, as lists have tables of one type."""
    return _table(_fields(kind).get(str(part), kind))


def _table(kind: Any) -> Any:
    """The type of the table that a type has or is; the type itself if it has none."""
    if _fields(kind):
        return kind
    return next((found for one in get_args(kind) if _fields(found := _table(one))), kind)

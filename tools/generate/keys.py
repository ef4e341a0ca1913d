"""Tables of a scenario's keys for the reference, from the models that declare them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from types import NoneType, UnionType
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin, get_type_hints

from pydantic import BaseModel, BeforeValidator, PlainValidator
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from dumbbell.cc.source import Program
from dumbbell.scenario.source import show
from dumbbell.scenario.traces import File
from dumbbell.scenario.traffic.algorithms import Algorithm, LinkedFile, ProgramFile
from dumbbell.scenario.traffic.bursts import Burst
from dumbbell.units import BufferSize, Percent, Quantity

Model = type[BaseModel]

_WORDS: Final[Mapping[Any, str]] = {
    bool: "boolean",
    int: "integer",
    float: "number",
    str: "text",
    File: "path",
    ProgramFile: "path",
    LinkedFile: "path",
    Program: "path",
    Any: "any",
}
_DEFAULT: Final = re.compile(r"\s*Default: (.*?)(?<!\.)\.?$", re.DOTALL)
"""The end of a description whose default is not simply the field's."""
_SIGNS: Final = {"ge": "at least", "gt": "above", "le": "at most", "lt": "below"}


def keys(models: Model | Sequence[Model], besides: Model | None = None, prefix: str = "") -> str:
    """An item for each key of a table, or of the kinds of a table: key, type and default, meaning.

    Args:
        models: one, or the kinds.
        besides: leave out the keys of this model, which have a table of their own.
        prefix: of each key.
    """
    kinds = list(models) if isinstance(models, Sequence) else [models]
    left_out = _fields(besides) if besides else {}
    names = dict.fromkeys(name for kind in kinds for name in _fields(kind) if name not in left_out)
    rows = [_row(name, [kind for kind in kinds if name in _fields(kind)], kinds, prefix) for name in names]
    return items(rows)


def kinds(tables: Mapping[str, Model], key: str, quoted: bool) -> str:
    """A row for each kind of a table: its name, the keys with their defaults, and what it does.

    Args:
        tables: by the names of the kinds.
        key: that says of which kind a table is.
        quoted: whether the name stands in quotes, as in a table; or without, as a word that may stand alone.
    """
    common = set.intersection(*(set(model.model_fields) for model in tables.values())) | {key}
    rows: list[list[str]] = []
    first: dict[str, str] = {}
    for name, model in tables.items():
        own = ", ".join(_with_default(part, field) for part, field in _fields(model).items() if part not in common)
        known = first.setdefault(own, name)
        own = f"as `{known}`" if known != name and len(own) > 40 else own or "none"
        given = f"`{show(name)}`" if quoted else f"`{name}`"
        default = " (the default)" if model.model_fields[key].default == name else ""
        rows.append([given + default, own, _kind_meant(name, model.model_fields[key])])
    return table([f"`{key}`", "keys and defaults", "meaning"], rows)


def items(rows: Iterable[Sequence[str]]) -> str:
    """A list in Markdown, of names with their meaning: what is a sentence needs the width of a line."""
    return "\n".join(f"- {name}: {meaning}" for name, meaning in rows)


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table in Markdown."""
    lines = [columns, ["---"] * len(columns), *rows]
    return "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines)


def _fields(model: Model) -> dict[str, FieldInfo]:
    """Fields by the keys that a file has."""
    return {field.alias or name: field for name, field in model.model_fields.items()}


def _row(name: str, having: Sequence[Model], among: Sequence[Model], prefix: str) -> list[str]:
    fields = [_fields(model)[name] for model in having]
    types = dict.fromkeys(_type(model, name) for model in having)
    types = [one for one in types if not any(other != one and other.startswith(f"{one} or ") for other in types)]
    selects = len(among) > 1 and _selector(having[0]) == f"`{name}`"
    only = ", ".join(_kind_of(model) for model in having) if len(having) < len(among) and not selects else ""
    default = "one of these" if selects else _default(fields[0])
    meant = _common(having, name) if len(having) > 1 else _meaning(fields[0])
    texts = [text for text in (meant, f"({only})" if only else "") if text]
    kind = " or ".join(types) + ("" if default == "none" else f"; {default}")
    return [f"`{prefix}{name}` ({kind})", " ".join(texts)]


def _kind_of(model: Model) -> str:
    """A kind in short: `"router"` of `kind = "router"`, or the key that selects it."""
    return f"`{_selector(model).strip('`').rpartition(' = ')[2]}`"


def _common(having: Sequence[Model], name: str) -> str:
    """The meaning of a key of several kinds: a word with the meaning in each kind, or else the texts that differ."""
    fields = [_fields(model)[name] for model in having]
    if all(get_origin(field.annotation) is Literal for field in fields):
        return " ".join(f"`{show(get_args(field.annotation)[0])}`: {_meaning(field)}" for field in fields)
    texts = dict.fromkeys(map(_meaning, fields))
    longer = [
        text for text in texts if not any(other != text and other.startswith(text.rstrip(".")) for other in texts)
    ]
    if len(longer) == 1:
        return longer[0]
    return " ".join(f"With {_selector(model)}: {_uncapital(_meaning(_fields(model)[name]))}" for model in having)


def _uncapital(text: str) -> str:
    return text[:1].lower() + text[1:]


def _selector(model: Model) -> str:
    """The key that selects this kind of table: `kind = "path"`, or the key that only it must have."""
    for name, field in _fields(model).items():
        if get_origin(field.annotation) is Literal:
            return f"`{name} = {show(get_args(field.annotation)[0])}`"
    return next(f"`{name}`" for name, field in _fields(model).items() if field.is_required())


def _meaning(field: FieldInfo) -> str:
    return _DEFAULT.sub("", field.description or "").strip()


def _default(field: FieldInfo) -> str:
    said = _DEFAULT.search(field.description or "")
    if field.is_required():
        return "required"
    if said:
        return _uncapital(said[1])
    found = field.get_default(call_default_factory=True)
    nothing = found in (None, [], {}) or (isinstance(found, BaseModel) and not isinstance(found, Algorithm))
    return "none" if nothing else f"`{shown(found)}`"


def shown(value: Any) -> str:
    """A default as TOML writes it."""
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, Algorithm):
        return show(value.name)
    return show(value if type(value) in (bool, int, str, list, dict) else str(value))


def _with_default(name: str, field: FieldInfo) -> str:
    default = _default(field)
    return f"`{name}`" + ("" if default == "required" else f" {default}")


def _kind_meant(name: str, field: FieldInfo) -> str:
    """If one model is several kinds, its description has a sentence for each: `name: what it does.`"""
    said = re.search(rf"(?:^|\s){re.escape(name)}: (.*?\.)(?=\s+[a-z-]+: |$)", field.description or "")
    return said[1][:1].upper() + said[1][1:] if said else field.description or ""


def _type(model: Model, name: str) -> str:
    python = next(field for field in model.model_fields if (model.model_fields[field].alias or field) == name)
    words = list(dict.fromkeys(_accepted(get_type_hints(model, include_extras=True)[python])))
    words.sort(key=lambda word: word == "table")
    several = ", ".join(words[:-1]) + " or " if len(words) > 1 else ""
    return several + words[-1] + _bounds(model.model_fields[python])


def _bounds(field: FieldInfo) -> str:
    kind = next((part for part in (field.annotation, *get_args(field.annotation)) if _is_quantity(part)), int)
    limits = {
        sign: getattr(limit, sign)
        for limit in field.metadata
        for sign in _SIGNS
        if getattr(limit, sign, None) is not None
    }
    words = {sign: f"{kind(limit)}" if _is_quantity(kind) else _number(limit) for sign, limit in limits.items()}
    if {"ge", "le"} <= limits.keys():
        return f", {words['ge']} to {words['le']}"
    return "".join(f", {_SIGNS[sign]} {text}" for sign, text in words.items())


def _number(limit: float) -> str:
    """Limits that a format sets are powers of two."""
    for bits in (30, 53, 63):
        if limit in (1 << bits, (1 << bits) - 1):
            return f"2^{bits}" + ("" if limit == 1 << bits else " - 1")
    return f"{limit:,}"


def _is_quantity(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, Quantity)


def _accepted(annotation: Any) -> list[str]:
    """The values that a file may hold there, in words."""
    origin, parts = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        inner, *metadata = parts
        for found in metadata:
            if isinstance(found, BeforeValidator | PlainValidator) and found.json_schema_input_type not in (
                PydanticUndefined,
                Any,
            ):
                return _accepted(found.json_schema_input_type)
        return _accepted(inner)
    if origin in (Union, UnionType):
        return [word for part in parts for word in _accepted(part)]
    if origin is Literal:
        return [f"`{show(word)}`" for word in parts]
    if origin is list:
        return [f"list of {_plural(_accepted(parts[0]))}"]
    if origin is tuple:
        return [f"[{', '.join(' or '.join(_accepted(part)) for part in parts)}]"]
    if annotation is NoneType:
        return []
    if origin is dict or (isinstance(annotation, type) and issubclass(annotation, BaseModel)):
        return ["table"]
    if isinstance(annotation, type) and issubclass(annotation, Quantity | Percent | BufferSize | Burst):
        return [re.sub(r"^an? ", "", annotation.grammar.what).replace(" or a ", " or ")]
    return [_WORDS[annotation]]


def _plural(words: Sequence[str]) -> str:
    return " or ".join(dict.fromkeys(map(_several, words)))


def _several(word: str) -> str:
    if word.startswith("list of "):
        return f"lists{word.removeprefix('list')}"
    return word if word.endswith(("]", "`", "any")) else f"{word}s"

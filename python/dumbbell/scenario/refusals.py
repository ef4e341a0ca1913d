"""Pydantic's errors in the words of the field."""

from __future__ import annotations

import difflib
from typing import Any, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from dumbbell.scenario.model import (
    Bottleneck,
    CommandFlow,
    Dumbbell,
    Emulate,
    Hosts,
    HostSettings,
    Path,
    Record,
    Scenario,
    TcpFlow,
    UdpFlow,
)
from dumbbell.scenario.quantities import QuantityError
from dumbbell.scenario.source import Finding, Key

_KINDS: dict[str, type[BaseModel]] = {
    "dumbbell": Dumbbell,
    "path": Path,
    "tcp": TcpFlow,
    "udp": UdpFlow,
    "command": CommandFlow,
}
"""Tags that pydantic puts into an error's location after `topology` and after a flow's index."""

_HOMES: dict[str, type[BaseModel]] = {
    "topology.bottleneck": Bottleneck,
    "topology": Dumbbell,
    "a flow with command": CommandFlow,
    'a flow with protocol = "udp"': UdpFlow,
    "a TCP flow": TcpFlow,
    "[record]": Record,
    "[emulate]": Emulate,
    "the top of the file, before the first [table]": Scenario,
}
"""Where a key that stands in the wrong table may belong, the likeliest first."""


def findings(error: ValidationError) -> list[Finding]:
    """One finding per error, in the order of the model's fields."""
    return [_finding(details) for details in error.errors(include_url=False)]


def _finding(details: ErrorDetails) -> Finding:
    key, tables = _key(details["loc"])
    context = details.get("ctx", {})
    cause = context.get("error")
    if isinstance(cause, QuantityError):
        return Finding(key, cause.wrong, cause.expected, cause.hint)
    match details["type"]:
        case "extra_forbidden":
            return _unknown(key, tables)
        case "missing":
            return Finding(key, "missing", f"{key[-1]}: {_meaning(key, tables)}", _example(key, tables))
        case "union_tag_invalid" | "union_tag_not_found":
            return _kind(key, details)
        case "literal_error":
            return Finding(key, "unknown", f"one of {context['expected']}")
        case "bool_type" | "bool_parsing":
            return Finding(key, "neither true nor false", "true or false, without quotes")
        case "int_type" | "int_parsing" | "int_from_float":
            return Finding(key, "not an integer", "a whole number, without quotes")
        case "string_pattern_mismatch" if "sysctl" in key[:-1]:
            return Finding(key, "not allowed here", 'a namespaced sysctl, such as "net.ipv4.tcp_sack"')
        case "string_pattern_mismatch":
            return Finding(key, "not allowed here", f"{_meaning(key, tables)} ({context['pattern']})")
        case "greater_than_equal" | "less_than_equal":
            word = "at least" if "ge" in context else "at most"
            bound = context.get("ge", context.get("le"))
            return Finding(key, "out of range", f"{word} {_bound(key, tables, bound)}")
        case "model_type" | "model_attributes_type" | "dict_type":
            return Finding(key, "not a table", "a table, such as { key = value }")
        case "list_type":
            return Finding(key, "not a list", "a list, such as [[flows]] tables" if key == ("flows",) else "a list")
        case "too_short":
            return Finding(key, "empty", "at least one item")
        case "string_type":
            return Finding(key, "not a text", _meaning(key, tables), "texts stand in quotes")
        case _:
            return Finding(key, details["msg"])


def _key(loc: tuple[str | int, ...]) -> tuple[Key, list[type[BaseModel]]]:
    """The file's key for pydantic's location, and the models of the tables on the way to it."""
    key: list[str | int] = []
    tables: list[type[BaseModel]] = [Scenario]
    kind: type[BaseModel] | None = None
    for part in loc:
        if kind is None and (key == ["topology"] or (len(key) == 2 and key[0] == "flows")) and part in _KINDS:
            kind = _KINDS[str(part)]
            tables.append(kind)
        elif part != "[key]":
            key.append(part)
            tables += _models(tables[-1], part)
    return tuple(key), tables


def _models(table: type[BaseModel], part: str | int) -> list[type[BaseModel]]:
    """The model that a table's field holds, if it is a table itself."""
    field = table.model_fields.get(str(part))
    if field is None:
        return [HostSettings] if table is Hosts else []
    if field.discriminator:
        return []
    return [t for t in (field.annotation, *get_args(field.annotation)) if _is_model(t)][:1]


def _is_model(annotation: Any) -> bool:
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)


def _names(table: type[BaseModel]) -> dict[str, str]:
    """Keys of a table as a file writes them, with their descriptions."""
    return {field.alias or name: field.description or "" for name, field in table.model_fields.items()}


def _unknown(key: Key, tables: list[type[BaseModel]]) -> Finding:
    names = _names(tables[-1])
    close = difflib.get_close_matches(str(key[-1]), names, n=1)
    homes = [home for home, model in _HOMES.items() if key[-1] in _names(model)]
    homes.sort(key=lambda home: "flow" not in home if key[0] == "flows" else 0)
    hint = f"did you mean {close[0]}?" if close else "".join(f"{key[-1]} belongs in {home}" for home in homes[:1])
    return Finding(key, "unknown key", f"one of {', '.join(names)}", hint)


def _meaning(key: Key, tables: list[type[BaseModel]]) -> str:
    description = _names(tables[-1]).get(str(key[-1]), "") if key else ""
    return description[:1].lower() + description[1:].rstrip(".") if description else "a value"


def _example(key: Key, tables: list[type[BaseModel]]) -> str:
    schema = tables[-1].model_json_schema(by_alias=True)["properties"].get(str(key[-1]), {})
    options = [schema, *schema.get("anyOf", [])]
    examples = [option["examples"][0] for option in options if option.get("examples")]
    return f'add {key[-1]} = "{examples[0]}"' if examples else ""


def _bound(key: Key, tables: list[type[BaseModel]], bound: Any) -> str:
    field = next((f for name, f in tables[-1].model_fields.items() if (f.alias or name) == key[-1]), None)
    kind = field.annotation if field else None
    return str(kind(bound)) if isinstance(kind, type) and issubclass(kind, int) else str(bound)


def _kind(key: Key, details: ErrorDetails) -> Finding:
    if key == ("topology",):
        kinds = 'kind = "dumbbell" or kind = "path"'
        return Finding((*key, "kind"), "unknown" if details["type"] == "union_tag_invalid" else "missing", kinds)
    return Finding((*key, "protocol"), "unknown", 'protocol = "tcp" (the default), "udp", or a command')

"""TypeScript's types of what browser and server say to each other, from the models' JSON Schema.

A field that the browser may leave out is optional; what the server sends is always complete.
"""

from __future__ import annotations

import types
from collections.abc import Iterator, Mapping
from inspect import getdoc, isclass
from typing import Annotated, Any, Final, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from dumbbell.server.messages import Asked, Key, Message

Schema = Mapping[str, Any]

_PLAIN: Final = {"string": "string", "integer": "number", "number": "number", "boolean": "boolean", "null": "null"}
_BASES: Final = (Message, Asked)


def text(*modules: types.ModuleType) -> str:
    """Declarations of all models of these modules, and of the unions that they name, in the modules' order."""
    return "\n".join(part for module in modules for part in _module(module))


def _module(module: types.ModuleType) -> Iterator[str]:
    own = [
        one
        for one in vars(module).values()
        if isclass(one) and issubclass(one, BaseModel) and one not in _BASES and one.__module__ == module.__name__
    ]
    asked = _definitions([one for one in own if issubclass(one, Asked)], "validation")
    said = _definitions([one for one in own if not issubclass(one, Asked)], "serialization")
    for name, value in vars(module).items():
        if isclass(value):
            if value in own:
                yield _interface(value, asked if issubclass(value, Asked) else said)
        elif value == Key and name == "Key":
            yield "export type Key = (string | number)[];\n"
        elif union := _union(value):
            yield f"export type {name} = {' | '.join(union)};\n"


def _definitions(models: list[type[BaseModel]], mode: Any) -> Schema:
    found: Schema = models_json_schema([(one, mode) for one in models])[1].get("$defs", {})
    return found


def _union(value: Any) -> list[str]:
    """The names of a union of models; none of anything else."""
    if get_origin(value) is Annotated:
        value = get_args(value)[0]
    parts = get_args(value) if get_origin(value) in (Union, types.UnionType) else ()
    are_models = all(isclass(part) and issubclass(part, BaseModel) for part in parts)
    return [part.__name__ for part in parts] if are_models else []


def _interface(model: type[BaseModel], definitions: Schema) -> str:
    schema = definitions[model.__name__]
    needed = schema.get("required", []) if issubclass(model, Asked) else schema.get("properties", {})
    lines = [comment(getdoc(model), ""), f"export interface {model.__name__} {{"]
    for name, field in schema.get("properties", {}).items():
        always = name in needed or "const" in field
        lines += [comment(field.get("description"), "  "), f"  {name}{'' if always else '?'}: {type_of(field)};"]
    return "\n".join([*filter(None, lines), "}", ""])


def type_of(schema: Any) -> str:
    """The type of TypeScript that a JSON Schema means."""
    if "$ref" in schema:
        return str(schema["$ref"].rpartition("/")[2])
    if "const" in schema:
        return _literal(schema["const"])
    if "enum" in schema:
        return " | ".join(map(_literal, schema["enum"]))
    for key in ("anyOf", "oneOf"):
        if key in schema:
            return " | ".join(dict.fromkeys(map(type_of, schema[key])))
    match schema.get("type"):
        case "array" if "prefixItems" in schema:
            return f"[{', '.join(map(type_of, schema['prefixItems']))}]"
        case "array":
            inner = type_of(schema.get("items", {}))
            return f"({inner})[]" if " " in inner else f"{inner}[]"
        case "object":
            held = schema.get("additionalProperties")
            return f"Record<string, {type_of(held) if isinstance(held, dict) else 'unknown'}>"
        case str(plain):
            return _PLAIN[plain]
        case list(several):
            return " | ".join(_PLAIN[one] for one in several)
    return "unknown"


def _literal(value: object) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value).lower()


def comment(doc: str | None, indent: str) -> str:
    """The text as a comment of TypeScript; Python's `None` is `null` there."""
    lines = (doc or "").replace("`None`", "`null`").splitlines()
    if len(lines) <= 1:
        return f"{indent}/** {lines[0]} */" if lines else ""
    return "\n".join([f"{indent}/**", *(f"{indent} * {line}".rstrip() for line in lines), f"{indent} */"])

"""TypeScript's types of what a page draws, from the dataclasses that its payload is made of.

A dataclass becomes an interface with its fields in camel case, as the payload writes them. A union of dataclasses that
has a name becomes a type. A series becomes the array that the page unpacks it to.
"""

from __future__ import annotations

import ast
import inspect
import types
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from itertools import pairwise
from typing import Annotated, Any, Final, Literal, Union, get_args, get_origin, get_type_hints

from dumbbell.report.render.payload import camel

_ARRAYS: Final = {"times": "Float64Array", "values": "Float32Array", "codes": "Uint8Array", "counts": "Uint32Array"}
_PLAIN: Final = {str: "string", int: "number", float: "number", bool: "boolean", type(None): "null"}


def text(*roots: type) -> str:
    """Declarations of these dataclasses and of all that they are made of, in the order of their sources."""
    found: dict[type, None] = {}
    for root in roots:
        _gather(root, found)
    parts = [_interface(one) for one in sorted(found, key=_place)]
    unions = [_union(module) for module in dict.fromkeys(inspect.getmodule(one) for one in found)]
    return "\n".join([*parts, *filter(None, unions)])


def _place(of: type) -> tuple[str, int]:
    return of.__module__, inspect.getsourcelines(of)[1]


def _gather(of: Any, types: dict[type, None]) -> None:
    if is_dataclass(of) and isinstance(of, type) and of not in types:
        types[of] = None
        for hint in get_type_hints(of, include_extras=True).values():
            _gather(hint, types)
    for part in get_args(of):
        _gather(part, types)


def _interface(of: type) -> str:
    hints, said = get_type_hints(of, include_extras=True), docstrings(of)
    lines = [_comment(inspect.getdoc(of), ""), f"export interface {of.__name__} {{"]
    for field in fields(of):
        lines.append(_comment(said.get(field.name), "  "))
        lines.append(f"  {camel(field.name)}: {_type(hints[field.name])};")
    return "\n".join([*filter(None, lines), "}", ""])


def _union(module: Any) -> str:
    """Unions of dataclasses that a module names."""
    named = {name: value for name, value in vars(module).items() if isinstance(value, types.UnionType)}
    unions = {name: get_args(value) for name, value in named.items() if all(map(is_dataclass, get_args(value)))}
    return "".join(f"export type {name} = {' | '.join(one.__name__ for one in of)};\n" for name, of in unions.items())


def _type(hint: Any) -> str:
    origin, parts = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return _ARRAYS[parts[1]]
    if origin is Literal:
        return " | ".join(f'"{one}"' for one in parts)
    if origin in (Union, types.UnionType):
        return " | ".join(dict.fromkeys(map(_type, parts)))
    if origin is tuple and parts[-1] is Ellipsis:
        inner = _type(parts[0])
        return f"({inner})[]" if " " in inner else f"{inner}[]"
    if origin is tuple:
        return f"[{', '.join(map(_type, parts))}]"
    if origin is not None and issubclass(origin, Mapping):
        return f"Record<{_type(parts[0])}, {_type(parts[1])}>"
    return hint.__name__ if is_dataclass(hint) else _PLAIN[hint]


def docstrings(of: type) -> dict[str, str]:
    """Field -> the docstring below it."""
    (tree,) = ast.parse(inspect.getsource(of)).body
    assert isinstance(tree, ast.ClassDef)
    return dict(_field_docs(tree.body))


def _field_docs(body: list[ast.stmt]) -> Iterator[tuple[str, str]]:
    for field, after in pairwise(body):
        match field, after:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(said))):
                yield name, inspect.cleandoc(said)


def _comment(doc: str | None, indent: str) -> str:
    """The text as a comment of TypeScript; Python's `None` is `null` there."""
    lines = (doc or "").replace("`None`", "`null`").splitlines()
    if len(lines) <= 1:
        return f"{indent}/** {lines[0]} */" if lines else ""
    return "\n".join([f"{indent}/**", *(f"{indent} * {line}".rstrip() for line in lines), f"{indent} */"])

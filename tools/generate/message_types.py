"""A run's events and the orders to it in Python, from the JSON Schema of the crate `messages`.

An event is a `TypedDict`: Python gets it as the JSON line that it is. An order is a frozen dataclass that knows its
name on the line. A link in an order is the plan's class.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from tools.generate.plan_types import documented, indented, pascal, referred, type_of

Schema = Mapping[str, Any]

_EVENTS: Final = '''"""The events of a run while it goes on, as every engine tells them.

The crate `messages` declares those of the processes of an emulated run; `planned`, `stopping` and `composing` come from
the package.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Literal

from typing_extensions import TypedDict  # pydantic takes no other before Python 3.12

Event = Mapping[str, Any]
"""Any event: `{"event": "progress", ...}`. The classes below say what is in each of the crate's."""
OnEvent = Callable[[Event], None]
'''

_ORDERS: Final = '''"""Orders to a run that goes on."""

from __future__ import annotations

from typing import ClassVar

from dumbbell.frozen import dataclass
from dumbbell.plan.types import Link
'''

_PLAN: Final = "Mapping[str, Any]"
"""A part of a plan in an event, as it lies in plan.json."""


def events(schema: Schema) -> str:
    """The module of events: what they hold stands before them."""
    variants, parts = events_and_parts(schema)
    declared = [_part(name, part) for name, part in parts.items()]
    return "\n\n".join([_EVENTS, *declared, *(_typed_dict(name_of(one, "event"), one) for one in variants)]) + "\n"


def events_and_parts(schema: Schema) -> tuple[list[Schema], dict[str, Schema]]:
    """The schemas of all events, and of what they hold by name, parts before what they are parts of."""
    definitions = schema["$defs"]
    variants = definitions["Event"]["oneOf"]
    used = dict.fromkeys(name for variant in variants for name in _held(variant, definitions))
    return variants, {name: definitions[name] for name in used}


def orders(schema: Schema) -> str:
    """The module of orders."""
    variants = schema["$defs"]["Order"]["oneOf"]
    classes = [_order(variant) for variant in variants]
    union = f"Order = {' | '.join(name_of(variant, 'order') for variant in variants)}\n"
    return "\n\n".join([_ORDERS, *classes, union])


def _held(schema: Schema, definitions: Schema) -> Iterator[str]:
    """The names of all that an event holds, parts before what they are parts of. A link is the plan's."""
    for name in _references(schema):
        if name != "Link":
            yield from _held(definitions[name], definitions)
            yield name


def name_of(variant: Schema, tag: str) -> str:
    """The name of an event's or an order's class."""
    return pascal(variant["properties"][tag]["const"])


def fields(schema: Schema) -> list[tuple[str, Schema]]:
    """Members of an object, in the order of Rust. All are always there."""
    return [(key, schema["properties"][key]) for key in schema.get("required", [])]


def _references(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [referred(value)] if "$ref" in value else [name for part in value.values() for name in _references(part)]
    return [name for part in value for name in _references(part)] if isinstance(value, list) else []


def _part(name: str, schema: Schema) -> str:
    """A type that events use: an object, or one of several words."""
    if "properties" in schema:
        return _typed_dict(name, schema)
    words = [one["const"] for one in schema["oneOf"]]
    meant = "".join(f"\n- `{one['const']}`: {one['description']}" for one in schema["oneOf"])
    return f"{name} = Literal[{', '.join(map(repr, words))}]\n{documented(schema['description'] + chr(10) + meant)}"


def _typed_dict(name: str, schema: Schema) -> str:
    lines = [f"class {name}(TypedDict):", indented(documented(schema["description"])), ""]
    for key, field in fields(schema):
        type_ = f"Literal[{field['const']!r}]" if "const" in field else _type(field)
        doc = f"\n{documented(field['description'])}" if "description" in field else ""
        lines.append(indented(f"{key}: {type_}{doc}"))
    return "\n".join(lines)


def _type(schema: Schema) -> str:
    if "$ref" in schema and referred(schema) == "Link":
        return _PLAN
    if schema.get("type") == "array":
        return f"list[{_type(schema['items'])}]"
    return type_of(schema)


def _order(variant: Schema) -> str:
    lines = [
        "@dataclass(frozen=True)",
        f"class {name_of(variant, 'order')}:",
        indented(documented(variant["description"])),
        "",
        indented(f"order: ClassVar[str] = {variant['properties']['order']['const']!r}"),
    ]
    for key, field in fields(variant):
        if key != "order":
            lines.append(indented(f"{key}: {type_of(field)}\n{documented(field['description'])}"))
    return "\n".join(lines)

"""TypeScript's types of a run's events, from the JSON Schema of the crate `messages`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from tools.generate.message_types import events_and_parts, fields, name_of
from tools.generate.server_types import comment, type_of

Schema = Mapping[str, Any]

_LINK: Final = """/** A link of plan.json. */
export interface Link extends Record<string, unknown> {
  name: string;
}
"""


def text(schema: Schema) -> str:
    """Declarations of all events and of what they hold, and their union."""
    variants, parts = events_and_parts(schema)
    events = {name_of(variant, "event"): variant for variant in variants}
    declared = [_declared(name, one) for name, one in {**parts, **events}.items()]
    union = "/** Any event of the processes of an emulated run. */\nexport type Event = " + " | ".join(events) + ";\n"
    return "\n".join([_LINK, *declared, union])


def _declared(name: str, schema: Schema) -> str:
    if "properties" not in schema:
        return "\n".join([*_words(name, schema), ""])
    lines = [comment(schema["description"], ""), f"export interface {name} {{"]
    for key, field in fields(schema):
        lines += [comment(field.get("description"), "  "), f"  {key}: {type_of(field)};"]
    return "\n".join([*filter(None, lines), "}", ""])


def _words(name: str, schema: Schema) -> Iterator[str]:
    """A type of several words, each with its meaning."""
    meant = [f"- `{one['const']}`: {one['description']}" for one in schema["oneOf"]]
    yield comment("\n".join([schema["description"], *meant]), "")
    yield f"export type {name} = {' | '.join(type_of(one) for one in schema['oneOf'])};"

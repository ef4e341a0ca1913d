"""The plan's classes in Python, from the JSON Schema of the crate `plan`.

Rust's types appear as follows:

- A struct is a frozen dataclass with a field for each key, in the order of the file.
- An enum whose variants are objects with a tag (`kind`, `model`) is a union of dataclasses. A variant's name is its tag
  followed by the enum's name: `CodelQueue`.
- An enum whose variants are objects with one key (`{"bytes": 9}`) is a union of dataclasses. A variant's name is the
  enum's name followed by the key: `BufferBytes`.
- An enum without data is a `Literal`.
"""

from __future__ import annotations

import keyword
import textwrap
from collections.abc import Iterator, Mapping
from typing import Any, Final

Schema = Mapping[str, Any]

_HEAD: Final = '''"""The plan: one run, fully specified. The crate `plan` declares it.

Every quantity is an integer in the unit that its name says: `_ns` nanoseconds, `_bps` bits per second, `_bytes` bytes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field

from dumbbell.frozen import dataclass
'''

WORKLOAD: Final = "Workload"
"""The type that has a module of its own, with its parts."""
_TAGS: Final = ("kind", "model")
_SCALARS: Final = {"integer": "int", "number": "float", "string": "str", "boolean": "bool", "null": "None"}


def text(schema: Schema) -> str:
    """The module of the plan; a type's parts are declared before the type."""
    apart = _in_order(WORKLOAD, schema["$defs"])
    head = _HEAD + f"from dumbbell.workloads import {WORKLOAD}\n"
    definitions = {**schema["$defs"], schema["title"]: schema}
    return _module(head, [name for name in _in_order(schema["title"], definitions) if name not in apart], definitions)


def workloads(schema: Schema) -> str:
    """The module of the workloads alone, which kinds of flow in `scenario` make."""
    head = _HEAD.replace("The plan: one run, fully specified.", "The workloads of a plan's flows.")
    return _module(head, _in_order(WORKLOAD, schema["$defs"]), schema["$defs"])


def _module(head: str, names: list[str], definitions: Mapping[str, Schema]) -> str:
    return "\n\n".join([head, *(_definition(name, definitions) for name in names)]) + "\n"


def _in_order(root: str, definitions: Mapping[str, Schema]) -> list[str]:
    """The names of all types, each behind those that it needs."""
    found: dict[str, None] = {}

    def visit(name: str) -> None:
        for needed in _references({key: value for key, value in definitions[name].items() if key != "$defs"}):
            if needed not in found:
                visit(needed)
        found[name] = None

    visit(root)
    return list(found)


def _references(value: Any) -> Iterator[str]:
    """The names of the types to which a schema refers, in the order of the text."""
    if isinstance(value, dict):
        if "$ref" in value:
            yield referred(value)
        yield from (name for key in _first("properties", value) for name in _references(value[key]))
    elif isinstance(value, list):
        yield from (name for item in value for name in _references(item))


def _first(key: str, value: Schema) -> list[str]:
    return sorted(value, key=lambda name: name != key)


def referred(schema: Schema) -> str:
    """The name of the type to which a schema refers."""
    return str(schema["$ref"]).rpartition("/")[2]


def _definition(name: str, definitions: Mapping[str, Schema]) -> str:
    schema = definitions[name]
    if "properties" in schema:
        return _dataclass(name, schema, definitions)
    variants = schema.get("oneOf") or schema["anyOf"]
    classes = [
        _dataclass(_variant(name, variant), variant, definitions) for variant in variants if "properties" in variant
    ]
    return "\n\n".join([*classes, _union(name, schema, variants)])


def _variant(name: str, variant: Schema) -> str:
    """The class of a variant of the enum `name`."""
    tag = _tag(variant)
    if tag is not None:
        return pascal(variant["properties"][tag]["const"]) + name
    (key,) = variant["properties"]
    return name + pascal(key)


def _tag(schema: Schema) -> str | None:
    """The key that distinguishes the variants, if there is one."""
    return next((tag for tag in _TAGS if "const" in schema["properties"].get(tag, {})), None)


def pascal(name: str) -> str:
    """`four-state` as `FourState`."""
    return "".join(part.capitalize() for part in name.replace("_", "-").split("-"))


def _union(name: str, schema: Schema, variants: list[Schema]) -> str:
    """The alias that an enum is."""
    classes = [_variant(name, variant) for variant in variants if "properties" in variant]
    words = [variant["const"] for variant in variants if "const" in variant]
    scalars = [_SCALARS[variant["type"]] for variant in variants if not {"properties", "const"} & variant.keys()]
    literal = [f"Literal[{', '.join(map(repr, words))}]"] if words else []
    joined = " | ".join([*classes, *scalars, *literal])
    tags = {_tag(variant) for variant in variants if "properties" in variant} - {None}
    if tags:
        (tag,) = tags
        joined = f"Annotated[{joined}, Field(discriminator={tag!r})]"
    meant = [f"`{variant['const']}`: {variant['description']}" for variant in variants if "const" in variant]
    return f"{name} = {joined}\n{documented(_paragraphs(schema, meant))}"


def _paragraphs(schema: Schema, meant: list[str]) -> str:
    return "\n\n".join([schema["description"], *("- " + line for line in meant)]).replace("\n\n- ", "\n- ")


def _dataclass(name: str, schema: Schema, definitions: Mapping[str, Schema]) -> str:
    # The facts that follow from a plan are kept beside it, for as long as it is in use.
    weak = ", weakref_slot=True" if "$defs" in schema else ""
    lines = [
        f"@dataclass(frozen=True, slots=True, kw_only=True{weak})",
        f"class {name}:",
        indented(documented(schema.get("description", ""))),
        "",
    ]
    for key, field, is_always_there in _fields(schema):
        lines.append(indented(_field(key, field, is_always_there, definitions)))
    return "\n".join(lines)


def _fields(schema: Schema) -> list[tuple[str, Schema, bool]]:
    """A class's keys in the order of the file, their schemas, and whether they are always in it."""
    always = schema.get("required", [])
    # Properties are sorted by name; required ones have Rust's order.
    keys = [*always, *(key for key in schema["properties"] if key not in always)]
    tag = _tag(schema)
    keys.sort(key=lambda key: key != tag)
    return [(key, schema["properties"][key], key in always) for key in keys]


def _field(key: str, schema: Schema, is_always_there: bool, definitions: Mapping[str, Schema]) -> str:
    if "const" in schema:
        return f"{key}: Literal[{schema['const']!r}] = {schema['const']!r}"
    name, type_ = _attribute(key), type_of(schema)
    options = [] if name == key else [f"alias={key!r}"]
    # A list that is left out is empty, and a boolean is false.
    left_out = schema.get("default", {"array": [], "boolean": False}.get(str(schema.get("type"))))
    if not is_always_there:
        is_constant = left_out is None or isinstance(left_out, bool)
        is_left_out = f"is {left_out}" if is_constant else f"== {_value(left_out, schema, definitions)}"
        options.append(f"exclude_if=lambda value: value {is_left_out}")
    if options:
        type_ = f"Annotated[{type_}, Field({', '.join(options)})]"
    default = ""
    if "default" in schema or not is_always_there:
        default = f" = {_value(left_out, schema, definitions)}"
    doc = documented(schema["description"]) if "description" in schema else ""
    return f"{name}: {type_}{default}" + (f"\n{doc}" if doc else "")


def _attribute(key: str) -> str:
    return f"{key}_" if keyword.iskeyword(key) else key


def type_of(schema: Schema) -> str:
    """The annotation of a value."""
    if "$ref" in schema:
        return referred(schema)
    if "anyOf" in schema:
        return " | ".join(map(type_of, schema["anyOf"]))
    match schema["type"]:
        case [*types]:
            return " | ".join(type_of({**schema, "type": one}) for one in types)
        case "array" if "prefixItems" in schema:
            return f"tuple[{', '.join(map(type_of, schema['prefixItems']))}]"
        case "array":
            return f"tuple[{type_of(schema['items'])}, ...]"
        case "object":
            return f"Mapping[str, {type_of(schema['additionalProperties'])}]"
        case scalar:
            return _SCALARS[scalar]


def _value(value: Any, schema: Schema, definitions: Mapping[str, Schema]) -> str:
    """A default as an expression."""
    if isinstance(value, list):
        return f"({''.join(_value(item, schema['items'], definitions) + ', ' for item in value)})"
    if not isinstance(value, dict):
        return repr(value)
    name = referred(schema)
    variants = definitions[name].get("oneOf")
    if variants:
        schema = next(variant for variant in variants if _is_of(value, variant))
        name = _variant(name, schema)
    else:
        schema = definitions[name]
    tag = _tag(schema)
    given = (
        f"{_attribute(key)}={_value(item, schema['properties'][key], definitions)}"
        for key, item in value.items()
        if key != tag
    )
    return f"{name}({', '.join(given)})"


def _is_of(value: Mapping[str, Any], variant: Schema) -> bool:
    """True if `value` is of this variant of an enum."""
    tag = _tag(variant)
    return variant["properties"][tag]["const"] == value[tag] if tag else value.keys() == variant["properties"].keys()


def documented(description: str) -> str:
    """A docstring of lines that the formatter leaves."""
    paragraphs = description.split("\n\n")
    width = 112
    lines = [
        line if line.startswith("- ") else textwrap.fill(line, width)
        for paragraph in paragraphs
        for line in ([paragraph] if "\n- " not in paragraph else paragraph.split("\n"))
    ]
    text = "\n\n".join(lines).replace("\n\n- ", "\n- ").replace("\\", "\\\\")
    return f'"""{text}"""' if "\n" not in text else f'"""{text}\n"""'


def indented(text: str) -> str:
    """Returns the field as it stands in a class."""
    return textwrap.indent(text, "    ")

"""The keys of a scenario's nodes and links as types of `dumbbell.Lab`'s calls, for editors and mypy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from pydantic import BaseModel

from dumbbell.scenario.topology.cables import Cable
from dumbbell.scenario.topology.drawing import Drawn
from dumbbell.scenario.topology.nodes import Host, Router, Switch

_TYPES: Final = {
    "string": "str",
    "integer": "int",
    "number": "float",
    "boolean": "bool",
    "array": "Sequence[Any]",
    "object": "Mapping[str, Any]",
}

_TABLES: Final[tuple[tuple[str, type[BaseModel], tuple[str, ...], str], ...]] = (
    ("NetworkKeys", Drawn, ("kind",), "Keys of a network, as in `[topology]`."),
    ("HostKeys", Host, ("kind",), "Keys of a host, as in `[topology.nodes]`."),
    ("SwitchKeys", Switch, ("kind",), "Keys of a switch, as in `[topology.nodes]`."),
    ("RouterKeys", Router, ("kind",), "Keys of a router, as in `[topology.nodes]`."),
    ("LinkKeys", Cable, ("between",), "Keys of a link, as in `[[topology.links]]`."),
)


def text() -> str:
    """The module."""
    head = [
        '"""Keys of `dumbbell.Lab`\'s calls: those of a scenario, whose reference says what each means."""',
        "from __future__ import annotations",
        "from collections.abc import Mapping, Sequence",
        "from typing import Any, TypedDict",
    ]
    return "\n".join([*head, *(_table(*table) for table in _TABLES)])


def _table(name: str, model: type[BaseModel], without: tuple[str, ...], meaning: str) -> str:
    schema = model.model_json_schema(by_alias=True)
    lines = [f"class {name}(TypedDict, total=False):", f'    """{meaning}"""', ""]
    for key, value in schema["properties"].items():
        if key not in without:
            kinds = dict.fromkeys(_kinds(value, schema.get("$defs", {})))
            lines.append(f"    {key}: {' | '.join(kinds)}")
    return "\n".join(lines)


def _kinds(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> Iterator[str]:
    """The types of Python for a value, each maybe several times."""
    if "$ref" in schema:
        yield from _kinds(definitions[schema["$ref"].rpartition("/")[2]], definitions)
    elif "type" in schema:
        if schema["type"] != "null":
            yield _TYPES[schema["type"]]
    elif "enum" in schema or "const" in schema:
        yield from (type(value).__name__ for value in schema.get("enum", [schema.get("const")]))
    else:
        options = schema.get("anyOf") or schema.get("oneOf") or schema.get("allOf")
        if options is None:
            yield "Any"
        else:
            for option in options:
                yield from _kinds(option, definitions)

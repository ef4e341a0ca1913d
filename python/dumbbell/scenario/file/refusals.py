"""Pydantic's errors in the words of the field."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from functools import cache
from itertools import islice
from typing import Any, get_args, get_origin

from pydantic import BaseModel, Discriminator, ValidationError
from pydantic_core import ErrorDetails

from dumbbell.counts import count
from dumbbell.hints import closest
from dumbbell.scenario.links import delays, losses, queues, rates
from dumbbell.scenario.links.changes import Event
from dumbbell.scenario.links.link import Bottleneck
from dumbbell.scenario.model import Emulate, Record, Scenario, Simulate
from dumbbell.scenario.source import MOST_FINDINGS, Finding, Key, lookup, show
from dumbbell.scenario.study import Expectation, Repeat
from dumbbell.scenario.topology import kinds as topologies
from dumbbell.scenario.topology.cables import Cable
from dumbbell.scenario.topology.dumbbell import Dumbbell
from dumbbell.scenario.topology.hosts import Hosts, HostSettings
from dumbbell.scenario.topology.nodes import NODES, Host, Router, Switch
from dumbbell.scenario.traffic import flows
from dumbbell.scenario.traffic.algorithms import Algorithm
from dumbbell.units import Quantity, QuantityError

_KINDS: dict[str, type[BaseModel]] = {
    **topologies.KINDS,
    **{f"@{table.__name__}": table for table in NODES.values()},
    **{f"@{name}": table for name, table in flows.KINDS.items()},
    **{"@steps": rates.Steps, "@ramp": rates.Ramp, "@csv": rates.RateFile, "@trace": rates.Trace},
    **{
        f"@{table.__name__}": table
        for table in [*queues.KINDS.values(), *losses.MODELS.values(), *delays.DISTRIBUTIONS.values()]
    },
}
"""Tags that pydantic puts into an error's location where a table may be of several kinds."""

_PROTOCOLS = tuple(name for name, table in flows.KINDS.items() if table.instead is None)
"""The kinds of flow that the key `protocol` names."""

_HOMES: dict[str, type[BaseModel]] = {
    "topology.bottleneck": Bottleneck,
    "topology": Dumbbell,
    **{f"a flow with {table.instead}": table for table in flows.KINDS.values() if table.instead},
    **{f'a flow with protocol = "{name}"': flows.KINDS[name] for name in _PROTOCOLS if name != flows.DEFAULT},
    f"a {flows.DEFAULT.upper()} flow": flows.KINDS[flows.DEFAULT],
    "cc, as in cc = { name = ..., parameters = { ... } }": Algorithm,
    "a queue that marks: red, codel, fq-codel or pie": queues.Codel,
    **{f'a queue of kind "{name}"': table for name, table in queues.KINDS.items()},
    **{f'a loss with model = "{name}"': table for name, table in losses.MODELS.items()},
    **{f'a jitter with distribution = "{name}"': table for name, table in delays.DISTRIBUTIONS.items()},
    "[record]": Record,
    "[emulate]": Emulate,
    "[simulate]": Simulate,
    "[[events]]": Event,
    "[[expect]]": Expectation,
    'repeat, as in repeat = { until = "5 %" }': Repeat,
    **{f'a topology of kind "{name}"': table for name, table in topologies.KINDS.items()},
    "one of topology.links": Cable,
    "a host among topology.nodes": Host,
    "a router among topology.nodes": Router,
    "a switch among topology.nodes": Switch,
    "the top of the file, before the first [table]": Scenario,
}
"""The tables to which a misplaced key may belong, the likeliest first."""

_NEAR = {
    "links": "one of topology.links",
    "nodes": "a ",
    "flows": "a flow",
    "queue": "a queue",
    "loss": "a loss",
    "jitter": "a jitter",
}
"""Below these keys, the homes that begin like this are the likeliest."""

_CHOICES: dict[str, tuple[str, Collection[str], str]] = {
    "topology": ("kind", topologies.KINDS, "one of " + ", ".join(topologies.KINDS)),
    "nodes": ("kind", NODES, f"one of {', '.join(NODES)}"),
    "flows": (
        "protocol",
        _PROTOCOLS,
        "protocol = "
        + ", ".join(f'"{name}"' + (" (the default)" if name == flows.DEFAULT else "") for name in _PROTOCOLS)
        + "".join(f", or a {table.instead}" for table in flows.KINDS.values() if table.instead),
    ),
    "queue": ("kind", queues.KINDS, f"one of {', '.join(queues.KINDS)}"),
    "loss": ("model", losses.MODELS, f"one of {', '.join(losses.MODELS)}"),
    "jitter": ("distribution", delays.DISTRIBUTIONS, f"one of {', '.join(delays.DISTRIBUTIONS)}"),
    "rate": ("", (), 'a rate, such as "100 Mbit/s", or a table with one of steps, ramp, trace, csv'),
}
"""The key that says of which kind a table is, what it may say, and that in words."""


def findings(error: ValidationError, data: Any) -> list[Finding]:
    """One finding per error, in the order of the model's fields, of the first ones; `data` is what was validated."""
    return [_finding(details, data) for details in islice(error.errors(include_url=False), MOST_FINDINGS)]


def _finding(details: ErrorDetails, data: Any) -> Finding:
    key, tables = _key(details["loc"], data)
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
            return _kind(key, details["type"], data)
        case "literal_error":
            given = str(lookup(data, key)[1]).lower()
            close = closest(given, re.findall("'([^']*)'", context["expected"]))
            hint = "" if close is None else f'did you mean "{close}"?'
            return Finding(key, "unknown", f"one of {context['expected']}", hint)
        case "bool_type" | "bool_parsing":
            return Finding(key, "neither true nor false", "true or false, without quotes")
        case "int_type" | "int_parsing" | "int_from_float":
            return Finding(key, "not an integer", "a whole number, without quotes")
        case "float_type" | "float_parsing" | "finite_number":
            return Finding(key, "not a number", "a number, without quotes")
        case "string_pattern_mismatch" if "sysctl" in key[:-1]:
            return Finding(key, "not a namespaced sysctl", 'one such as "net.ipv4.tcp_sack"')
        case "string_pattern_mismatch":
            signs = "`.`, `_`, `+` and `-`" if "+-]" in context["pattern"] else "`.`, `_` and `-`"
            rule = f"at most 64 letters, digits, {signs}, a letter or digit first; no spaces"
            return Finding(key, "invalid name", rule, _write_name(key, data))
        case "greater_than_equal" | "less_than_equal" | "greater_than" | "less_than":
            words = {"ge": "at least", "le": "at most", "gt": "more than", "lt": "less than"}
            sign = next(sign for sign in words if sign in context)
            return Finding(key, "out of range", f"{words[sign]} {_bound(key, tables, context[sign])}")
        case "model_type" | "model_attributes_type" | "dict_type":
            return Finding(key, "not a table", "a table, such as { key = value }")
        case "list_type":
            return Finding(key, "not a list", f"a list, such as [[{key[-1]}]] tables" if len(key) == 1 else "a list")
        case "too_short" if context["min_length"] == 1:
            return Finding(key, "empty", "at least one item")
        case "too_short":
            return Finding(key, "too short", f"at least {count(context['min_length'], 'item')}")
        case "too_long":
            return Finding(key, "too long", f"at most {count(context['max_length'], 'item')}")
        case "string_type":
            return Finding(key, "not a text", _meaning(key, tables), "a text in quotes")
        case _:
            return Finding(key, details["msg"])


def _write_name(key: Key, data: Any) -> str:
    """A hint with the nearest name that is allowed."""
    given = re.sub(r"[^A-Za-z0-9._-]+", "-", str(lookup(data, key)[1])).lstrip("._-")[:64].rstrip("-")
    return f'write {key[-1]} = "{given or "my-run"}"'


def _key(loc: tuple[str | int, ...], data: Any) -> tuple[Key, list[type[BaseModel]]]:
    """The file's key for pydantic's location, and the models of the tables on the way to it.

    If the file has a short form (`loss = "1 %"`), pydantic sees its long form (`[{ rate = "1 %" }]`): the key ends
    there.
    """
    key: list[str | int] = []
    tables: list[type[BaseModel]] = [Scenario]
    here = data
    for part in loc:
        if part in _KINDS and (str(part).startswith("@") or key == ["topology"]):
            tables.append(_KINDS[str(part)])
        elif str(part).startswith("@") or part == "[key]" or (isinstance(part, int) and not isinstance(here, list)):
            continue
        elif not isinstance(here, Mapping | list):
            break
        else:
            tables += _models(tables[-1], part)
            key.append(part)
            found, value = lookup(here, (part,))
            here = value if found else {}
    return tuple(key), tables


def _models(table: type[BaseModel], part: str | int) -> list[type[BaseModel]]:
    """The model that a table's field holds, if it is a table itself and of one kind only."""
    field = next((field for name, field in table.model_fields.items() if (field.alias or name) == part), None)
    if field is None:
        return [HostSettings] if table is Hosts else []
    found = None if field.discriminator else _table(field.annotation)
    return [found] if found else []


def _table(annotation: Any) -> type[BaseModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    parts = get_args(annotation)
    if any(isinstance(part, Discriminator) for part in parts):
        return None
    return next(filter(None, map(_table, parts)), None)


def _names(table: type[BaseModel]) -> dict[str, str]:
    """Keys of a table as a file writes them, with their descriptions."""
    return {field.alias or name: field.description or "" for name, field in table.model_fields.items()}


def _unknown(key: Key, tables: list[type[BaseModel]]) -> Finding:
    names = _names(tables[-1])
    close = closest(str(key[-1]), names)
    homes = [home for home, model in _HOMES.items() if key[-1] in _names(model)]
    near = tuple(home for part, home in _NEAR.items() if part in key)
    homes.sort(key=lambda home: not home.startswith(near))
    own = Scenario.model_fields.get(str(key[-1]))
    if own is not None and _table(own.annotation) is not None:
        is_list = get_origin(own.annotation) is list
        homes.insert(0, f"a table of its own: [[{key[-1]}]]" if is_list else f"a table of its own: [{key[-1]}]")
    # A key that another kind of flow has was probably meant, though a key of this one looks alike.
    is_of_other_kind = any(near and home.startswith(near) for home in homes)
    belongs = "".join(f"{key[-1]} belongs in {home}" for home in homes[:1])
    hint = belongs if close is None or is_of_other_kind else f"did you mean {close}?"
    return Finding(key, "unknown key", f"one of {', '.join(names)}", hint)


def _meaning(key: Key, tables: list[type[BaseModel]]) -> str:
    """The first sentence of a key's description."""
    description = _names(tables[-1]).get(str(key[-1]), "") if key else ""
    first = re.split(r"(?<!e\.g)\. ", description)[0]
    return first[:1].lower() + first[1:].rstrip(".") if first else "a value"


def _example(key: Key, tables: list[type[BaseModel]]) -> str:
    schema = _properties(tables[-1]).get(str(key[-1]), {})
    examples = [option["examples"][0] for option in _options(schema) if option.get("examples")]
    return f"add {key[-1]} = {show(examples[0])}" if examples else ""


def _options(schema: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A schema, and all whose values it allows besides."""
    yield schema
    for option in (*schema.get("anyOf", []), *schema.get("oneOf", [])):
        yield from _options(option)


@cache
def _properties(table: type[BaseModel]) -> dict[str, Any]:
    """The JSON Schema of a table's keys; that of the largest takes a quarter of a second to make."""
    found: dict[str, Any] = table.model_json_schema(by_alias=True)["properties"]
    return found


def _bound(key: Key, tables: list[type[BaseModel]], bound: Any) -> str:
    field = next((f for name, f in tables[-1].model_fields.items() if (f.alias or name) == key[-1]), None)
    kinds = [field.annotation, *get_args(field.annotation)] if field else []
    quantity = next((kind for kind in kinds if isinstance(kind, type) and issubclass(kind, Quantity)), None)
    return str(quantity(bound)) if quantity else str(bound)


def _kind(key: Key, problem: str, data: Any) -> Finding:
    name = "nodes" if key[-2:-1] == ("nodes",) else next(part for part in reversed(key) if isinstance(part, str))
    choice, known, expected = _CHOICES[name]
    if not choice:
        return Finding(key, "not a rate", expected, _RATE_HINT)
    if problem != "union_tag_invalid":
        return Finding((*key, choice), "missing", expected)
    _, value = lookup(data, key)
    if isinstance(value, Mapping):
        key, value = (*key, choice), value.get(choice)
    close = closest(str(value).lower(), known)
    return Finding(key, "unknown", expected, "" if close is None else f'did you mean "{close}"?')


_RATE_HINT = 'write rate = { steps = [["0 s", "9 Mbit/s"], ["5 s", "3 Mbit/s"]] }'

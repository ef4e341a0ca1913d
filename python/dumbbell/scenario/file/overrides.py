"""Values set on the command line: `--set flows.1.cc=bbr`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from dumbbell.errors import Place, Problem, ScenarioError
from dumbbell.scenario.file.toml import TOMLDecodeError, parse, plain
from dumbbell.scenario.source import Key, dotted, show

NAMES = frozenset(["emulate.kernel"])
"""Keys whose values are names that look like numbers: 6.10 is not 6.1."""

Overrides = Mapping[str, Any] | Iterable[str]
"""Texts `key=value`, or a dict from such a key to a value."""

_EXAMPLE = 'write --set topology.bottleneck.rate="50 Mbit/s"'


SHORT = {"cc": "name", "queue": "kind"}
"""Keys at which a text is short for a table that has it at another key."""


def apply(data: dict[str, object], overrides: Overrides, name: str, by: str = "override") -> dict[Key, str]:
    """Set each value in `data`; return what was set and the text that set it. Raises `InputError`.

    `by`: what such a text calls the values of a dict.
    """
    if isinstance(overrides, str):
        overrides = [overrides]
    places: dict[Key, str] = {}
    for text, way, value in _each(overrides, by):
        places[_set(data, way, value, text, name)] = text
    return places


def _each(overrides: Overrides, by: str) -> Iterable[tuple[str, list[str], Any]]:
    if isinstance(overrides, Mapping):
        for key, value in plain(overrides).items():
            text = f"{by} {key}={show(value)}"
            yield text, parts_of(key, text), value
        return
    for text in overrides:
        key, equals, value = text.partition("=")
        if not equals:
            raise _refused(f"--set {text}", "no value", "expected key=value", _EXAMPLE, key.strip())
        yield f"--set {text}", parts_of(key, f"--set {text}"), value_of(value.strip(), key.strip())


def value_of(text: str, key: str) -> Any:
    """A TOML value, or else the text itself, so that quantities need no second pair of quotes."""
    if key in NAMES and not text.startswith(('"', "'")):
        return text
    try:
        parsed = parse(f"value = {text}")
    except TOMLDecodeError:
        return text
    return parsed["value"] if len(parsed) == 1 else text


def parts_of(key: str, text: str) -> list[str]:
    """The parts of a dotted TOML key. The shell eats quotes, so what follows `sysctl` is one key."""
    try:
        table: Any = parse(f"{key} = 0")
    except TOMLDecodeError:
        raise _refused(text, f"{json.dumps(key)} is not a key", "expected a dotted key", _EXAMPLE, key) from None
    way = []
    while isinstance(table, dict):
        part, table = next(iter(table.items()))
        way.append(part)
    if "sysctl" in way[:-1]:
        at = way.index("sysctl") + 1
        way[at:] = [".".join(way[at:])]
    return way


def _set(data: dict[str, object], way: list[str], value: Any, text: str, name: str) -> Key:
    here: Any = data
    done: list[str | int] = []
    for i, part in enumerate(way):
        last = i == len(way) - 1
        if isinstance(here, str) and done[-1] in SHORT:
            here = _set_at(data, done, {SHORT[str(done[-1])]: here})
        if isinstance(here, list):
            index = _index(here, part, done, text, name)
            done.append(index)
            if last:
                here[index] = value
            here = here[index]
        elif isinstance(here, dict):
            done.append(part)
            if last:
                here[part] = value
            here = here.setdefault(part, {})
        else:
            why = f"{dotted(tuple(done))} is {show(here)} in {name}, which has no parts"
            hint = f"set {dotted(tuple(done))} as a whole"
            raise _refused(text, f"cannot set {'.'.join(way)}", why, hint, dotted(tuple(way)))
    return tuple(done)


def _set_at(data: Any, way: list[str | int], value: Any) -> Any:
    for part in way[:-1]:
        data = data[part]
    data[way[-1]] = value
    return value


def _index(here: list[Any], part: str, done: list[str | int], text: str, name: str) -> int:
    if part.isascii() and part.isdigit() and int(part) < len(here):
        return int(part)
    key = dotted(tuple(done))
    why = f"{key} is a list of {len(here)} in {name}, counted from 0"
    hint = f"write {key}.0 for the first" if here else ""
    raise _refused(text, f"{key} has no item {part}", why, hint, dotted((*done, part)))


def _refused(text: str, wrong: str, why: str, hint: str, key: str) -> ScenarioError:
    return ScenarioError([Problem.at(Place(option=text), wrong, why, hint, key)])

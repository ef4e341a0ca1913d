"""A checked scenario as a TOML file that gives the same plan."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from dumbbell.scenario.model import Scenario
from dumbbell.scenario.source import Source, lookup


def to_toml(scenario: Scenario) -> str:
    """The scenario as TOML, its overrides applied: the file it came from, comments and all, as far as there is one."""
    wanted = scenario.model_dump()
    return next(text for text in _candidates(scenario) if _values(text) == wanted)


def _candidates(scenario: Scenario) -> Iterator[str]:
    """Texts, the nearest to what the user wrote first. The last one holds all values, the others maybe not."""
    if scenario.source.text:
        yield scenario.source.text
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    if scenario.source.text:
        # An override from Python may be a value that is no TOML as it stands.
        with suppress(TOMLKitError, TypeError, ValueError):
            yield _edited(scenario.source)
    yield tomlkit.dumps(_without_none(scenario.model_dump(mode="json", by_alias=True, exclude_unset=True)))


def _values(text: str) -> dict[str, Any] | None:
    try:
        return Scenario.model_validate(tomllib.loads(text)).model_dump()
    except ValueError:  # tomllib's and pydantic's, both
        return None


def _edited(source: Source) -> str:
    """The file with each override set in its place."""
    import tomlkit

    document = tomlkit.parse(source.text)
    for key in source.overrides:
        here: Any = document
        # What the file lacks is made: from the first part that is not there on, the whole value is new.
        depth = min(lookup(document, key[:-1])[0], len(key) - 1)
        for part in key[:depth]:
            here = here[part]
        here[key[depth]] = lookup(source.data, key[: depth + 1])[1]
    return tomlkit.dumps(document)


def _without_none(value: Any) -> Any:
    """TOML has no null: a key without a value is left out."""
    if isinstance(value, dict):
        return {key: _without_none(part) for key, part in value.items() if part is not None}
    return [_without_none(part) for part in value] if isinstance(value, list) else value

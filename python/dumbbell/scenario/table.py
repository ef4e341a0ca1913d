"""The base of all tables of a scenario."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, SerializerFunctionWrapHandler, WrapSerializer

OPENS: Final = "opens"
"""Metadata of fields that are true where a node leads a lab to this machine's network."""
STARTED: Final = "started"
"""Metadata of fields whose values a run starts, or gives to what it starts: command lines and configurations."""


class Table(BaseModel):
    """A TOML table: no unknown keys, no changes after validation."""

    # Tables are parts of others, which build them in: what no command reads by itself needs no validator of its own.
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> Self:
        """Itself: it never changes. Pydantic copies a default for each table that leaves it out."""
        return self


def word_for_none(word: str, schema: Any) -> tuple[BeforeValidator, WrapSerializer]:
    """Metadata for an optional value: TOML has no null, so `word` stands for it. `schema` describes the other accepted
    values."""

    def dump(value: Any, handler: SerializerFunctionWrapHandler) -> Any:
        return word if value is None else handler(value)

    return (
        BeforeValidator(lambda value: None if value == word else value, json_schema_input_type=schema),
        WrapSerializer(dump, when_used="json"),
    )


def shorthand(key: str, value: Any) -> Any:
    """A text or a number in place of a table: the table with `key` alone."""
    return value if isinstance(value, dict | list | Table) else {key: value}


def tag_by(key: str, tables: Mapping[str, type[Table]], default: str | None = None) -> Callable[[Any], str | None]:
    """The discriminator of a union of tables: the class for the name at `key`, as `@Class`.

    A name that no table has is itself the tag, and the refusal can name it.
    """

    def tag(value: Any) -> str | None:
        name = value.get(key, default) if isinstance(value, dict) else getattr(value, key, default)
        if name is None and default is None:
            return None
        # A list, as a wrong value may be no key of a mapping.
        return f"@{tables[name].__name__}" if name in list(tables) else f"@{name}"

    return tag

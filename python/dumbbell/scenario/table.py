"""What all tables of a scenario are made of."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, SerializerFunctionWrapHandler, WrapSerializer


class Table(BaseModel):
    """A TOML table: no unknown keys, no changes after validation."""

    model_config = ConfigDict(extra="forbid", frozen=True)


def word_for_none(word: str, schema: Any) -> tuple[BeforeValidator, WrapSerializer]:
    """Metadata for an optional value: TOML has no null, so `word` stands for it. `schema` is what else is accepted."""

    def dump(value: Any, handler: SerializerFunctionWrapHandler) -> Any:
        return word if value is None else handler(value)

    return (
        BeforeValidator(lambda value: None if value == word else value, json_schema_input_type=schema),
        WrapSerializer(dump, when_used="json"),
    )


def shorthand(key: str, value: Any) -> Any:
    """A text or a number in place of a table: the table with `key` alone."""
    return value if isinstance(value, dict | list | Table) else {key: value}

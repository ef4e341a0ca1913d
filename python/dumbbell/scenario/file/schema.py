"""The JSON Schema of a scenario file, for editors and other tools."""

from __future__ import annotations

from typing import Any

from dumbbell.scenario.model import Scenario


def json_schema() -> dict[str, object]:
    """JSON Schema (draft 2020-12) of what a file may hold.

    Pydantic's own, less what a TOML file cannot say (null) and what an editor should not show (titles made from names).
    """
    schema: dict[str, object] = _tidy(Scenario.model_json_schema(mode="validation"))
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema, "title": "dumbbell scenario"}


def _tidy(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_tidy(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    kept = {key: value for key, value in schema.items() if key not in ("ge", "le") and not _is_noise(key, value)}
    if "patternProperties" in kept:
        kept["additionalProperties"] = False
    options = kept.get("anyOf")
    if options is not None and {"type": "null"} in options:
        options = [_tidy(option) for option in options if option != {"type": "null"}]
        del kept["anyOf"]
        kept = {**options[0], **kept} if len(options) == 1 else {**kept, "anyOf": options}
    return {key: value if key in ("default", "examples") else _tidy(value) for key, value in kept.items()}


def _is_noise(key: str, value: Any) -> bool:
    """Titles that are texts (a property may have that name), defaults that only repeat another table's, or nothing."""
    return (key == "title" and isinstance(value, str)) or (
        key == "default" and (value is None or value == [] or isinstance(value, dict))
    )

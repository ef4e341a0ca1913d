"""`dumbbell schema`."""

from __future__ import annotations


def command() -> None:
    """Print the JSON Schema of scenario files, for editors.

    Save it as scenario.schema.json and begin a scenario with `#:schema ./scenario.schema.json`: editors with a TOML
    language server then complete keys and mark mistakes.
    """
    from json import dumps

    from dumbbell.scenario.file.schema import json_schema

    print(dumps(json_schema(), indent=2, ensure_ascii=False))

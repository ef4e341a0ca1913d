"""Rows of a capture's tables in Python, from the columns that the crate `connections` declares."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

_HEAD: Final = '''"""Rows of an analysed capture's tables. The crate `connections` declares their columns."""

from __future__ import annotations

from typing import TypedDict
'''
_NAMES: Final = {"connections": ("Connection", "A connection"), "directions": ("Direction", "A direction of data")}
_TYPES: Final = {"bool": "bool", "dict": "str", "f64": "float", "str": "str"}
"""All other types of columns are integers."""


def text(declared: Mapping[str, Any]) -> str:
    """The module of `dumbbell.captures`."""
    return "\n\n".join([_HEAD, *map(_row, declared["captures"])]) + "\n"


def _row(table: Mapping[str, Any]) -> str:
    name, meaning = _NAMES[table["name"]]
    columns = [
        f"    {one['name']}: {_TYPES.get(one['type'], 'int')}{' | None' * one['nullable']}" for one in table["columns"]
    ]
    return "\n".join([f"class {name}(TypedDict):", f'    """{meaning}: a row of `{table["name"]}`."""', "", *columns])

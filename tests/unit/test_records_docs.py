"""The page on records names every column with its type, and no other."""

import re
from pathlib import Path

import pytest

from dumbbell.records.schema import TABLES

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "records.md").read_text()


@pytest.mark.parametrize("table", TABLES)
def test_every_column_is_documented(table: str) -> None:
    section = PAGE.split(f"\n## {table}\n")[1].split("\n## ")[0]
    documented = dict(re.findall(r"^\| `(\w+)` \| (\w+)\??\s*\|", section, re.MULTILINE))
    assert documented == TABLES[table]

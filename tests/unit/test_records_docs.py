"""The page on records names every column with its type, and no other."""

import re
from pathlib import Path

import known_run
import pytest

from dumbbell.pipeline.compose import compose
from dumbbell.records import Run
from dumbbell.records.schema import TABLES

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "records.md").read_text()


@pytest.mark.parametrize("table", TABLES)
def test_every_column_is_documented(table: str) -> None:
    section = PAGE.split(f"\n## {table}\n")[1].split("\n## ")[0]
    documented = dict(re.findall(r"^- `(\w+)` \((\w+)\??\):", section, re.MULTILINE))
    assert documented == TABLES[table]


@pytest.mark.parametrize("name", ["emulator", "traffic", "lab"])
def test_every_field_of_the_accounts_is_documented(name: str) -> None:
    section = PAGE.split(f"\n## {name}.json\n")[1].split("\n## ")[0]
    account = known_run.engine_output()[f"{name}.json"]
    fields = {*account, *(account["flows"][0] if name == "traffic" else ())}
    assert {field for field in fields if f"`{field}`" not in section} == set()


def test_every_field_of_the_simulators_account_is_documented() -> None:
    section = PAGE.split("\n## simulator.json\n")[1].split("\n## ")[0]
    assert {field for field in known_run.SIMULATOR if f"`{field}`" not in section} == set()


def test_every_field_of_the_probes_account_is_documented() -> None:
    section = PAGE.split("\n## probe.json\n")[1].split("\n## ")[0]
    assert {field for field in known_run.PROBE if f"`{field}`" not in section} == set()


def test_every_field_of_the_summary_is_documented(tmp_path: Path) -> None:
    section = PAGE.split("\n## summary.json\n")[1].split("\n## ")[0]
    directory = known_run.make(tmp_path / "run")
    compose(Run(directory), {})
    summary = Run(directory).summary
    fields = {*summary, *summary["links"][0]}
    assert {field for field in fields if f"`{field}`" not in section} == set()

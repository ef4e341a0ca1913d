"""ARCHITECTURE.md names every crate and every package in an order in which each depends only on those above it."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import is_dataclass
from importlib import import_module
from pathlib import Path

import pytest

from dumbbell.engines import registry

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")


def rows(heading: str) -> list[list[str]]:
    """The names in the first column of the table below a heading, row by row."""
    section = TEXT.split(f"\n## {heading}")[1].split("\n## ")[0]
    found = [re.findall(r"`([\w/-]+)`", line.split("|")[1]) for line in section.splitlines() if line.startswith("| `")]
    assert found
    return found


def test_crates_depend_on_crates_above_them() -> None:
    named = [name for row in rows("Rust") for name in row]
    manifests = {path.parent.name: path for path in (ROOT / "crates").glob("*/Cargo.toml")}
    assert set(named) == manifests.keys()
    for place, name in enumerate(named):
        depends = tomllib.loads(manifests[name].read_text(encoding="utf-8")).get("dependencies", {})
        assert manifests.keys() & depends.keys() <= set(named[:place]), name


def test_packages_stand_in_the_order_of_the_contract() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    layers = project["tool"]["importlinter"]["contracts"][0]["layers"]
    contract = [sorted(layer.split(" | ")) for layer in reversed(layers) if layer != "__main__"]
    assert [sorted(row) for row in rows("Python")] == contract


def test_contracts_name_each_engine() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = {one["name"]: one for one in project["tool"]["importlinter"]["contracts"]}
    apart = contracts["Engines stand apart, upon the realm that they share"]
    closed = contracts["Nothing outside an engine imports it"]
    engines = sorted(registry.names())
    assert sorted(apart["layers"][0].split(" | ")) == engines
    assert sorted(closed["forbidden_modules"]) == [f"dumbbell.engines.{name}" for name in engines]


def test_folders_of_the_pages_import_from_rows_above_them() -> None:
    named = {name: place for place, row in enumerate(rows("TypeScript")) for name in row}
    web, seen = ROOT / "web", 0
    for file in [one for name in ("charts", "report", "ui") for one in (web / name).rglob("*.ts*")]:
        folder = folder_of(file, named)
        for spelled in re.findall(r'(?:from|import)\s*\(?"(\.[^"]+)"', file.read_text(encoding="utf-8")):
            other = folder_of((file.parent / spelled).resolve(), named)
            assert other == folder or named[other] < named[folder], f"{file.relative_to(web)} imports {spelled}"
            seen += other != folder
    assert seen > 100


def folder_of(file: Path, named: Mapping[str, int]) -> str:
    """Returns the named folder in which a file is."""
    above = [
        parent.relative_to(ROOT / "web").as_posix() for parent in file.parents if parent.is_relative_to(ROOT / "web")
    ]
    return next(name for name in above if name in named)


QUICK = {"carrying", "declarations", "held_fields", "peak_bps", "routing_daemon", "simulate_parameters", "version"}
"""Functions of the core that neither wait nor reckon for long."""


def test_the_core_lets_other_threads_of_python_run() -> None:
    """A function that keeps the interpreter stops a server for as long as a compiler or a disk takes."""
    sources = (path.read_text(encoding="utf-8") for path in (ROOT / "crates" / "core-py" / "src").glob("*.rs"))
    parts = [part for text in sources for part in text.split("#[pyfunction]")[1:]]
    # A function's text ends where the next one's comment begins.
    found = {re.search(r"fn (\w+)", part)[1]: part.partition("\n}\n")[0] for part in parts}  # type: ignore[index]
    keeping = {name for name, text in found.items() if "py.detach(" not in text and "answer(py, " not in text}
    assert keeping == QUICK
    assert len(found) > 30


@pytest.mark.parametrize("package", ["analysis", "plan", "statistics"])
def test_plans_evidence_and_results_are_values(package: str) -> None:
    """They are kept, shared and compared, so nobody may change one."""
    folder = ROOT / "python" / "dumbbell"
    names = [".".join(path.with_suffix("").relative_to(folder).parts) for path in (folder / package).rglob("*.py")]
    modules = [import_module(f"dumbbell.{name.removesuffix('.__init__')}") for name in names]
    parts = [one for module in modules for one in vars(module).values() if is_dataclass(one)]
    classes = {one if isinstance(one, type) else type(one) for one in parts}
    own = [one for one in classes if one.__module__.startswith(f"dumbbell.{package}.")]
    assert own
    assert [one.__qualname__ for one in own if one.__setattr__ is object.__setattr__] == []

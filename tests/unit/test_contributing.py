"""CONTRIBUTING.md: every file that it names exists, and what it says about generated files holds."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tools.generate.targets import STUB, TARGETS

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
PATHS = sorted(set(re.findall(r"`((?:bpf|crates|python|tests|web|benches)/[\w./-]+)`", TEXT)))
PLACEHOLDERS = ("NAME", "STUDY")


def test_it_names_files() -> None:
    assert len(PATHS) > 30


@pytest.mark.parametrize("path", PATHS)
def test_a_path_exists(path: str) -> None:
    """If a path has a placeholder, some file matches it."""
    pattern = path
    for placeholder in PLACEHOLDERS:
        pattern = pattern.replace(placeholder, "*")
    assert list(ROOT.glob(pattern.rstrip("/"))), f"there is no {path}"


def test_what_is_made_is_what_make_generate_makes() -> None:
    table = TEXT.split("| declared in | made from it |")[1].split("\n\n")[0]
    named = {path for line in table.splitlines()[2:] for path in re.findall(r"`([\w./-]+\.\w+)`", line.split("|")[2])}
    assert named == {target.path for target in (*TARGETS, STUB)}


def test_its_make_targets_are_the_makefiles() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = re.findall(r"(?:`|^    )make (\w+)", TEXT, re.MULTILINE)
    assert "test" in targets
    for target in targets:
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target

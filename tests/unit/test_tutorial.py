"""The tutorial on one's own congestion control shows what lies beside it."""

import re
import tomllib
from pathlib import Path

from dumbbell.cc.source import read
from dumbbell.plan import expand
from dumbbell.scenario.file.loading import load

TUTORIAL = Path(__file__).parents[2] / "docs" / "tutorial"
TEXT = (TUTORIAL / "own-congestion-control.md").read_text()
SOURCE = (TUTORIAL / "calm.bpf.c").read_text()


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", TEXT, re.DOTALL)


def test_what_it_shows_of_the_program_is_in_the_program() -> None:
    assert len(blocks("c")) == 4
    for block in blocks("c"):
        # Examples shown together may have other lines between.
        for part in block.strip().split("\n\n"):
            assert part in SOURCE


def test_it_is_about_60_lines() -> None:
    assert len(SOURCE.splitlines()) <= 70


def test_its_scenario_is_the_file_s() -> None:
    (shown,) = blocks("toml")
    assert tomllib.loads(shown) == tomllib.loads((TUTORIAL / "calm.toml").read_text())
    (entry,) = expand(load(TUTORIAL / "calm.toml")).algorithms
    assert entry.parameters == {"target": 4}


def test_its_parameters_are_found_with_what_they_are() -> None:
    found = read(TUTORIAL / "calm.bpf.c").parameters
    assert found.complete
    assert [(one.name, one.type, one.default) for one in found.known] == [("target", "u32", 4), ("keep", "u32", 717)]
    assert all(one.doc for one in found.known)

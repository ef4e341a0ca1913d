"""The tutorial on one's own congestion control shows what lies beside it."""

import json
import re
import textwrap
import tomllib
from pathlib import Path

import pytest

from dumbbell import ScenarioError, _core
from dumbbell.cc.source import read
from dumbbell.plan.expand import expand
from dumbbell.scenario import bundled
from dumbbell.scenario.file.loading import load

TUTORIAL = Path(__file__).parents[2] / "docs" / "tutorial"
TEXT = (TUTORIAL / "own-congestion-control.md").read_text()
SOURCE = (TUTORIAL / "calm.bpf.c").read_text()


def blocks(language: str, text: str = TEXT) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


def test_what_it_shows_of_the_program_is_in_the_program() -> None:
    shown = blocks("c", TEXT.partition("\n## Record what it knows\n")[0])
    assert len(shown) == 4
    for block in shown:
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


def test_a_program_that_publishes_as_shown_compiles(tmp_path: Path) -> None:
    (shown,) = blocks("c", TEXT.partition("\n## Record what it knows\n")[2])
    publishing, count = re.subn(r"struct state \{.*?\};\n", lambda _: shown, SOURCE, count=1, flags=re.DOTALL)
    assert count == 1
    (tmp_path / "calm.bpf.c").write_text(publishing)
    built = json.loads(_core.cc_build(tmp_path / "calm.bpf.c", tmp_path / "calm.bpf.o"))
    assert built["ok"], built["text"]


def test_the_first_experiment_s_mistake_is_told_as_shown(tmp_path: Path) -> None:
    text = (TUTORIAL / "first-experiment.md").read_text()
    shown = re.search(r"^    error: mine\.toml.*\n(?:    .*\n)+", text, re.MULTILINE)
    assert shown is not None
    mine = tmp_path / "mine.toml"
    mine.write_text(bundled.text("bbr-vs-cubic").replace('"100 Mbit/s"', '"100"'))
    with pytest.raises(ScenarioError) as error:
        load(mine)
    said = textwrap.dedent(shown[0]).strip()
    assert str(error.value).replace(str(mine), "mine.toml") == said.removeprefix("error: ")

"""The published studies: they have all printed numbers, and every part can be run."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest

from dumbbell.cli import invoke
from dumbbell.engines.emulate.engine import EmulateEngine
from dumbbell.engines.names import EMULATE
from dumbbell.errors import Problem
from dumbbell.plan.types import Plan
from dumbbell.published.model import Part
from dumbbell.published.registry import KEYS, reproduction
from dumbbell.published.running import Order, orders, size
from dumbbell.scenario.model import Scenario
from dumbbell.statistics.metrics import METRICS
from dumbbell.studies.prepared import prepared

PARTS = [(key, part) for key in KEYS for part in reproduction(key).parts]
NAMED = [pytest.param(part, id=f"{key} {part.name}") for key, part in PARTS]


@pytest.mark.parametrize("part", NAMED)
def test_each_part_is_a_study_under_each_of_its_engines(part: Part) -> None:
    for engine in part.engines:
        for quick in (False, True):
            base, cells = prepared(Order(part, engine, quick).draft)
            for one in part.published:
                assert one.metric in METRICS
                assert one.where.keys() <= {key for cell in cells for key in cell}, "a key that is not varied"
            if not quick and engine != EMULATE:
                for one in part.published:
                    assert any(one.where.items() <= cell.items() for cell in cells), f"no cell {one.where}"
            assert base.name.startswith(Path(part.scenario).parents[1].name.replace("_", "-"))


@pytest.mark.parametrize("key", KEYS)
def test_names_are_used_once(key: str) -> None:
    study = reproduction(key)
    assert max(Counter(part.name for part in study.parts).values()) == 1
    names = {part.name for part in study.parts}
    assert {part.variant_of for part in study.parts if part.variant_of} <= names
    # Set-ups that are nearly the same must not be the same study on disk.
    assert (
        max(
            Counter((part.scenario, str(Order(part, part.engines[0], False).settings)) for part in study.parts).values()
        )
        == 1
    )


def test_rincao_has_the_whole_grid_and_each_printed_number_once() -> None:
    main = [part for part in reproduction("rincao-2021").parts if part.variant_of is None]
    assert sum(size(order).runs for order in orders(main, None, False)) == 27_000
    printed = Counter((part.name, one.of, *one.where.values()) for part in main for one in part.published)
    assert (len(printed), max(printed.values())) == (240, 1)


def test_a_part_end_to_end(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The test takes seconds: a round trip of 4 s carries little."""
    altered = ["--set", "repeat=2", "--set", "duration=30 s"]
    args = ["reproduce", "buffa-2020", "--part", "3-10mbit", "--quick", *altered]
    assert invoke([*args, "--output", str(tmp_path), "--jobs", "1", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    both = [one for one in told["findings"] if one["reading"] == "both links"]
    assert {one["status"] for one in both if one["numbers"] == "not run"} == {"can't be told"}
    assert sum(one["numbers"] != "not run" for one in both) == 4
    assert {one["ours"] for one in both} == {True, False}
    assert all(one["source"] for one in both)
    (place,) = tmp_path.glob("buffa-2020-quick-*")
    text = (place / "report.md").read_text()
    assert "## 3-10mbit" in text
    assert "1000 ms, 5 %" in text
    assert (place / "report.html").exists()
    # The next command, about nothing, reports on the same runs.
    assert invoke(["reproduce", "buffa-2020", "--quick", "--as-is", *altered, "--output", str(tmp_path), "--json"]) == 0
    assert (place / "report.md").read_text() == text


def test_lists_and_refusals(capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["reproduce"]) == 0
    assert "rincao-2021" in capsys.readouterr().out
    assert invoke(["reproduce", "buffa-2020", "--list"]) == 0
    assert "2-10mbit" in capsys.readouterr().out
    assert invoke(["reproduce", "rincao-2020"]) == 2
    assert "did you mean rincao-2021?" in capsys.readouterr().err
    assert invoke(["reproduce", "buffa-2020", "--part", "9"]) == 2
    assert "its parts are 1, 2-none" in capsys.readouterr().err
    assert invoke(["reproduce", "buffa-2020", "--engine", "ns3"]) == 2
    assert "simulate, virtual, emulate" in capsys.readouterr().err
    assert invoke(["reproduce", "slides-2017", "--engine", "emulate", "--part", "fairness-deep"]) == 2
    assert "it can be run by virtual" in capsys.readouterr().err
    assert invoke(["reproduce", "slides-2017", "--engine", "emulate", "--list"]) == 0
    assert "fairness-deep" not in capsys.readouterr().out


def test_a_part_that_this_machine_cannot_run_is_refused_before_any_begins(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def check(engine: EmulateEngine, scenario: Scenario, plan: Plan, text: str | None = None) -> list[Problem]:
        return [Problem("no root", hint="run it with --engine simulate")] if plan.algorithms else []

    monkeypatch.setattr(EmulateEngine, "check", check)
    args = ["reproduce", "bernardi-2020", "--part", "1", "--part", "4", "--quick", "--output", str(tmp_path)]
    assert invoke([*args, "--quiet"]) == 2
    assert capsys.readouterr().err.startswith("error: no root\n  in the cell flows.0.cc=")
    assert list(tmp_path.iterdir()) == []

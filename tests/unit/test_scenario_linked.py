"""`cc = { kernel = "my_cc.c" }`: a source in C that becomes part of a kernel in virtual time."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from refused import BASE, refused

from dumbbell.cc.declared import declared, with_values
from dumbbell.engines.registry import engine
from dumbbell.plan.algorithms import linked
from dumbbell.plan.expand import expand
from dumbbell.plan.identity import run_id
from dumbbell.plan.types import LinkedSource, Plan
from dumbbell.plan.view import source
from dumbbell.scenario.file.loading import load
from dumbbell.scenario.file.writing import names_files, write

PROGRAM = """\
#include <dumbbell/congestion_control.h>
const volatile __u32 step = 2;      /* packets by which the window grows per RTT */
const volatile bool gentle = true;  // whether it halves at all
const volatile __s32 shift;
"""


@pytest.fixture(autouse=True)
def _place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("my_cc.c").write_text(PROGRAM)


def text(*ccs: str) -> str:
    return BASE.rpartition("[[flows]]")[0] + "".join(f'[[flows]]\nfrom = "h1"\nto = "h2"\ncc = {cc}\n' for cc in ccs)


def plan_of(*ccs: str) -> Plan:
    Path("my.toml").write_text(text(*ccs))
    return expand(load("my.toml"))


def test_a_source_is_in_the_plan_by_its_name_in_the_kernel() -> None:
    plan = plan_of('{ kernel = "my_cc.c" }')
    (found,) = plan.algorithms
    program = linked("my_cc", PROGRAM.encode(), "my_cc.c", {})
    assert found.label == "my_cc"
    assert found.source == LinkedSource(path="algorithms/my_cc.c", name=program.registered)
    assert source(found.source) == "algorithms/my_cc.c, in the kernel"


def test_another_text_is_another_run() -> None:
    first = plan_of('{ kernel = "my_cc.c" }')
    Path("my_cc.c").write_text(PROGRAM + "/* more */\n")
    second = plan_of('{ kernel = "my_cc.c" }')
    assert run_id(first, "emulate", "1") != run_id(second, "emulate", "1")


def test_parameters_are_values_of_its_constants() -> None:
    assert with_values(PROGRAM, {}) == PROGRAM
    text = with_values(PROGRAM, {"step": 7, "gentle": False, "shift": -3})
    assert [one.default for one in declared(text).known] == [7, False, -3]
    assert text.count("\n") == PROGRAM.count("\n"), "errors of the compiler have the user's lines"

    plan = plan_of('{ kernel = "my_cc.c" }', '{ kernel = "my_cc.c", parameters = { step = 7 } }')
    first, second = plan.algorithms
    assert second.parameters == {"step": 7}
    assert isinstance(first.source, LinkedSource)
    assert isinstance(second.source, LinkedSource)
    assert first.source.path == second.source.path
    assert first.source.name != second.source.name


@pytest.mark.parametrize(
    ("cc", "parts"),
    [
        ('{ kernel = "nope.c" }', ["cannot read it", "there is my_cc.c"]),
        ('{ kernel = "my_cc.c", parameters = { stpe = 1 } }', ["no such parameter", "did you mean step?"]),
        ('{ kernel = "my_cc.c", bpf = "my_cc.bpf.c" }', ["cc"]),
        ('{ kernel = "a b.c" }', ["not a name for records"]),
        ('{ kernel = "no name" }', ["not a name"]),
    ],
)
def test_what_is_wrong_is_told_at_its_place(cc: str, parts: list[str]) -> None:
    told = refused(text(cc))
    assert "my.toml:" in told
    for part in parts:
        assert part in told


@pytest.mark.parametrize(("name", "hint"), [("emulate", "--engine virtual"), ("simulate", "--engine virtual")])
def test_other_engines_say_what_to_use_instead(name: str, hint: str) -> None:
    Path("my.toml").write_text(text('{ kernel = "my_cc.c" }'))
    scenario = load("my.toml")
    problems = engine(name).check(scenario, expand(scenario))
    (told,) = (problem for problem in problems if problem.key == "flows.0.cc")
    assert hint in told.hint
    assert told.place is not None


def test_the_source_goes_with_the_scenario(tmp_path: Path) -> None:
    Path("my.toml").write_text(text('{ kernel = "my_cc.c" }', '{ kernel = "cubic" }'))
    there = tmp_path / "there"
    there.mkdir()
    write(load("my.toml"), there)
    assert (there / "algorithms/my_cc.c").read_text() == PROGRAM
    again = load(str(there / "scenario.toml"))
    assert expand(again).algorithms == plan_of('{ kernel = "my_cc.c" }', '{ kernel = "cubic" }').algorithms


@pytest.mark.parametrize(("value", "is_file"), [("my_cc.c", True), ("cubic", False), ("6.12", False)])
def test_only_a_file_is_a_file(value: Any, is_file: bool) -> None:
    assert names_files("flows.0.cc.kernel", value) is is_file
    assert names_files("cc", {"kernel": value}) is is_file


def test_a_program_and_a_source_of_one_stem_have_two_labels() -> None:
    Path("my_cc.bpf.c").write_text(PROGRAM)
    plan = plan_of('{ bpf = "my_cc.bpf.c" }', '{ kernel = "my_cc.c" }')
    assert [one.label for one in plan.algorithms] == ["my_cc", "my_cc-2"]
    assert replace(plan, algorithms=()).flows[1].id == "f2"

"""The varied keys of a study, from its file, from the command line and from Python."""

from __future__ import annotations

from typing import Any

import pytest

from dumbbell.errors import InputError, ScenarioError
from dumbbell.scenario.file.loading import Draft, checked, read
from dumbbell.studies.cells import MOST_SAMPLED, cells, is_study, parse, representative, values, varied

BASE: dict[str, Any] = {
    "name": "base",
    "duration": "1 s",
    "topology": {"kind": "path", "rtt": "10 ms", "bottleneck": {"rate": "5 Mbit/s"}},
    "flows": [{"from": "h1", "to": "h2"}],
}


def drafted(sweep: Any = None, **more: Any) -> Draft:
    return read({**BASE, **({} if sweep is None else {"sweep": sweep}), **more})


def cells_of(draft: Draft) -> list[Any]:
    return [dict(cell) for cell in cells(checked(draft).sweep)]


def test_values_are_toml_or_texts_between_commas() -> None:
    given = [
        "flows.0.cc=cubic,bbr",
        "topology.bottleneck.buffer=0.5 bdp, 1 bdp",
        "flows.0.ecn=true,false",
        'topology.rtt=["20 ms","80 ms"],["10 ms"]',
        "record.x=1,2.5",
        "mixed=0.5,1 bdp",
        'range={ log = ["1 ms", "4 ms"], points = 3 }',
        'queue={ kind = "red" }',
    ]
    assert parse(given) == {
        "flows.0.cc": ["cubic", "bbr"],
        "topology.bottleneck.buffer": ["0.5 bdp", "1 bdp"],
        "flows.0.ecn": [True, False],
        "topology.rtt": [["20 ms", "80 ms"], ["10 ms"]],
        "record.x": [1, 2.5],
        "mixed": [0.5, "1 bdp"],
        "range": {"log": ["1 ms", "4 ms"], "points": 3},
        "queue": [{"kind": "red"}],
    }


def test_all_combinations_are_cells_the_last_key_fastest() -> None:
    assert cells_of(drafted({"a": [1, 2], "b": ["x", "y"]})) == [
        {"a": 1, "b": "x"},
        {"a": 1, "b": "y"},
        {"a": 2, "b": "x"},
        {"a": 2, "b": "y"},
    ]
    assert cells_of(drafted()) == [{}]


def test_zipped_keys_go_in_step_and_cases_have_names() -> None:
    cases = [{"name": "one", "c": 1}, {"name": "both", "c": 2, "d": 3}]
    assert cells_of(
        drafted({"a": [1, 2], "zip": [{"x": [1, 2], "y": {"linear": [3, 4], "step": 1}}], "cases": cases})
    ) == [
        {"a": a, "x": x, "y": x + 2, **case}
        for a in (1, 2)
        for x in (1, 2)
        for case in ({"case": "one", "c": 1}, {"case": "both", "c": 2, "d": 3})
    ]
    assert values({"case": "one", "c": 1}) == {"c": 1}


@pytest.mark.parametrize(
    ("written", "found"),
    [
        ({"log": ["0.1 bdp", "10 bdp"], "points": 5}, ["0.1 bdp", "0.3162 bdp", "1 bdp", "3.162 bdp", "10 bdp"]),
        ({"log": ["1000 ms", "10 ms"], "points": 3}, ["1000 ms", "100 ms", "10 ms"]),
        ({"log": [1, 30], "points": 9}, [1, 2, 4, 5, 8, 13, 20, 30]),
        ({"log": [0.5, 2], "points": 3}, [0.5, 1.0, 2.0]),
        ({"linear": [1, 30], "points": 30}, list(range(1, 31))),
        ({"linear": ["0 %", "1 %"], "points": 4}, ["0 %", "0.333333 %", "0.666667 %", "1 %"]),
        ({"linear": ["10Mbit/s", "30 Mbit/s"], "step": "10 Mbit/s"}, ["10 Mbit/s", "20 Mbit/s", "30 Mbit/s"]),
        ({"linear": [3, 1], "step": -1}, [3, 2, 1]),
        ({"linear": [0.1, 0.3], "step": 0.1}, [0.1, 0.2, 0.3]),
    ],
)
def test_a_range_is_a_list(written: Any, found: list[Any]) -> None:
    assert [cell["k"] for cell in cells_of(drafted({"k": written}))] == found


@pytest.mark.parametrize(
    ("sweep", "said"),
    [
        ({"a": []}, "sweep.a: empty"),
        ({"a": "cubic"}, 'sweep.a = "cubic": not a list'),
        ({"a": {"log": ["1 ms", "1 s"], "points": 3}}, "ends with different units"),
        ({"a": {"log": [0, 1], "points": 3}}, "log of what is not positive"),
        ({"a": {"log": [1, 2], "step": 1}}, "log with a step"),
        ({"a": {"log": [1, 2]}}, "not a number of points"),
        ({"a": {"log": [1, 2], "points": 1}}, "points from 2"),
        ({"a": {"linear": [1, 2]}}, "points and step"),
        ({"a": {"linear": [1, 30], "step": 2}}, "do not lead from end to end"),
        ({"a": {"linear": [1, 30], "step": -1}}, "do not lead from end to end"),
        ({"a": {"linear": ["1 ms", "3 ms"], "step": 1}}, "another unit"),
        ({"a": {"linear": ["fast", "slow"], "points": 2}}, "not a number"),
        ({"a": {"logs": [1, 2], "points": 2}}, "not a list of values"),
        ({"topology": {"rtt": ["1 ms"]}}, "hint: a key with dots stands in quotes"),
        ({"zip": [{"x": [1, 2], "y": [1]}]}, "x has 2, y has 1"),
        ({"zip": [{}]}, "sweep.zip.0"),
        ({"cases": [{"a": 1}]}, "sweep.cases.0.name: missing"),
        ({"cases": [{"name": "x", "a": 1}, {"name": "x", "a": 2}]}, "two cases are named 'x'"),
        ({"a": [1], "zip": [{"a": [1]}]}, "a is varied twice"),
    ],
)
def test_what_is_no_sweep_is_refused(sweep: Any, said: str) -> None:
    with pytest.raises(ScenarioError) as refused:
        checked(drafted(sweep))
    assert said in str(refused.value)


def test_the_command_line_adds_to_the_file_or_replaces() -> None:
    draft = varied(drafted({"a": [1, 2], "b": [1]}), ["b=5,6", "c=7"], 3)
    assert cells_of(draft) == [{"a": a, "b": b, "c": 7} for a in (1, 2) for b in (5, 6)]
    assert checked(draft).repeat.most == 3
    with pytest.raises(InputError, match="can't be varied by itself"):
        varied(drafted({"zip": [{"a": [1]}]}), ["a=2"], None)


def test_cells_can_be_given_one_by_one() -> None:
    pairs = [{"a": 1, "b": 10}, {"a": 2, "b": 20}]
    assert cells_of(varied(drafted(), pairs, None)) == pairs
    with pytest.raises(InputError, match="different keys"):
        varied(drafted(), [{"a": 1}, {"b": 1}], None)


@pytest.mark.parametrize("text", ["flows.0.cc", "flows.0.cc=", "=1"])
def test_a_key_without_values_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="--vary"):
        parse([text])


def test_a_key_is_varied_once() -> None:
    with pytest.raises(InputError, match="varied twice"):
        parse(["a=1", "a=2"])


def test_what_a_study_is() -> None:
    assert not is_study(drafted())
    assert not is_study(drafted(repeat=1))
    assert is_study(drafted(repeat=2))
    assert is_study(drafted({"a": [1]}))
    assert is_study(drafted(expect=[{"metric": "goodput", "min": 1}]))


def test_of_many_cells_a_sample_has_each_value() -> None:
    few = [{"a": i} for i in range(MOST_SAMPLED)]
    assert representative(few) == [*range(MOST_SAMPLED)]
    many = [{"a": i, "b": j, "c": j == 137} for i in range(50) for j in range(500)]
    found = representative(many)
    assert MOST_SAMPLED <= len(found) <= MOST_SAMPLED + 50 + 500 + 2
    for key in "abc":
        assert {many[index][key] for index in found} == {cell[key] for cell in many}
    assert found[-1] > len(many) - 50, "the last ones are seen, too"

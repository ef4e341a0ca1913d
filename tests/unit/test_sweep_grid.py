"""What a sweep varies, from the command line and from Python."""

from __future__ import annotations

from typing import Any

import pytest

from dumbbell.errors import InputError
from dumbbell.sweeps.grid import cells, parse


def test_values_are_toml_or_texts_between_commas() -> None:
    given = [
        "flows.0.cc=cubic,bbr",
        "topology.bottleneck.buffer=0.5 bdp, 1 bdp",
        "flows.0.ecn=true,false",
        'topology.rtt=["20 ms","80 ms"],["10 ms"]',
        "record.x=1,2.5",
        "mixed=0.5,1 bdp",
    ]
    assert parse(given) == {
        "flows.0.cc": ["cubic", "bbr"],
        "topology.bottleneck.buffer": ["0.5 bdp", "1 bdp"],
        "flows.0.ecn": [True, False],
        "topology.rtt": [["20 ms", "80 ms"], ["10 ms"]],
        "record.x": [1, 2.5],
        "mixed": [0.5, "1 bdp"],
    }


def test_all_combinations_are_cells_the_last_key_fastest() -> None:
    assert cells({"a": [1, 2], "b": ["x", "y"]}) == [
        {"a": 1, "b": "x"},
        {"a": 1, "b": "y"},
        {"a": 2, "b": "x"},
        {"a": 2, "b": "y"},
    ]
    assert cells({}) == [{}]


def test_cells_can_be_given_one_by_one() -> None:
    pairs = [{"a": 1, "b": 10}, {"a": 2, "b": 20}]
    assert cells(pairs) == pairs


@pytest.mark.parametrize(
    ("vary", "said"),
    [
        ({"a": []}, "vary a: no values"),
        ({"a": "cubic"}, "is no list"),
        ([], "no cells"),
        ([{"a": 1}, {"b": 1}], "different keys"),
        ({"seed": [1, 2]}, "repetition"),
    ],
)
def test_what_is_no_grid_is_refused(vary: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        cells(vary)


@pytest.mark.parametrize("text", ["flows.0.cc", "flows.0.cc=", "=1"])
def test_a_key_without_values_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="--vary"):
        parse([text])


def test_a_key_is_varied_once() -> None:
    with pytest.raises(InputError, match="varied twice"):
        parse(["a=1", "a=2"])

"""Varied keys as axes."""

from __future__ import annotations

from itertools import product
from types import SimpleNamespace
from typing import Any, cast

import polars as pl
import pytest

from dumbbell.report.study.axes import Axis, axes
from dumbbell.report.study.curves import curves
from dumbbell.scenario.study import Plot


def axis(values: list[Any], key: str = "topology.bottleneck.buffer") -> Axis:
    (found,) = axes(pl.DataFrame({"cell": range(len(values)), key: values}), [key])
    return found


@pytest.mark.parametrize(
    ("values", "kind", "unit", "at"),
    [
        (["0.1 bdp", "1 bdp", "10 bdp"], "log", "bdp", (0.1, 1, 10)),
        (["10 %", "20 %", "30 %"], "linear", "%", (10, 20, 30)),
        (["20 ms", "1 s", "100 ms"], "log", "ms", (20, 100, 1000)),
        (["10 Mbit/s", "1 Gbit/s"], "linear", "Mbit/s", (10, 1000)),
        (["1 kB", "1 MB", "10 kB"], "log", "kB", (1, 10, 1000)),
        ([1, 2, 5, 10, 20], "log", "", (1, 2, 5, 10, 20)),
        ([5, 10, 15, 20, 25, 30], "linear", "", (5, 10, 15, 20, 25, 30)),
        ([0, 1, 10, 100], "linear", "", (0, 1, 10, 100)),
        (["cubic", "bbr"], "category", "", (0, 1)),
        (["1 bdp", "20 ms"], "category", "", (0, 1)),
        ([True, False], "category", "", (0, 1)),
    ],
)
def test_values_stand_where_they_belong(values: list[Any], kind: str, unit: str, at: tuple[float, ...]) -> None:
    found = axis(values)
    assert (found.kind, found.unit) == (kind, unit)
    assert found.at == pytest.approx(at)
    assert [found.texts[place] for place in found.cells] == [
        str(value).lower() if isinstance(value, bool) else str(value) for value in values
    ]


def test_the_horizontal_axis_has_numbers_and_many_of_them() -> None:
    keys = ("flows.0.cc", "topology.rtt", "x.rate", "the.same")
    cells = [dict(zip(keys, values, strict=True)) for values in product("ab", (1, 2, 3), (4, 5), (1,))]
    frame = pl.DataFrame(cells).with_row_index("cell")
    found = axes(frame, list(cells[0]))
    assert [one.key for one in found] == ["topology.rtt", "x.rate", "flows.0.cc"]
    assert [one.label for one in found] == ["rtt", "rate", "algorithm"]


def test_what_the_name_of_a_case_says_is_no_axis_of_its_own() -> None:
    cases = [("RIP", ["rip"], None), ("BGP", ["bgp"], 65001)]
    rows = [(*case, rtt) for case in cases for rtt in (10, 20)]
    frame = pl.DataFrame(rows, schema=["case", "topology.routing", "r1.asn", "rtt"], orient="row").with_row_index(
        "cell"
    )
    assert [axis.key for axis in axes(frame, frame.columns[1:])] == ["rtt", "case"]


def test_labels_are_long_enough_to_tell_keys_apart() -> None:
    frame = pl.DataFrame({"cell": [0, 1], "a.up.rate": [1, 2], "a.down.rate": [1, 2]})
    assert {one.label for one in axes(frame, ["a.up.rate", "a.down.rate"])} == {"up.rate", "down.rate"}


def test_a_curve_s_label_names_an_algorithm_once() -> None:
    plots = cast(Any, SimpleNamespace(of=("reno", "bbr"), panels=(), described=Plot()))
    found = curves(plots, axis(["reno", "cubic"], "flows.0.cc"))
    assert [one.label for one in found["reno"]] == ["Reno", "Reno, algorithm CUBIC"]
    assert [one.label for one in found["bbr"]] == ["BBRv1, algorithm Reno", "BBRv1, algorithm CUBIC"]

"""The bundled cells: everything meets everything, and each is a scenario."""

from __future__ import annotations

from itertools import combinations, product

import pytest

from dumbbell.cc.bundled import BUNDLED, KERNEL
from dumbbell.errors import InputError
from dumbbell.plan.expand import expand
from dumbbell.plan.wire import document
from dumbbell.scenario import load
from validation import matrix
from validation.matrix import ALGORITHMS, Cell, mixes, quick, select

DIMENSIONS = {
    "rate_mbit": {10, 100},
    "rtt_ms": {10, 50, 100},
    "buffer_bdp": {0.3, 1.0, 4.0},
    "loss_percent": {0.0, 0.1, 1.0},
}
CELLS = matrix.matrix()


def values(cells: list[Cell], *dimensions: str) -> set[tuple[float, ...]]:
    return {tuple(getattr(cell, name) for name in dimensions) for cell in cells}


def test_enough_cells_and_none_twice() -> None:
    assert len(CELLS) >= 200
    assert len(set(CELLS)) == len({cell.name for cell in CELLS}) == len(CELLS)
    assert matrix.matrix() == CELLS


def test_each_algorithm_alone_with_itself_and_with_each_other() -> None:
    assert {"reno", "cubic", "bbr", "bbr2", "bbr3"} <= set(ALGORITHMS)
    names = list(ALGORITHMS)
    wanted = {(name,) for name in names} | {(name, name) for name in names} | set(combinations(names, 2))
    assert {cell.flows for cell in CELLS} == wanted == set(mixes())


@pytest.mark.parametrize("mix", mixes(), ids="-".join)
def test_each_mix_meets_each_pair_of_values(mix: tuple[str, ...]) -> None:
    """Each algorithm, alone and with each other one, therefore meets each value of each dimension."""
    mine = [cell for cell in CELLS if cell.flows == mix]
    for first, second in combinations(DIMENSIONS, 2):
        assert values(mine, first, second) == set(product(DIMENSIONS[first], DIMENSIONS[second]))


def test_all_paths_occur() -> None:
    assert values(CELLS, *DIMENSIONS) == set(product(*DIMENSIONS.values()))


def test_quick_is_a_part_with_all_algorithms_and_values() -> None:
    assert set(quick()) <= set(CELLS)
    for name in ALGORITHMS:
        mine = [cell for cell in quick() if cell.flows == (name,)]
        for dimension in ("rtt_ms", "buffer_bdp", "loss_percent"):
            assert {value for (value,) in values(mine, dimension)} == DIMENSIONS[dimension]
    assert values(quick(), "rate_mbit") == {(10,), (100,)}


@pytest.mark.parametrize("cell", CELLS, ids=lambda cell: str(cell.name))
def test_a_cell_is_a_scenario(cell: Cell) -> None:
    plan = document(expand(load(cell.scenario())))
    bottleneck = next(link for link in plan["links"] if link["name"] == "bottleneck")
    assert plan["name"] == cell.name
    assert plan["duration_ns"] == pytest.approx(cell.duration_s * 1e9)
    assert bottleneck["rate_bps"] == cell.rate_mbit * 1_000_000
    bdp = cell.rate_mbit * cell.rtt_ms * 125
    assert bottleneck["buffer"]["bytes"] == max(int(cell.buffer_bdp * bdp), 1514)
    assert bool(bottleneck["loss_before"] or bottleneck["loss_after"]) == (cell.loss_percent > 0)
    assert bool(bottleneck["queue"]["ce_threshold"]) == ("dctcp" in cell.flows)
    assert [flow["workload"]["cc"] for flow in plan["flows"]] == [ALGORITHMS[name] for name in cell.flows]
    assert {flow["from"] for flow in plan["flows"]} == {f"s{i + 1}" for i in range(len(cell.flows))}
    assert (plan["record"]["packets"], plan["record"]["acks"]) == (False, "off")


def test_long_enough_for_what_comes_late() -> None:
    for cell in CELLS:
        longest_rtt_s = cell.rtt_ms / 1e3 * (1 + cell.buffer_bdp)
        assert cell.duration_s > 10 + 1, "BBRv1 looks for the minimum of the RTT after 10 s, for 0.2 s and a round"
        assert cell.duration_s >= 30 * longest_rtt_s


def test_algorithms_are_ours_or_the_kernels() -> None:
    assert set(ALGORITHMS.values()) <= {*BUNDLED, *KERNEL}


def test_selection_by_name() -> None:
    assert select(CELLS, []) == CELLS
    assert {cell.flows for cell in select(CELLS, ["bbr_*", "reno-reno_*"])} == {("bbr",), ("reno", "reno")}
    with pytest.raises(InputError, match="--cells bbr9"):
        select(CELLS, ["bbr_*", "bbr9*"])

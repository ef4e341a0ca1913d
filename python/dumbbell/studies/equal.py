"""Cells of a study whose plans are equal: the values that are varied make no difference there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from dumbbell.counts import listed
from dumbbell.scenario.source import show
from dumbbell.scenario.study import CASE
from dumbbell.studies.cells import Cell, keys, written
from dumbbell.studies.planning import Planned

MOST: Final = 10
"""The most sentences: a grid may have thousands of equal cells."""


def equal_cells(plans: Mapping[int, Planned]) -> list[list[int]]:
    """Groups of cells with equal plans. `plans`: of each cell that is looked at."""
    groups: dict[str, list[int]] = {}
    for cell, plan in plans.items():
        groups.setdefault(plan.run_ids[0], []).append(cell)
    return [group for group in groups.values() if len(group) > 1]


def sentences(cells: Sequence[Cell], groups: Sequence[Sequence[int]]) -> list[str]:
    """Says which settings are equal: `topology.rtt = "20 ms" and "0.02 s" make the same plan (cells 0 and 1)`."""
    found: dict[str, list[Sequence[int]]] = {}
    for group in groups:
        found.setdefault(_values([cells[cell] for cell in group]), []).append(group)
    said = [f"{values} make the same plan ({_cells(some)})" for values, some in found.items()]
    more = [f"and {len(said) - MOST:,} more such sets of values"] if len(said) > MOST else []
    return [*said[:MOST], *more]


def _values(cells: Sequence[Cell]) -> str:
    """The key that differs among cells, and its values; of several keys, each cell's values."""
    differing = [key for key in keys(cells) if len({show(cell.get(key)) for cell in cells}) > 1]
    if CASE in differing:
        differing = [CASE]
    if len(differing) == 1:
        (key,) = differing
        return f"{key} = {listed([show(cell[key]) if key in cell else 'none' for cell in cells])}"
    return listed([f"[{written({key: cell[key] for key in differing if key in cell})}]" for cell in cells])


def _cells(groups: Sequence[Sequence[int]]) -> str:
    """`cells 0 and 1; 4 and 5`; the first three groups of many."""
    said = "; ".join(listed([str(cell) for cell in group]) for group in groups[:3])
    return f"cells {said}" + (f"; and {len(groups) - 3:,} more groups" if len(groups) > 3 else "")

"""How findings are judged: what is paired, what an interval is of, and what one run can't tell."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from synthetic_study import Synthetic

from dumbbell import Study
from dumbbell.reproduce import rincao_findings as rincao
from dumbbell.reproduce.figures import Figures

Cell = Mapping[str, Any]


@dataclass
class Seeded(Synthetic):
    """Each run's flows get what `mbit` says of its cell and repetition."""

    ccs: tuple[str, ...] = ("cubic",)
    spread: float = 0
    mbit: Callable[[Cell, int], float] = lambda cell, repetition: 10.0

    def _flows(self, cell: Cell, index: int, repetition: int) -> list[dict[str, Any]]:
        self.goodput_mbit = lambda cell, _: self.mbit(cell, repetition)
        return super()._flows(cell, index, repetition)


def test_changes_are_of_the_same_seed_though_a_run_is_missing(tmp_path: Path) -> None:
    """With 5 connections seeds 1 to 3 lose 10, 50 and 20 %, with 10 twice as much; seed 1 has no run with 10."""
    cells = [{rincao.CONNECTIONS: n, rincao.UDP: udp} for n in (5, 10) for udp in (rincao.LEAST, rincao.MOST)]
    loss = {5: (0.1, 0.5, 0.2), 10: (0.2, 0.9, 0.4)}

    def mbit(cell: Cell, repetition: int) -> float:
        return 10 * (1 - loss[cell[rincao.CONNECTIONS]][repetition] * (cell[rincao.UDP] == rincao.MOST))

    study = Study(Seeded(cells=cells, repeat=3, failed=(2,), mbit=mbit).write(tmp_path / "study"))
    found = rincao._mean_change(Figures(study), "cubic")
    assert found is not None
    assert (found.value, found.n) == (pytest.approx(-(0.7 + 0.3) / 2, rel=1e-3), 2)

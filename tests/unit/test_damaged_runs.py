"""Any damage to a run's or a study's documents is a row that says so, or an error of ours; it breaks no other run."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import NamedTuple

import pytest
from serving import Served, serving

from tests import damaged_runs as damaged


class Seeds(NamedTuple):
    """A workspace with a whole run and a whole study, which others are copied from."""

    served: Served
    run: Path
    study: Path


@pytest.fixture(scope="module")
def seeds(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Seeds]:
    root = tmp_path_factory.mktemp("workspace")
    run, study = damaged.made_run(root / "runs"), damaged.made_study(root / "studies")
    with serving(root) as served:
        yield Seeds(served, run, study)


@pytest.mark.parametrize("seed", range(30))
def test_a_damaged_run_breaks_nothing(seeds: Seeds, seed: int) -> None:
    damaged.try_run(seeds.run, seeds.served.ask, Random(seed), heavy=seed % 10 == 0)


@pytest.mark.parametrize("seed", range(10))
def test_a_damaged_study_breaks_nothing(seeds: Seeds, seed: int) -> None:
    damaged.try_study(seeds.study, seeds.served.ask, Random(seed), heavy=seed % 10 == 0)

"""About 6,000 calls on damaged runs and studies; tests/unit has the first seeds of the same."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import NamedTuple

import pytest

from tests import damaged_runs as damaged
from tests.unit.serving import Served, serving

pytestmark = [pytest.mark.thorough, pytest.mark.exhaustive, pytest.mark.xdist_group("damaged")]


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


@pytest.mark.parametrize("part", range(8))
def test_no_damage_to_a_run_is_an_exception(seeds: Seeds, part: int) -> None:
    for seed in range(100 + 40 * part, 140 + 40 * part):
        damaged.try_run(seeds.run, seeds.served.ask, Random(seed), heavy=seed % 6 == 0)


@pytest.mark.parametrize("part", range(8))
def test_no_damage_to_a_study_is_an_exception(seeds: Seeds, part: int) -> None:
    for seed in range(100 + 20 * part, 120 + 20 * part):
        damaged.try_study(seeds.study, seeds.served.ask, Random(seed), heavy=seed % 6 == 0)

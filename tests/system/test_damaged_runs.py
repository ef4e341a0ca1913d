"""About 6,000 calls on damaged runs and studies; tests/unit has the first seeds of the same."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import pytest

from tests import damaged_runs as damaged
from tests.damaged_runs import Seeds

pytestmark = [pytest.mark.thorough, pytest.mark.exhaustive, pytest.mark.xdist_group("damaged")]


@pytest.fixture(scope="module")
def seeds(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Seeds]:
    with damaged.seeds(tmp_path_factory.mktemp("workspace")) as found:
        yield found


@pytest.mark.parametrize("part", range(8))
def test_no_damage_to_a_run_is_an_exception(seeds: Seeds, part: int) -> None:
    for seed in range(100 + 40 * part, 140 + 40 * part):
        damaged.try_run(seeds.run, seeds.served.ask, Random(seed), heavy=seed % 6 == 0)


@pytest.mark.parametrize("part", range(8))
def test_no_damage_to_a_study_is_an_exception(seeds: Seeds, part: int) -> None:
    for seed in range(100 + 20 * part, 120 + 20 * part):
        damaged.try_study(seeds.study, seeds.served.ask, Random(seed), heavy=seed % 6 == 0)

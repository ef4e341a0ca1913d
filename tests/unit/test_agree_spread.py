"""The spread that the seed alone causes, by the simulator."""

from __future__ import annotations

from pathlib import Path

import pytest

from dumbbell.agree.comparison import compare
from dumbbell.agree.figures import JAIN, RTT_P50, TOTAL_GOODPUT, What
from dumbbell.agree.spread import Range, Spread, spread
from dumbbell.engines.names import EMULATE, SIMULATE
from dumbbell.scenario import load

ENGINES = (EMULATE, SIMULATE)

TWO = {
    "name": "two",
    "duration": "2 s",
    "topology": {
        "kind": "dumbbell",
        "pairs": 2,
        "rtt": "20 ms",
        "bottleneck": {"rate": "5 Mbit/s", "buffer": "1 bdp", "loss": "1 %"},
    },
    "flows": [{"from": f"s{i}", "to": f"r{i}", "cc": "cubic"} for i in (1, 2)],
}


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Spread:
    return spread(load(TWO), 30, tmp_path_factory.mktemp("seeds"), SIMULATE)


def test_each_target_has_its_range(found: Spread) -> None:
    assert set(found.ranges) == {(TOTAL_GOODPUT, ""), (JAIN, ""), (RTT_P50, "f1"), (RTT_P50, "f2")}
    assert {one.n for one in found.ranges.values()} == {30}
    goodput, jain, rtt = (found.ranges[key] for key in ((TOTAL_GOODPUT, ""), (JAIN, ""), (RTT_P50, "f1")))
    # Losses at random: the seeds differ, and none carries more than the link.
    assert 1 < goodput.low < goodput.high < 5
    assert 0.5 < jain.low < jain.high <= 1
    assert 20 <= rtt.low < rtt.high < 45


def test_more_seeds_add_to_those_on_disk(found: Spread, tmp_path: Path) -> None:
    first = spread(load(TWO), 5, tmp_path, SIMULATE)
    shards = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.parquet")}
    assert spread(load(TWO), 5, tmp_path, SIMULATE) == first
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*.parquet")} == shards
    assert spread(load(TWO), 30, tmp_path, SIMULATE) == found


def test_a_mean_inside_the_range_is_chance() -> None:
    ranges = Spread({(TOTAL_GOODPUT, ""): Range(8.0, 9.0, 30), (RTT_P50, "f1"): Range(20.0, 30.0, 30)})
    goodput, rtt = What("run", "", TOTAL_GOODPUT, "Mbit/s"), What("flow", "f1", RTT_P50, "ms")
    inside, outside = (
        compare(ENGINES, [({goodput: 8.5, rtt: 31.0}, {goodput: 9.5, rtt: 25.0})] * 2),
        compare(ENGINES, []),
    )
    assert ranges.is_chance(inside, TOTAL_GOODPUT) is True
    assert ranges.is_chance(inside, RTT_P50, "f1") is False
    assert ranges.is_chance(inside, JAIN) is None
    assert ranges.is_chance(outside, TOTAL_GOODPUT) is None

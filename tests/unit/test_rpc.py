"""Requests and answers, from the scenario to the report: in simulation, and in real time against it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest
import tomlkit

import dumbbell
from dumbbell.errors import ScenarioError
from dumbbell.records.schema import polars_schema
from dumbbell.report.render import tables
from dumbbell.report.series import build
from dumbbell.scenario.traffic.kinds.rpc import PUBLISHED, mean_bytes, points
from dumbbell.workloads import CdfSizes

RPC = {"id": "rpc", "from": "s1", "to": "r1", "protocol": "rpc"}


def scenario(*flows: dict[str, Any], duration: str = "5 s") -> dict[str, Any]:
    bottleneck = {"rate": "100 Mbit/s", "buffer": "2 bdp"}
    topology = {"kind": "dumbbell", "pairs": 2, "rtt": "20 ms", "bottleneck": bottleneck}
    return {"name": "rpc", "duration": duration, "topology": topology, "flows": list(flows)}


def run(where: Path, given: dict[str, Any], report: bool = False) -> dumbbell.Run:
    found = dumbbell.run(given, directory=where, engine="simulate", report=report)
    assert isinstance(found, dumbbell.Run)
    return found


def requests(found: dumbbell.Run) -> pl.DataFrame:
    return found.scan("requests").collect()


def test_figures_are_quantiles_of_the_requests(tmp_path: Path) -> None:
    bulk = {"from": "s2", "to": "r2", "stop": "1 s"}
    found = run(tmp_path, scenario({**RPC, "answer": "hadoop", "interval": "50 ms"}, bulk))
    assert dict(found.scan("requests").collect_schema()) == polars_schema("requests")
    rows = requests(found)
    done = rows.drop_nulls("fct_ns")
    figures = found.summary["flows"][0]["rpc"]
    assert figures["completed"] == done.height > 60
    for share in (50, 95, 99):
        linear = {"quantile": share / 100, "interpolation": "linear"}
        assert figures[f"fct_p{share}_ms"] == pytest.approx((done["fct_ns"] / 1e6).quantile(**linear))
        assert figures[f"slowdown_p{share}"] == pytest.approx(done["slowdown"].quantile(**linear))
    assert (done["fct_ns"] >= done["ideal_ns"]).all()
    assert found.verdict == "valid"
    series = build(found)
    assert [panel.key for panel in series.panels].count("rpc_fct_ms") == 1
    own = str(tables.flows(found, series.groups)).partition('aria-label="Requests"')[2]
    shown = [f"{figures['completed']}", f"{figures['fct_p99_ms']:.1f}", f"{figures['slowdown_p50']:.3g}"]
    assert all(f">{figure}</td>" in own for figure in shown)
    assert "f2" not in own, "a flow of another kind"


@pytest.mark.parametrize("name", PUBLISHED)
def test_sizes_are_drawn_as_their_table_says(tmp_path: Path, name: str) -> None:
    # Small loads: a request's size is recorded whether or not it is answered.
    flow = {**RPC, "connections": 4, "request": name, "answer": "1 B", "interval": "1 ms"}
    sizes = requests(run(tmp_path, scenario(flow)))["request_bytes"]
    assert sizes.len() > 15_000
    for point in points(name):
        # Standard deviation of a share of 15,000 draws: 0.4 % at most.
        assert (sizes <= point.bytes).mean() == pytest.approx(point.share, abs=0.016), point
    # The integral of a piecewise linear distribution.
    assert sizes.mean() == pytest.approx(mean_bytes(CdfSizes(points=points(name))), rel=0.1)


@pytest.mark.parametrize(
    ("drawn", "quantiles"),
    [
        # -ln(1 - p) times the mean; median times e^(sigma z); least times (1 - p)^(-1/alpha).
        ({"distribution": "exponential", "mean": "10 kB"}, {0.5: 6931, 0.9: 23_026}),
        ({"distribution": "lognormal", "median": "10 kB", "sigma": 1}, {0.5: 10_000, 0.9: 36_022}),
        ({"distribution": "pareto", "least": "1 kB", "alpha": 1.2}, {0.5: 1782, 0.9: 6813}),
    ],
)
def test_distributions_have_their_quantiles(
    tmp_path: Path, drawn: dict[str, Any], quantiles: dict[float, float]
) -> None:
    flow = {**RPC, "connections": 4, "request": drawn, "answer": "1 B", "interval": "1 ms"}
    sizes = requests(run(tmp_path, scenario(flow)))["request_bytes"]
    for share, size in quantiles.items():
        assert sizes.quantile(share) == pytest.approx(size, rel=0.05)


def test_sizes_may_come_from_a_file_of_the_user(tmp_path: Path) -> None:
    (tmp_path / "mine.csv").write_text("# measured\nbytes,share\n1000,0\n2000,0.25\n2000,0.75\n10000,1\n")
    answer = {"distribution": "table", "file": "mine.csv"}
    (tmp_path / "mine.toml").write_text(tomlkit.dumps(scenario({**RPC, "answer": answer, "interval": "1 ms"})))
    found = dumbbell.run(tmp_path / "mine.toml", directory=tmp_path / "run", engine="simulate", report=False)
    assert isinstance(found, dumbbell.Run)
    sizes = requests(found)["answer_bytes"]
    assert sizes.len() > 4000
    # Standard deviation of a share of 4000 draws: 0.8 %. Half of all draws are the step.
    assert [(sizes < 2000).mean(), (sizes == 2000).mean()] == pytest.approx([0.25, 0.5], abs=0.03)
    assert (sizes.min() or 0) >= 1000  # type: ignore[operator]
    assert sizes.quantile(0.875) == pytest.approx(6000, rel=0.05)
    # The run has a copy of the file: it can be repeated without the user's.
    (tmp_path / "mine.csv").unlink()
    again = dumbbell.expand(dumbbell.load(found.directory / "scenario.toml"))
    assert again.flows == found.plan.flows


def test_a_load_is_the_rate_of_data_and_seeds_decide(tmp_path: Path) -> None:
    flow = {**RPC, "connections": 4, "request": "1 kB", "answer": "9 kB", "load": "8 Mbit/s"}
    given = scenario(flow, duration="10 s")
    first, again = (run(tmp_path / name, given) for name in "ab")
    rows = requests(first)
    # 4 x 8 Mbit/s of 10 kB: 400 a second. Standard deviation of 4000 Poisson arrivals: 63.
    assert rows.height == pytest.approx(4000, abs=4 * 63)
    assert rows.equals(requests(again))
    other = requests(run(tmp_path / "c", {**given, "seed": 2}))
    assert rows["time_ns"].head(50).to_list() != other["time_ns"].head(50).to_list()


def test_a_closed_loop_has_so_many_requests_open(tmp_path: Path) -> None:
    rows = requests(run(tmp_path, scenario({**RPC, "outstanding": 3, "think": "50 ms", "requests": 30})))
    assert rows["number"].sort().to_list() == list(range(30))
    ends = rows["time_ns"] + rows["fct_ns"]
    for time in rows["time_ns"]:
        assert ((rows["time_ns"] <= time) & (ends > time)).sum() <= 3
    # Three loops of a round trip and a pause each.
    assert (ends.max() - rows["time_ns"].min()) / 1e6 == pytest.approx(10 * 20.9 + 9 * 50, rel=0.05)


@pytest.mark.parametrize(
    ("keys", "key", "words"),
    [
        ({"answer": "websurch"}, "answer", "websearch"),
        ({"answer": {"distribution": "pareto", "least": "1 kB"}}, "answer", "alpha = 1.2"),
        ({"answer": {"distribution": "table"}}, "answer", 'file = "sizes.csv"'),
        ({"answer": {"distribution": "table", "file": "nowhere.csv"}}, "answer", "no such file"),
        ({"interval": "1 ms", "load": "1 Mbit/s"}, "load", "leave interval out"),
        ({"interval": "1 ms", "outstanding": 2}, "outstanding", "closed loop"),
        ({"pattern": "fixed"}, "pattern", 'interval = "10 ms"'),
        ({"load": "1 Mbit/s", "answer": {"distribution": "pareto", "least": "1 kB", "alpha": 1}}, "answer", "mean"),
        ({"outstanding": 0}, "outstanding", "1"),
    ],
)
def test_what_is_not_possible_is_refused_with_an_example(keys: dict[str, Any], key: str, words: str) -> None:
    with pytest.raises(ScenarioError) as refusal:
        dumbbell.expand(dumbbell.load(scenario({**RPC, **keys})))
    assert f"flows.0.{key}" in str(refusal.value) or f"flows[0].{key}" in str(refusal.value)
    assert words in str(refusal.value)

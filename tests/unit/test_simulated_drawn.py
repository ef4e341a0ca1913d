"""Drawn networks on the simulation engine: packets take the plan's paths, and each run gives the same tables."""

import tomllib
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from drawn import base
from graphs import diamond, event, flow, graph, link, narrow

import dumbbell
from dumbbell.engines.simulate.engine import SimulateEngine
from dumbbell.errors import ScenarioError
from dumbbell.plan.expand import expand
from dumbbell.plan.network import network
from dumbbell.scenario.file.loading import load


@pytest.fixture(autouse=True)
def no_report(monkeypatch: pytest.MonkeyPatch) -> None:
    """These tests write no report; pages have separate tests."""
    monkeypatch.setattr(dumbbell.Run, "report", lambda run: run.directory / "report.html")


def simulated(scenario: dict[str, Any], folder: Path) -> dumbbell.Run:
    run = dumbbell.run(scenario, (), folder, engine="simulate")
    assert isinstance(run, dumbbell.Run)
    return run


NETWORKS: dict[str, dict[str, Any]] = {
    "graph": base(),
    "star": {
        "topology": {"kind": "star", "size": 4, "link": {"rate": "20 Mbit/s", "delay": "2 ms"}},
        "flows": [{"from": "h1", "to": "h2"}, {"from": "h3", "to": "h2", "cc": "bbr"}],
    },
    "parking-lot": {
        "topology": {"kind": "parking-lot", "bottleneck": {"rate": "10 Mbit/s", "delay": "5 ms"}},
        "flows": [{"from": "s0", "to": "r0"}, {"from": "s1", "to": "r1"}, {"from": "s3", "to": "r3"}],
    },
    "fat-tree": {
        "topology": {"kind": "fat-tree", "k": 4, "link": {"rate": "50 Mbit/s", "delay": "100 us"}},
        "flows": [{"from": "h1-1-1", "to": "h4-2-2"}, {"connections": 4, "from": "h2-*", "to": "h3-1-1"}],
    },
}


@pytest.mark.parametrize("name", NETWORKS)
def test_a_run_is_valid_and_the_same_each_time(name: str, tmp_path: Path) -> None:
    scenario = {"name": name, "duration": "2 s", **NETWORKS[name]}
    first, second = (simulated(scenario, tmp_path / folder) for folder in ("a", "b"))
    assert first.verdict == "valid", first.summary["reasons"]
    assert first.flows["received_bytes"].min() > 0  # type: ignore[operator]
    for table in ("packets", "samples", "links"):
        assert (first.directory / f"{table}.parquet").read_bytes() == (
            second.directory / f"{table}.parquet"
        ).read_bytes()


def test_a_packet_has_a_row_on_each_limited_link_of_its_path(tmp_path: Path) -> None:
    run = simulated({"name": "x", "duration": "2 s", **NETWORKS["parking-lot"]}, tmp_path)
    assert run.packets is not None
    links = run.packets.filter(pl.col("flow") == "f1").group_by("link").len().sort("link")
    assert links["link"].cast(str).to_list() == [
        f"bottleneck{i}{direction}" for i in (1, 2, 3) for direction in ("", "-reverse")
    ]


def test_routes_that_lead_elsewhere_are_refused() -> None:
    found = base()
    found["topology"]["nodes"]["r1"] = {"kind": "router", "routes": ["default via 10.0.0.6"]}
    scenario = load(found)
    (problem,) = SimulateEngine().check(scenario, expand(scenario))
    assert problem.key == "topology.nodes.r1.routes"
    assert "shortest paths" in problem.what


def taken(run: dumbbell.Run) -> dict[str, set[str]]:
    """Flow -> the links that its packets took."""
    assert run.packets is not None
    found = run.packets.select(pl.col("flow", "link").cast(str)).unique()
    return {str(flow): set(rows["link"]) for (flow,), rows in found.group_by("flow")}


def test_flows_choose_among_paths_of_equal_cost(tmp_path: Path) -> None:
    scenario = tomllib.loads(diamond(64, duration="200 ms"))
    run = simulated(scenario, tmp_path / "1")
    limited = {"upper", "lower"}
    assert taken(run) == {
        flow.id: limited & {link.name for link in network(run.plan).there(flow)} for flow in run.plan.flows
    }
    assert all(len(links) == 1 for links in taken(run).values())
    assert set.union(*taken(run).values()) == limited
    assert taken(simulated({**scenario, "seed": 2}, tmp_path / "2")) != taken(run), "another seed chooses anew"


def test_flows_converge_to_shares_of_their_own_bottleneck(tmp_path: Path) -> None:
    """The mean of both rates, 15 Mbit/s, is no flow's fair share."""
    text = graph(
        link("h1", "r1"),
        link("r1", "h2", rate="10 Mbit/s", delay="5 ms"),
        link("h3", "r1"),
        link("r1", "h4", rate="20 Mbit/s", delay="5 ms"),
        flow("h1", "h2"),
        flow("h3", "h4"),
        duration="12 s",
    )
    run = simulated(tomllib.loads(text), tmp_path)
    assert run.flows["bottleneck"].to_list() == ["r1-h2", "r1-h4"]
    assert run.flows["converged"].to_list() == [True, True]


@pytest.mark.parametrize("between", ["router", "host"])
def test_packets_are_as_long_as_the_narrowest_link_allows(between: str, tmp_path: Path) -> None:
    run = simulated(tomllib.loads(narrow(between)), tmp_path)
    assert run.verdict == "valid", run.summary["reasons"]
    assert set(run.samples["snd_mss_bytes"].drop_nulls()) == {948}
    assert run.packets is not None
    packets = run.packets.filter(pl.col("link") == "core").group_by("flow").agg(pl.col("size_bytes").max())
    assert dict(packets.iter_rows()) == {"f1": 1014, "f2": 1014, "f3": 942}
    assert run.flows.filter(pl.col("id") == "f1")["received_bytes"].item() == 300_000


def test_a_pulled_cable_between_routers_is_part_of_a_simulation_and_one_at_a_host_is_not(tmp_path: Path) -> None:
    def pulled(name: str) -> dict[str, Any]:
        text = graph(
            link("h1", "r1", "access", delay="1 ms"),
            link("r1", "r2", "core", rate="10 Mbit/s", delay="20 ms"),
            link("r2", "h2"),
            flow("h1", "h2"),
            *(event("1 s", link=one, down_for="500 ms", carrier="lost") for one in (name, f"{name}-reverse")),
            duration="3 s",
        )
        return tomllib.loads(text)

    run = simulated(pulled("core"), tmp_path)
    assert run.verdict == "valid", run.summary["reasons"]
    assert run.packets is not None
    core = run.packets.filter(pl.col("link") == "core")
    # Those that are on the cable as it is pulled come to its end, and nobody takes them.
    untaken = core.filter(pl.col("fate") == "delivered", pl.col("delivery_ns").is_between(1e9, 1.5e9))
    assert untaken.height > 10
    later = run.samples.filter(pl.col("time_ns") > 1.5e9)["received_bytes"]
    assert later.max() > later.min()  # type: ignore[operator]
    with pytest.raises(ScenarioError, match="a host's TCP notices that its interface has no carrier"):
        simulated(pulled("access"), tmp_path)

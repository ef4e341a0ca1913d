"""Networks from GraphML files."""

import time
from math import acos, cos, radians, sin
from pathlib import Path
from typing import Any

import networkx
import pytest

from dumbbell.errors import ScenarioError
from dumbbell.plan.expand import expand
from dumbbell.plan.types import Plan
from dumbbell.scenario.file.loading import load
from dumbbell.scenario.file.writing import write
from dumbbell.scenario.topology import graphml
from dumbbell.scenario.topology.cables import CableKeys
from dumbbell.scenario.traces import File, LineError
from dumbbell.server.drawing import draw
from dumbbell.server.messages import Spot

ZOO = """\
<?xml version="1.0" encoding="utf-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
  <key attr.name="label" attr.type="string" for="node" id="d1" />
  <key attr.name="Latitude" attr.type="double" for="node" id="d2" />
  <key attr.name="Longitude" attr.type="double" for="node" id="d3" />
  <key attr.name="LinkSpeedRaw" attr.type="double" for="edge" id="d4" />
  <graph edgedefault="undirected">
    <node id="0">
      <data key="d1">Vienna</data><data key="d2">48.20849</data><data key="d3">16.37208</data>
    </node>
    <node id="1">
      <data key="d1">Graz (Technical University)</data><data key="d2">47.06667</data><data key="d3">15.45</data>
    </node>
    <node id="2"><data key="d1">Graz (Technical School)</data></node>
    <edge source="0" target="1"><data key="d4">10000000.0</data></edge>
    <edge source="0" target="1"><data key="d4">20000000.0</data></edge>
    <edge source="1" target="2" />
    <edge source="2" target="2" />
  </graph>
</graphml>
"""
"""Three nodes as the Topology Zoo has them, two links between two of them, and one without data."""


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("zoo.graphml").write_text(ZOO)


def scenario(from_: str = "h-Vienna", to: str = "h-Graz-Technica", **topology: Any) -> dict[str, Any]:
    topology = {"kind": "graph", "file": "zoo.graphml", **topology}
    return {"name": "x", "duration": "1 s", "topology": topology, "flows": [{"from": from_, "to": to}]}


def links(plan: Plan) -> dict[str, tuple[int | None, int]]:
    """Directions from the first node of each link -> rate, delay."""
    return {link.name: (link.rate_bps, link.delay_ns) for link in plan.links[::2]}


def test_a_file_of_the_topology_zoo() -> None:
    found = load(scenario())
    assert found.topology.hosts == ("h-Vienna", "h-Graz-Technica", "h-Graz-Techni-2")
    # The spherical law of cosines, on a sphere of 6371 km, at 200,000 km/s: 145 km.
    (north, west), (south, east) = ((radians(48.20849), radians(16.37208)), (radians(47.06667), radians(15.45)))
    angle = acos(sin(north) * sin(south) + cos(north) * cos(south) * cos(west - east))
    delay = links(expand(found))["Vienna-Graz-Technica"][1]
    assert delay == pytest.approx(6371 * angle / 200_000 * 1e9, abs=1)
    assert links(expand(found)) == {
        "Vienna-Graz-Technica": (10_000_000, delay),
        "Vienna-Graz-Technica-2": (20_000_000, delay),
        "Graz-Technica-Graz-Techni-2": (None, 0),
        "h-Vienna-Vienna": (None, 0),
        "h-Graz-Technica-Graz-Technica": (None, 0),
        "h-Graz-Techni-2-Graz-Techni-2": (None, 0),
    }
    assert found.topology.drawing.notes == [
        "a link of Graz-Techni-2 to itself is left out",
        "the file says no rate of 1 of its 4 links, which have no limit: link = { rate = ... }",
        "the file says no delay of 1 of its 4 links, which have no delay: link = { delay = ... }",
    ]


def test_keys_of_the_scenario_win_and_nodes_are_added() -> None:
    more = {
        "link": {"rate": "5 Mbit/s", "queue": "codel"},
        "nodes": {"h1": {}},
        "links": [{"between": ["h1", "Vienna"], "rate": "1 Mbit/s"}],
    }
    plan = expand(load(scenario("h1", **more)))
    assert {rate for rate, _ in links(plan).values()} == {5_000_000, None, 1_000_000}
    assert links(plan)["h1-Vienna"] == (1_000_000, 0)


def test_a_file_that_networkx_writes() -> None:
    graph = networkx.Graph()
    graph.add_node("a", kind="host")
    graph.add_node("b", kind="host")
    graph.add_node("s", kind="switch")
    graph.add_edge("a", "s", rate="10 Mbit/s", delay="2 ms", cost=3)
    graph.add_edge("s", "b")
    networkx.write_graphml(graph, "own.graphml")
    plan = expand(load(scenario("a", "b", file="own.graphml")))
    assert [node.name for node in plan.nodes] == ["a", "b", "s"]
    assert (plan.links[0].rate_bps, plan.links[0].delay_ns, plan.links[0].cost) == (10_000_000, 2_000_000, 3)


@pytest.mark.parametrize("text", ["", "<html></html>", "<graphml><graph>"])
def test_what_is_no_graphml_is_refused(text: str) -> None:
    Path("zoo.graphml").write_text(text)
    with pytest.raises(ScenarioError, match=r"topology.file = \"zoo.graphml\": zoo.graphml: not GraphML"):
        load(scenario())


HEAD = '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">'
LABEL = '<key id="d" for="node" attr.name="label" attr.type="string">{}</key><graph edgedefault="undirected">'


@pytest.mark.parametrize(
    "head",
    [
        "<!DOCTYPE x [<!ENTITY a '" + "x" * 80_000 + "'>]>",
        "<!DOCTYPE x [<!ENTITY % a '<!ENTITY b \"x\">'>%a;]>",
        "<!DOCTYPE x [<!ATTLIST node label CDATA '" + "x" * 80_000 + "'>]>",
        " " * (8 << 20),
    ],
)
def test_a_file_that_stands_for_a_very_large_one_is_refused(head: str) -> None:
    with pytest.raises(LineError, match=r"declares parts|characters"):
        graphml.parsed(head + HEAD + LABEL.format("") + "</graph></graphml>")


def test_labels_that_all_nodes_share_take_a_time_like_the_size_of_the_file() -> None:
    same = "".join(f'<node id="{i}"/>' for i in range(10_000))
    twice = "".join(f'<node id="{i}"><data key="d">begins-{i // 2:05}</data></node>' for i in range(10_000))
    for label, nodes in (("x", same), ("-" * 100_000, same), ("", twice)):
        text = HEAD + LABEL.format(f"<default>{label}</default>") + nodes + "</graph></graphml>"
        began = time.process_time()
        drawn = graphml.draw(File("x.graphml", text), CableKeys())
        assert len(drawn.nodes) == 20_000
        assert time.process_time() - began < 10


@pytest.mark.parametrize("value", ["inf", "nan", "text", "-1", "1e400", "0", "true", "9" * 400, "10"])
@pytest.mark.parametrize("kind", ["double", "long", "string", "boolean"])
@pytest.mark.parametrize("key", ["LinkSpeedRaw", "rate", "delay", "cost"])
def test_a_link_that_no_scenario_has_is_refused(key: str, kind: str, value: str) -> None:
    text = ZOO.replace('attr.name="LinkSpeedRaw" attr.type="double"', f'attr.name="{key}" attr.type="{kind}"')
    Path("zoo.graphml").write_text(text.replace("10000000.0", value).replace("20000000.0", value))
    keys = {"topology.file"}
    try:
        expand(load(scenario()))
    except ScenarioError as error:
        keys = {problem.key for problem in error.problems}
    assert keys == {"topology.file"}


def test_a_run_keeps_a_copy(tmp_path: Path) -> None:
    found = load(scenario())
    (tmp_path / "run").mkdir()
    write(found, tmp_path / "run")
    assert (tmp_path / "run" / "traces" / "zoo.graphml").read_text() == ZOO
    assert expand(load(tmp_path / "run" / "scenario.toml")) == expand(found)


def test_a_page_gets_the_places_of_a_file() -> None:
    """Hosts that are added and nodes without coordinates have none."""
    values = scenario()
    drawn = draw(values, Path(), load(values), [])
    assert drawn is not None
    places = {node.name: node.place for node in drawn.nodes}
    assert places["Vienna"] == Spot(latitude=48.20849, longitude=16.37208)
    assert {name for name, place in places.items() if place} == {"Vienna", "Graz-Technica"}

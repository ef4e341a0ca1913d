"""The networks of the how-to can be planned, and its statements hold."""

import re
import tomllib
from pathlib import Path

import pytest

from dumbbell.plan.expand import expand
from dumbbell.plan.network import network
from dumbbell.plan.types import Plan
from dumbbell.plan.view import tables
from dumbbell.scenario.file.loading import load
from dumbbell.scenario.resolve import resolve

TEXT = (Path(__file__).parents[2] / "docs" / "how-to" / "networks.md").read_text()
NETWORKS = re.findall(r"```toml\n(.*?)```", TEXT, re.DOTALL)


def plan(text: str) -> Plan:
    found = load({"name": "x", "duration": "20 s", **tomllib.loads(text)})
    assert tables(expand(found), resolve(found).network.rtts)
    return expand(found)


def test_there_are_networks() -> None:
    assert len(NETWORKS) == 7


@pytest.mark.parametrize("text", NETWORKS)
def test_they_can_be_planned(text: str) -> None:
    assert plan(text).links


def test_the_path_over_r3_is_cheaper() -> None:
    found = plan(NETWORKS[2])
    assert [link.to for link in network(found).there(found.flows[0])] == ["r1", "r3", "r2", "h2"]


def test_the_spanning_tree_leads_over_s3() -> None:
    found = plan(NETWORKS[3])
    assert [link.to for link in network(found).there(found.flows[0])] == ["s1", "s3", "s2", "h2"]


def test_vlans_meet_in_the_router() -> None:
    found = plan(NETWORKS[4])
    ways = [[link.to for link in network(found).there(flow)] for flow in found.flows]
    assert ways == [["s1", "s2", "h3"], ["s1", "s2", "r1", "s2", "h3"]]

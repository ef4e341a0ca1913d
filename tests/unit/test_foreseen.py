"""Warnings of `plan` and `run` follow from the plan; nothing is wrong with the scenario."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import dumbbell
from dumbbell.cli import app
from dumbbell.engines.foreseen import foreseen
from dumbbell.engines.registry import engine
from dumbbell.errors import Foreseen
from dumbbell.plan.expand import expand
from dumbbell.scenario.file.loading import load

LIMITED = {"rate": "100 Mbit/s", "delay": "1 ms"}


def chain(routers: int, link: dict[str, Any] = LIMITED, workload: dict[str, Any] | None = None) -> dict[str, Any]:
    """h1 and h2 with so many routers between them; the first link is limited."""
    names = ["h1", *(f"r{number}" for number in range(1, routers + 1)), "h2"]
    nodes = {name: {"kind": "router"} if name[0] == "r" else {} for name in names}
    links: list[dict[str, Any]] = [{"between": list(pair)} for pair in pairwise(names)]
    links[0] |= link
    topology = {"kind": "graph", "nodes": nodes, "links": links}
    flows = [{"from": "h1", "to": "h2", **(workload or {})}]
    return {"name": "chain", "duration": "2 s", "topology": topology, "flows": flows}


def told(scenario: dict[str, Any], of: str | None = None) -> list[str]:
    found = load(scenario)
    return [problem.text() for problem in foreseen(found, expand(found), None if of is None else engine(of))]


@pytest.mark.parametrize("workload", [{}, {"protocol": "udp", "rate": "1 Mbit/s"}, {"protocol": "ping"}])
def test_the_ttl_of_64_runs_out_at_the_64th_router(tmp_path: Path, workload: dict[str, Any]) -> None:
    scenario = chain(64, workload=workload)
    (warning,) = told(scenario)
    assert "the TTL of packets runs out at r64" in warning
    with pytest.warns(Foreseen, match="runs out at r64"):
        run = dumbbell.run(scenario, directory=tmp_path, engine="simulate", report=False)
    (flow,) = run.summary["flows"]
    assert not flow["received_bytes"]
    (reason,) = [one for one in run.summary["reasons"] if one["check"] == "flow-errors"]
    assert "the TTL ran out at r64" in reason["measured"]
    assert (run.verdict, reason["verdict"]) == ("invalid", "invalid")
    if not workload:
        # A kernel's router tells the sender, whose SYN is not sent again.
        assert "connecting: No route to host" in reason["measured"]
        assert flow["retransmitted_segments"] == 0


def test_a_path_of_63_routers_and_a_larger_ttl_carry_packets(tmp_path: Path) -> None:
    higher = {"hosts": {"sysctl": {"net.ipv4.ip_default_ttl": "71"}}}
    for scenario in (chain(63), chain(70) | higher):
        assert told(scenario) == []
        run = dumbbell.run(scenario, directory=tmp_path, engine="simulate", report=False)
        assert run.verdict == "valid"
        assert run.summary["flows"][0]["goodput_bps"] > 50e6


def test_an_answer_whose_ttl_runs_out_opens_no_connection(tmp_path: Path) -> None:
    scenario = chain(64) | {"hosts": {"h1": {"sysctl": {"net.ipv4.ip_default_ttl": "255"}}}}
    with pytest.warns(Foreseen, match="runs out at r1"):
        run = dumbbell.run(scenario, directory=tmp_path, engine="simulate", report=False)
    (flow,) = run.summary["flows"]
    # h2 forgets the request each time, so h1 asks again: after 1 s.
    assert (flow["received_bytes"], flow["retransmitted_segments"]) == (0, 1)
    assert run.summary["verdict"] == "invalid"


def test_a_path_without_a_rate_is_told() -> None:
    (warning,) = told(chain(1, {}))
    assert 'write rate = "100 Mbit/s"' in warning
    assert told(chain(1, {}, {"protocol": "udp", "rate": "1 Mbit/s"})) == []
    assert told(chain(1, {"policer": {"rate": "8 Mbit/s", "burst": "30 kB"}})) == []


def test_a_run_that_takes_minutes_is_told_before_it_begins() -> None:
    fast = chain(1, {"rate": "99999 Gbit/s", "buffer": "100 packets"})
    assert any("the run may take" in text for text in told(fast, "simulate"))
    # A flow that ends by itself sends no more, whatever the rate.
    assert told(chain(1, {"rate": "99999 Gbit/s", "buffer": "100 packets"}, {"bytes": "1 MB"}), "simulate") == []
    assert told(fast, "emulate") == told(chain(1), "simulate") == []


def test_plan_prints_warnings_and_the_least_buffer(tmp_path: Path) -> None:
    file = tmp_path / "small.toml"
    file.write_text(
        'name = "small"\nduration = "2 s"\n[topology]\nkind = "graph"\n[topology.nodes]\na = {}\nb = {}\n'
        '[[topology.links]]\nbetween = ["a", "b"]\nrate = "10 Mbit/s"\n[[flows]]\nfrom = "a"\nto = "b"\n'
    )
    said = CliRunner().invoke(app, ["plan", str(file)])
    assert "24224 B (16 packets" in said.output
    assert "a-b, b-a: 1 bdp is less than the default buffer's least, 16 packets and 1 ms" in said.stderr
    written = CliRunner().invoke(app, ["plan", str(file), "--set", 'topology.links.0.buffer="1 bdp"'])
    assert "bdp" not in written.stderr

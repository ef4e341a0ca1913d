"""The compiled core simulates a plan that lies in a directory."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars
import pytest

from dumbbell import _core
from dumbbell.cc import core
from dumbbell.cc.bundled import BUNDLED


def plan(cc: str = "cubic", duration_s: float = 1.0, algorithms: Any = ()) -> dict[str, Any]:
    """A plan of two hosts and a link each way."""
    link = {"rate_bps": 10_000_000, "delay_ns": 10_000_000, "buffer": {"bytes": 50_000}, "overhead_bytes": 0}
    duration_ns = round(duration_s * 1e9)
    return {
        "name": "p",
        "duration_ns": duration_ns,
        "seed": 1,
        "nodes": [
            {"kind": "host", "name": name, "address": f"10.0.0.{i}", "sysctl": {}} for i, name in enumerate("ab")
        ],
        "links": [
            {"name": "there", "from": "a", "to": "b", **link},
            {"name": "back", "from": "b", "to": "a", **link},
        ],
        "algorithms": list(algorithms),
        "flows": [
            {
                "id": "f1",
                "from": "a",
                "to": "b",
                "start_ns": 0,
                "stop_ns": duration_ns,
                "port": 5001,
                "workload": {"kind": "tcp", "cc": cc, "bytes": None, "ecn": False},
            }
        ],
        "record": {"sample_interval_ns": 10_000_000, "packets": True, "acks": "auto"},
        "emulate": {"ring_bytes": 1, "spin_ns": 0, "arena_bytes": 1},
    }


def simulate(directory: Path, plan: dict[str, Any], on_event: Any = lambda _: True) -> bool:
    (directory / "plan.json").write_text(json.dumps(plan))
    return bool(_core.simulate(str(directory), True, on_event))


def test_a_run_leaves_its_records(tmp_path: Path) -> None:
    from dumbbell.records.schema import TABLES, polars_schema

    events: list[dict[str, Any]] = []

    def on_event(text: str) -> bool:
        events.append(json.loads(text))
        return True

    assert not simulate(tmp_path, plan(), on_event)
    assert {event["event"] for event in events} == {"progress"}
    assert [events[0]["time_ns"], events[-1]["time_ns"]] == [0, 1_000_000_000]
    traffic = json.loads((tmp_path / "traffic.json").read_text())
    (flow,) = events[-1]["flows"]
    assert (flow["id"], flow["received_bytes"]) == ("f1", traffic["flows"][0]["received_bytes"])
    assert flow["cwnd_packets"] > 0 < flow["srtt_us"]
    assert {link["name"] for link in events[-1]["links"]} <= {link["name"] for link in plan()["links"]}
    for table in TABLES.keys() - {"flows", "pings", "requests", "routes"}:
        frame = polars.read_parquet(tmp_path / f"{table}.parquet")
        assert frame.height > 90
        assert {name: frame.schema[name] for name in polars_schema(table)} == polars_schema(table), table


def test_false_stops_the_run(tmp_path: Path) -> None:
    assert simulate(tmp_path, plan(duration_s=3600), lambda _: False)
    assert json.loads((tmp_path / "traffic.json").read_text())["interrupted"]


def test_what_is_raised_comes_back(tmp_path: Path) -> None:
    def on_event(_: str) -> bool:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        simulate(tmp_path, plan(duration_s=3600), on_event)
    assert (tmp_path / "simulator.json").exists()


def test_an_error_says_what_and_why(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="flow f1: the congestion control illinois: the simulator has only bbr, "):
        simulate(tmp_path, plan("illinois"))
    with pytest.raises(RuntimeError, match="reading the plan"):
        _core.simulate(str(tmp_path / "nowhere"), True, lambda _: True)


def test_problems_are_told_with_their_places() -> None:
    assert json.loads(_core.simulate_check(json.dumps(plan()), True)) == []
    own = {"label": "mine", "source": {"kind": "object", "path": "x.bpf.o"}, "parameters": {}, "sha256": None}
    (problem,) = json.loads(_core.simulate_check(json.dumps(plan("mine", algorithms=[own])), True))
    assert problem == {
        "flow": "f1",
        "host": None,
        "what": "the congestion control mine",
        "why": "it is a BPF program, and nothing here compiles it",
        "hint": "run it with dumbbell run --engine simulate",
    }
    with pytest.raises(RuntimeError, match="missing field"):
        _core.simulate_check("{}", True)


@pytest.mark.parametrize("label", BUNDLED)
def test_parameters_have_the_limits_of_the_programs(label: str) -> None:
    told = json.loads(_core.simulate_parameters(BUNDLED[label].name))
    program = core.parameters_of(label)
    assert program is not None
    limits = {one.name: one.limits for one in program.known if one.limits}
    assert {one["name"]: tuple(one["limits"]) for one in told if one["limits"]} == limits

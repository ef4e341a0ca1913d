"""Delays that follow a measured series, and plans that hold each series once."""

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from planning import planned

import dumbbell
from dumbbell.core import core
from dumbbell.errors import ScenarioError
from dumbbell.plan import wire, words
from dumbbell.plan.expand import expand
from dumbbell.plan.network import network
from dumbbell.plan.types import StepsDelays
from dumbbell.scenario.file.loading import load

MS = 1_000_000
PLAIN = {"rate": "10 Mbit/s", "buffer": "100 packets"}


@pytest.fixture
def series(tmp_path: Path) -> str:
    """20 ms, from 1 s on 50 ms, from 2 s on 30 ms."""
    file = tmp_path / "delay.csv"
    file.write_text("time_s,delay_ms\n0,20\n1,50\n2,30\n")
    return str(file)


def test_a_delay_follows_a_series(series: str) -> None:
    plan = planned({**PLAIN, "delay": {"trace": series, "period": "3 s"}}, rtt="60 ms")
    there, back = (
        next(link for link in plan.links if link.name == name) for name in ("bottleneck", "bottleneck-reverse")
    )
    steps = ((0, 20 * MS), (1000 * MS, 50 * MS), (2000 * MS, 30 * MS))
    assert there.delays == StepsDelays(steps=steps, period_ns=3000 * MS)
    assert there.delay_ns == 20 * MS, "base RTTs are of the least"
    assert back.delays == there.delays, "by default the other direction is as forward"
    assert words.delay(there) == "20 ms to 50 ms: 3 steps, again after 3 s"
    assert words.delay(back) == words.delay(there)


def test_a_simulated_packet_takes_the_delay_of_its_time(series: str, tmp_path: Path) -> None:
    scenario = {
        "name": "series",
        "duration": "3 s",
        "topology": {
            "kind": "path",
            "rtt": "40 ms",
            "bottleneck": {**PLAIN, "delay": {"trace": series}, "reverse": {"delay": "20 ms"}},
        },
        "flows": [{"from": "h1", "to": "h2", "protocol": "udp", "rate": "1 Mbit/s"}],
    }
    run = dumbbell.run(scenario, directory=tmp_path / "runs", engine="simulate", report=False)
    rows = run.packets.filter((pl.col("link") == "bottleneck") & pl.col("delivery_ns").is_not_null())
    for since, until, delay in ((0, 1000, 20), (1000, 2000, 50), (2060, 3000, 30)):
        some = rows.filter(pl.col("departure_ns").is_between(since * MS, until * MS, closed="left"))
        assert set(some["delivery_ns"] - some["departure_ns"]) == {delay * MS}
    # What left by 2.02 s arrives when the packet before does, as the order is kept.
    assert rows["delivery_ns"].is_sorted()
    # The run's own directory has the series, and gives the same plan.
    again = dumbbell.run(run.directory / "scenario.toml", directory=tmp_path / "again", engine="simulate", report=False)
    assert again.run_id == run.run_id


def test_a_drawn_link_has_the_series_in_both_directions(series: str) -> None:
    links = [{"between": ["a", "b"], "delay": {"trace": series}, "reverse": {"rate": "1 Mbit/s"}}]
    topology = {"kind": "graph", "nodes": {"a": {}, "b": {}}, "links": links}
    flows = [{"from": "a", "to": "b"}]
    plan = expand(load({"name": "x", "duration": "3 s", "topology": topology, "flows": flows}))
    assert [(link.delay_ns, words.delay(link)) for link in plan.links] == [(20 * MS, "20 ms to 50 ms: 3 steps")] * 2
    assert network(plan).base_rtts_ns == [40 * MS]
    assert not network(plan).transparent


@pytest.mark.parametrize(
    ("text", "period", "wrong"),
    [
        ("time_s,delay_ms\n1,20\n", None, "the first time is not 0"),
        ("time_s,delay_ms\n0,20\n0,30\n", None, "not after the time of the line before"),
        ("time_s,rate_Mbps\n0,20\n", None, "'rate_Mbps' is not a column"),
        ("time_s,delay_ms\n0,20\n2,30\n", "2 s", "ends before the last step"),
    ],
)
def test_a_series_that_cannot_be_is_refused(tmp_path: Path, text: str, period: str | None, wrong: str) -> None:
    file = tmp_path / "delay.csv"
    file.write_text(text)
    delay = {"trace": str(file)} | ({} if period is None else {"period": period})
    with pytest.raises(ScenarioError, match=wrong):
        planned({**PLAIN, "delay": delay})


def test_an_event_may_bring_a_series_and_end_it(series: str) -> None:
    events = [{"at": "1 s", "delay": {"trace": series}}, {"at": "2 s", "delay": "20 ms"}, {"at": "3 s", "loss": "1 %"}]
    first, second, third = (event.link for event in planned(PLAIN, rtt="60 ms", events=events).events)
    assert first.delays is not None
    assert second.delays is third.delays is None
    assert (first.delay_ns, second.delay_ns) == (20 * MS, 20 * MS)


def test_events_may_repeat_values() -> None:
    delays = [15, 15, 16, 16, 15, 15]
    events: list[dict[str, Any]] = [{"at": f"{at} s", "delay": f"{ms} ms"} for at, ms in enumerate(delays, 1)]
    found = [(event.at_ns // 10**9, event.link.delay_ns // MS) for event in planned(PLAIN, events=events).events]
    assert found == [(3, 16), (5, 15)], "an event that changes nothing is none of the plan's"


def test_a_plan_holds_each_series_once(series: str, tmp_path: Path) -> None:
    rate = tmp_path / "rate.csv"
    rate.write_text("time_s,rate_Mbps\n" + "".join(f"{at / 100},{10 + at % 7}\n" for at in range(900)))
    link = {**PLAIN, "rate": {"csv": str(rate)}, "delay": {"trace": series}}
    events = [{"at": f"{at} ms", "loss": f"{1 + at % 3} %"} for at in range(10, 1010)]
    plan = planned(link, rtt="60 ms", events=events)
    assert len(plan.events) == 1000
    text = wire.text(plan)
    assert len(text) < 1_000_000, "a plan of a megabyte, where 1,000 times 900 steps take 20"
    # Nothing is lost, neither here nor in the core.
    assert wire.parsed(json.loads(text)) == plan
    assert {len(event.link.variation.steps) for event in wire.parsed(wire.document(plan)).events} == {900}
    (facts,) = [one for one in core.network(text)[2] if one.name == "bottleneck"]
    assert set(facts.peaks_bps) == {16_000_000}

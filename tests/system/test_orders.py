"""Orders to an emulated run that goes on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl
from scenarios import checks, flow, path

from dumbbell.engines.orders import ChangeLink
from dumbbell.engines.protocol import LiveRun
from dumbbell.pipeline.run import run
from dumbbell.plan import wire
from dumbbell.plan.types import Link
from validation.conformance.compare import compare

EXACT = ("conservation", "packet-log", "rtt-floor")
"""Checks that hold on a busy machine, too."""


class Conduct:
    """Gives the orders once a run is half a second old, and keeps the answers."""

    def __init__(self, *changes: Mapping[str, Any]) -> None:
        self.changes, self.events = list(changes), list[Mapping[str, Any]]()
        self.bottleneck: Link | None = None
        self._live: LiveRun | None = None

    def begin(self, live: LiveRun) -> None:
        self._live = live

    def __call__(self, event: Mapping[str, Any]) -> None:
        self.events.append(event)
        if event["event"] == "planned":
            self.bottleneck = next(link for link in event["plan"].links if link.name == "bottleneck")
        if event["event"] == "progress" and event["time_ns"] >= 500_000_000 and self._live is not None:
            assert self.bottleneck is not None
            for change in self.changes:
                self._live.order(ChangeLink(replace(self.bottleneck, **change)))
            self._live = None

    def named(self, name: str) -> list[Mapping[str, Any]]:
        return [event for event in self.events if event["event"] == name]


def carry_out(tmp_path: Path, conduct: Conduct) -> Any:
    scenario = tmp_path / "orders.toml"
    scenario.write_text(path(flow(cc="reno"), duration="2 s"))
    return run(scenario, (), tmp_path / "runs", conduct, report=False, on_live=conduct.begin)


def test_a_link_of_a_running_run_is_another_and_the_record_says_since_when(tmp_path: Path) -> None:
    conduct = Conduct({"rate_bps": 5_000_000, "delay_ns": 20_000_000})
    done = carry_out(tmp_path, conduct)
    (changed,) = conduct.named("changed")
    (event,) = done.plan.events
    assert (event.at_ns, wire.part(event.link)) == (changed["time_ns"], changed["link"])
    assert event.link.rate_bps == 5_000_000
    assert done.manifest["changes"] == [{"time_ns": event.at_ns, "link": "bottleneck"}]
    # The link's capacity, to the byte.
    rows = done.links.filter(pl.col("link").cast(pl.String) == "bottleneck").sort("time_ns")
    since = rows.filter(pl.col("time_ns") > event.at_ns)
    sent = since["capacity_bytes"][-1] - since["capacity_bytes"][0]
    assert abs(sent - (since["time_ns"][-1] - since["time_ns"][0]) * 5 / 8_000) <= 1
    found = checks(done)
    assert {name: found[name]["verdict"] for name in EXACT} == dict.fromkeys(EXACT, "valid")
    # And each packet to the nanosecond: the change is in the record at the time at which it took effect.
    replayed = compare(done.directory)
    assert replayed.equal, replayed
    assert replayed.packets > 500


def test_what_a_link_cannot_be_is_refused_and_the_run_goes_on(tmp_path: Path) -> None:
    conduct = Conduct({"name": "nowhere"}, {"overhead_bytes": 38}, {"delay_ns": -1})
    done = carry_out(tmp_path, conduct)
    whys = [event["why"] for event in conduct.named("refused")]
    for why, said in zip(whys, ("there is no link nowhere", "overhead of 0 bytes", "negative delay"), strict=True):
        assert said in why
    assert not conduct.named("changed")
    assert not done.plan.events


def test_figures_come_while_the_run_goes_on(tmp_path: Path) -> None:
    conduct = Conduct()
    carry_out(tmp_path, conduct)
    last = conduct.named("progress")[-1]
    (sender,) = last["flows"]
    assert sender["received_bytes"] > 0 < sender["cwnd_packets"]
    assert sender["srtt_us"] >= 20_000
    assert {link["name"] for link in last["links"]} == {"bottleneck", "bottleneck-reverse"}
    assert any(event["links"][0]["rate_bps"] > 0 for event in conduct.named("progress"))

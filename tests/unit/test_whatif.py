"""Values that "What if" can turn, the plans for them, and what is saved."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from serving import Served, serving

from dumbbell.engines.registry import engine
from dumbbell.pipeline.planned import planned
from dumbbell.plan import wire
from dumbbell.scenario import bundled, load
from dumbbell.scenario.file.toml import parse
from dumbbell.server.knobs import knobs
from dumbbell.server.whatif_messages import Knob

TEXT = bundled.text("bbr-vs-cubic")


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    (tmp_path / "mine.toml").write_text(TEXT)
    (tmp_path / "mine.layout.json").write_text("{}")
    with serving(tmp_path) as found:
        yield found


def of(name: str) -> dict[str, Knob]:
    scenario = load(name)
    return {one.path: one for one in knobs(scenario.source.data, float(scenario.duration) / 1e9)}


def test_numbers_that_the_scenario_says_come_first() -> None:
    found = of("bbr-vs-cubic")
    rate = found["topology.bottleneck.rate"]
    assert (rate.value, rate.unit, rate.log, rate.written) == (100, "Mbit/s", True, True)
    assert rate.low < 100 < rate.high
    start = found["flows.1.start"]
    assert (start.value, start.low, start.high, start.group) == (2, 0, 20, "Flow f2")
    assert not found["topology.bottleneck.loss"].written
    assert [one.written for one in found.values()] == sorted((one.written for one in found.values()), reverse=True)
    assert "name" not in found


@pytest.mark.parametrize("name", [name for name in bundled.names() if name not in ("internet", "fat-tree")])
def test_each_value_of_a_bundled_scenario_has_a_place_on_its_slider(name: str) -> None:
    assert of(name)
    for knob in of(name).values():
        if knob.words:
            assert 0 <= knob.value < len(knob.words), knob.path
        else:
            assert knob.low <= knob.value <= knob.high, knob.path
            assert knob.low < knob.high, knob.path
            assert knob.low > 0 or not knob.log, knob.path


def test_what_is_offered_can_be_set() -> None:
    for knob in of("gilbert-elliott").values():
        text = knob.words[int(knob.value)] if knob.words else f"{knob.value:g} {knob.unit}".strip()
        load("gilbert-elliott", [f"{knob.path}={text}"])


def test_a_plan_is_that_of_the_command_line(served: Served) -> None:
    overrides = ["topology.bottleneck.rate=53 Mbit/s", "flows.1.cc=bbr3"]
    told = served.json("POST", "/api/whatif/plan", {"path": "mine.toml", "overrides": overrides})
    simulator = engine("simulate")
    assert told["plan"] == wire.text(planned(simulator, load("bbr-vs-cubic", overrides)))
    assert [flow["label"] for flow in told["legend"]["flows"]] == ["f1 cubic", "f2 bbr3"]
    assert told["legend"]["links"][0]["rate_bps"] == 53_000_000
    assert told["packets"] > 50_000


@pytest.mark.parametrize(
    ("override", "said"),
    [
        ("topology.bottleneck.rate=53 apples", "--set topology.bottleneck.rate=53 apples"),
        ("flows.0.command=true", "flows.0"),
        ("emulate.kernel=6.12", "emulate.kernel"),
    ],
)
def test_what_cannot_be_planned_is_refused_as_the_command_line_does(served: Served, override: str, said: str) -> None:
    status, _, content = served.ask("POST", "/api/whatif/plan", {"path": "mine.toml", "overrides": [override]})
    problem = json.loads(content)
    assert status == 400
    assert said in problem["what"]
    assert str(served.root) not in problem["what"]


def test_a_copy_has_the_values_and_all_comments(served: Served) -> None:
    overrides = ["topology.bottleneck.rate=53 Mbit/s", "topology.bottleneck.loss=0.5 %", "seed=9", "flows.0.start=1 s"]
    asked = {"path": "mine.toml", "to": "other.toml", "overrides": overrides}
    assert served.json("POST", "/api/whatif/save", asked)["name"] == "other.toml"
    text = (served.root / "other.toml").read_text()
    assert (served.root / "mine.toml").read_text() == TEXT
    assert [line for line in text.splitlines() if line.startswith("#")] == [
        line for line in TEXT.splitlines() if line.startswith("#")
    ]
    data = parse(text)
    assert data["topology"]["bottleneck"] == {"rate": "53 Mbit/s", "buffer": "1 bdp", "loss": "0.5 %"}
    assert (data["seed"], data["flows"][0]["start"]) == (9, "1 s")
    simulator = engine("simulate")
    saved = planned(simulator, load(served.root / "other.toml"))
    assert saved == planned(simulator, load("bbr-vs-cubic", overrides))
    assert (served.root / "other.layout.json").exists()
    status, _, _ = served.ask("POST", "/api/whatif/save", asked)
    assert status == 400, "nothing is overwritten"


@pytest.mark.parametrize("path", ["../mine.toml", "/etc/passwd", "absent.toml"])
def test_only_scenarios_of_the_workspace_are_planned(served: Served, path: str) -> None:
    for route, body in (("plan", {"path": path}), ("save", {"path": path, "to": "new.toml"})):
        status, _, _ = served.ask("POST", f"/api/whatif/{route}", body)
        assert status in (400, 404, 409), route


def test_a_run_of_more_samples_than_a_page_has_room_for_is_refused(served: Served) -> None:
    asked = {"path": "mine.toml", "overrides": ["duration=1440 min", "record.sample_interval=1 ms"]}
    status, _, content = served.ask("POST", "/api/whatif/plan", asked)
    assert (status, "too long to be drawn" in content.decode()) == (400, True), content
    assert served.json("POST", "/api/whatif/plan", {**asked, "overrides": ["duration=60 min"]})

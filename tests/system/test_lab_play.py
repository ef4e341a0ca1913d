"""A lab plays its scenario: flows and events at their times; and what was played is saved as it happened."""

from __future__ import annotations

import tomllib

import pytest
from graphs import event, flow, graph, link
from harness import Place

import dumbbell
from dumbbell.labs import changes

PLAYED = graph(
    link("h1", "s1"),
    link("s1", "h2", "core", rate="20 Mbit/s", delay="2 ms", buffer="100 ms"),
    flow("h1", "h2", cc="reno", stop="600 ms"),
    event("200 ms", link="core", rate="4 Mbit/s", loss={"model": "independent", "rate": "1 %"}),
    event("300 ms", link="core-reverse", down_for="100 ms"),
    event("800 ms", link="core", delay="7 ms"),
    name="played",
    duration="1 s",
)


def test_a_lab_plays_flows_and_events(apart: Place) -> None:
    with dumbbell.Lab(apart.write(PLAYED)) as lab:
        lab.link("core").set(rate="10Mbit/s")
        begin = changes.now_ns(lab.path)
        (result,) = lab.play()
        assert (result.id, result.error) == ("f1", None)
        assert result.report["received_bytes"] > 0
        core = lab.link("core").state["core"]
        # The last word on each key: that of an event, or else the scenario's.
        assert (core["rate_bps"], core["delay_ns"], core["up"]) == (4_000_000, 7_000_000, True)
        assert core["loss_before"][0]["probability"] == 0.01
        manual, *made = changes.changes(lab.path)
        assert manual.keys == {"rate": "10Mbit/s"}
        assert [(one.link, one.keys) for one in made] == [
            ("core", {"rate": "4 Mbit/s", "loss": made[0].keys["loss"]}), ("core-reverse", {"up": "false"}),
            ("core-reverse", {"up": "true"}), ("core", {"delay": "7 ms"}),
        ]  # fmt: skip
        # None is early.
        at_ms = [(one.time_ns - begin) / 1e6 for one in made]
        assert all(at >= wanted for at, wanted in zip(at_ms, (200, 300, 400, 800), strict=True)), at_ms
        # Further changes go on from there.
        lab.link("core").set(delay="9 ms")
        core = lab.link("core").state["core"]
        assert (core["rate_bps"], core["delay_ns"]) == (4_000_000, 9_000_000)
        done = apart.invoke("lab", "shell", "-c", "save done.toml")
        assert done.returncode == 0, done.stderr
    saved = tomllib.loads((apart.directory / "done.toml").read_text(encoding="utf-8"))
    assert len(saved["flows"]) == 1
    assert [one["link"] for one in saved["events"]] == ["core", "core", "core-reverse", "core-reverse", "core", "core"]
    assert saved["events"][1]["loss"] == {"model": "independent", "rate": "1 %"}
    assert apart.invoke("plan", "done.toml").returncode == 0


def test_a_scenario_without_anything_to_play_says_so(here: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(here.directory))
    here.directory.chmod(0o700)
    done = here.invoke("lab", "up", here.write(graph(link("h1", "h2"), duration=None)), "-c", "play")
    assert done.returncode == 1
    assert "the scenario has nothing to play" in done.stderr

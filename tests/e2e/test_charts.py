"""Charts without a report: they take data, and more of it while a run goes on."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

# Tests of one process share the program.
pytestmark = pytest.mark.xdist_group("charts")

HERE = Path(__file__).parent
WEB = HERE.parents[1] / "web"


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> str:
    bundle = tmp_path_factory.mktemp("charts") / "charts.js"
    esbuild = WEB / "node_modules" / ".bin" / "esbuild"
    command = [str(esbuild), str(HERE / "charts.ts"), "--bundle", "--format=iife", f"--outfile={bundle}"]
    subprocess.run(command, check=True, capture_output=True, cwd=WEB)
    return bundle.read_text()


@pytest.fixture
def page(browser: Browser, program: str) -> Iterator[Page]:
    opened = browser.new_page()
    opened.set_content("<style>:root { --soft: #555; --queue: #456; }</style>")
    opened.add_script_tag(content=program)
    yield opened
    opened.close()


def drawn(page: Page) -> Any:
    page.wait_for_timeout(50)  # uPlot draws in a microtask.
    return page.evaluate("host.querySelector('canvas').toDataURL()")


def test_a_chart_goes_on_with_what_comes(page: Page) -> None:
    page.evaluate("live()")
    half = drawn(page)
    page.evaluate("chart.append(view(5, 11))")
    grown = drawn(page)
    assert grown != half
    assert page.evaluate("[...chart.shown.marks[0].timeS]") == list(range(11))
    assert page.evaluate("chart.shown.marks[0].values.at(-1)") == 30
    page.evaluate("chart.setData(view(0, 11))")
    assert drawn(page) == grown, "the same data, in one piece"


def test_the_axis_of_a_run_that_goes_on_grows(page: Page) -> None:
    page.evaluate("live()")
    page.evaluate("shared.axis.extend(20)")
    assert page.evaluate("[chart.u.scales.x.min, chart.u.scales.x.max]") == [0, 20]
    page.evaluate("shared.axis.show(2, 4); shared.axis.extend(30)")
    assert page.evaluate("[shared.axis.min, shared.axis.max]") == [2, 4], "who looks closer is left alone"


def test_a_small_chart_goes_on_and_hides_a_series(page: Page) -> None:
    page.evaluate("few()")
    path = "document.querySelectorAll('path.curve').length"
    assert page.evaluate(path) == 2
    page.evaluate("small.append(figure(5, 11))")
    grown = page.evaluate("host.querySelector('svg').outerHTML")
    page.evaluate("small.setData(figure(0, 11))")
    assert page.evaluate("host.querySelector('svg').outerHTML") == grown
    page.evaluate("small.setVisible('b', false)")
    assert page.evaluate(path) == 1
    page.evaluate("small.setVisible('a', false)")
    assert "hidden in the legend" in page.evaluate("host.textContent")


def test_a_series_of_an_hour_stays_small_and_keeps_its_peaks(page: Page) -> None:
    found = page.evaluate("hour()")
    assert found["points"] <= 4000
    assert found["recent"] >= 600, "the last minute is as it came"
    assert found["ascending"]
    assert found["peaks"] == [123.4, 234.5]
    assert found["gap"]
    assert found["first"] < 5
    assert found["last"] == 3599.9


def progress(number: int, **more: Any) -> dict[str, Any]:
    flow = {"id": "f1", "received_bytes": 12_500 * number, "goodput_bps": 1_000_000, "srtt_us": None}
    flow |= {"cwnd_packets": 10, "retransmitted_segments": 0}
    return {"event": "progress", "n": number, "time_ns": 100_000_000 * number, "flows": [flow], "links": [], **more}


def test_a_replay_and_what_came_before_it_give_each_event_once(page: Page) -> None:
    some = [progress(number) for number in range(4)]
    replay = {"event": "replay", "n": 9, "events": [progress(number) for number in range(2, 10)]}
    found = page.evaluate("events => after(events)", [*some, replay, progress(9), progress(10)])
    assert found["ticks"] == 11
    assert [round(10 * time) for time in found["times"]] == list(range(11))
    assert found["bps"] == pytest.approx(1_000_000)


def test_a_run_knows_its_stage_and_its_verdict_so_far(page: Page) -> None:
    bad = {"verdict": "invalid", "reasons": [{"check": "lateness"}]}
    events = [{"event": "planned", "n": 0, "run_id": "x", "engine": "emulate"}, progress(1, so_far=bad)]
    found = page.evaluate("events => after(events)", events)
    assert (found["stage"], found["health"]["verdict"]) == ("running", "invalid")
    assert found["log"][0]["text"] == "planned: run x, engine emulate"
    found = page.evaluate("events => after(events)", [*events, {"event": "stopping", "n": 2}])
    assert found["stage"] == "stopping early"

"""Runs, studies and comparisons in the web application: live, stopped, found again, side by side."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any

import psutil
import pytest
from application import DUMBBELL, Application, eventually, serving
from playwright.sync_api import Browser, Locator, Page, WebSocketRoute, expect
from stages import thorough_after
from synthetic_run import Synthetic

SCENARIO = """\
name = "pair"
duration = "{duration} s"

[topology]
kind = "dumbbell"
pairs = 2
rtt = "20 ms"
bottleneck = {{ rate = "{rate}", buffer = "1 bdp" }}

[[flows]]
from = "s1"
to = "r1"
cc = "cubic"

[[flows]]
from = "s2"
to = "r2"
cc = "cubic"
"""


def given(application: Application, duration: float = 60, rate: str = "5 Mbit/s", more: str = "") -> None:
    (application.workspace / "pair.toml").write_text(SCENARIO.format(duration=f"{duration:g}", rate=rate) + more)


def run_from_editor(application: Application, page: Page, engine: str = "emulate") -> None:
    application.open(page, "pair.toml")
    page.get_by_label("Engine").select_option(engine)
    page.get_by_role("button", name="Run", exact=True).click()


def to_run(page: Page) -> None:
    """From the dock of the editor to the run's own view."""
    page.locator(".dock").get_by_role("link", name=re.compile("Open the run|Report")).click()
    page.wait_for_selector(".run-head")


def seconds(page: Page) -> float:
    """The time of the run, as the page tells it."""
    said = re.search(r"([\d.]+) of", page.locator(".run-time").inner_text())
    return float(said[1]) if said else 0.0


def pill(page: Page) -> Locator:
    return page.locator(".run-progress .pill")


def drawn(page: Page) -> list[str]:
    return [canvas.evaluate("canvas => canvas.toDataURL()") for canvas in page.locator(".plot canvas").all()]


def names(application: Application) -> list[str]:
    return sorted(path.name for path in (application.workspace / "runs").glob("[!.]*"))


def nothing_goes_on(application: Application) -> bool:
    return not list((application.workspace / "runs").glob(".partial-*"))


# A run while it goes on


@pytest.mark.real_time
def test_a_run_is_seen_from_its_first_second_to_its_report(application: Application, page: Page) -> None:
    given(application, duration=15)
    run_from_editor(application, page)
    page.wait_for_selector(".dock .plot canvas")
    to_run(page)
    eventually(lambda: seconds(page) > 1)
    before = drawn(page)
    eventually(lambda: drawn(page) != before, "a plot that moves", patience_s=5)
    assert page.locator(".live-table").first.inner_text().count("Mbit/s") >= 3
    assert page.locator(".live-table").nth(1).locator("tbody tr").count() >= 1
    frame = page.frame_locator(".report-frame")
    expect(frame.locator("h1")).to_have_text("pair", timeout=30_000)
    eventually(lambda: not page.evaluate("location.hash").count(".partial-"))
    (run,) = names(application)
    assert page.evaluate("location.hash").endswith(run)
    summary = json.loads((application.workspace / "runs" / run / "summary.json").read_text())
    assert pill(page).inner_text() == summary["verdict"]


@pytest.mark.real_time
def test_a_run_is_stopped_early_and_judged(application: Application, page: Page) -> None:
    given(application)
    run_from_editor(application, page)
    to_run(page)
    eventually(lambda: seconds(page) > 1)
    page.get_by_role("button", name="Stop early").click()
    expect(pill(page)).to_have_text("interrupted", timeout=20_000)
    assert "f1" in page.frame_locator(".report-frame").locator("table").first.inner_text()
    assert names(application)[0].endswith(".failed-1")
    eventually(lambda: nothing_goes_on(application))


@pytest.mark.real_time
def test_a_run_is_ended_at_once(application: Application, page: Page) -> None:
    given(application)
    run_from_editor(application, page)
    to_run(page)
    eventually(lambda: seconds(page) > 1)
    page.get_by_role("button", name="Stop now").click()
    expect(pill(page)).to_have_text("interrupted", timeout=20_000)
    expect(page.locator(".run-failed")).to_contain_text("ended at once")
    eventually(lambda: nothing_goes_on(application))


class Wire:
    """The page's WebSocket, which can be cut; and the numbers of the events that came through."""

    def __init__(self, page: Page) -> None:
        self.numbers: list[int] = []
        self.cut = False
        self._open: list[WebSocketRoute] = []
        page.route_web_socket(re.compile("/api/socket"), self._connect)

    def _connect(self, ws: WebSocketRoute) -> None:
        if self.cut:
            ws.close()
            return
        self._open.append(ws)
        server = ws.connect_to_server()

        def heard(message: str | bytes) -> None:
            event = json.loads(message).get("event") or {}
            if isinstance(event, dict):
                self.numbers += [one["n"] for one in event.get("events", [event]) if "n" in one]
            ws.send(message)

        server.on_message(heard)

    def lose(self) -> None:
        self.cut = True
        for ws in self._open:
            ws.close()
        self._open.clear()


@pytest.mark.firefox
@pytest.mark.real_time
def test_what_was_missed_is_there_when_the_connection_is_back(application: Application, browser: Browser) -> None:
    given(application, duration=30)
    page = browser.new_context().new_page()
    wire = Wire(page)
    application.tab(page)
    run_from_editor(application, page)
    to_run(page)
    eventually(lambda: seconds(page) > 1)
    wire.lose()
    expect(page.locator(".connection")).to_be_visible()
    page.wait_for_timeout(500)
    stood = seconds(page)
    page.wait_for_timeout(4000)
    assert seconds(page) == stood
    wire.cut = False
    expect(page.locator(".connection")).to_be_hidden(timeout=10_000)
    eventually(lambda: seconds(page) > stood + 4)
    once = sorted(set(wire.numbers))
    assert once == list(range(once[-1] + 1)), "an event is missing"
    second = page.context.new_page()
    second.goto(page.url)
    second.wait_for_selector(".plot canvas")
    eventually(lambda: abs(seconds(second) - seconds(page)) < 2)
    page.get_by_role("button", name="Stop now").click()
    for one in (page, second):
        expect(pill(one)).to_have_text("interrupted", timeout=20_000)
    page.context.close()


@pytest.mark.real_time
def test_a_hidden_page_draws_nothing_and_a_shown_one_all(application: Application, page: Page) -> None:
    given(application, duration=30)
    run_from_editor(application, page)
    to_run(page)
    eventually(lambda: seconds(page) > 1)
    other = page.context.new_page()
    other.bring_to_front()
    page.wait_for_timeout(1500)
    page.bring_to_front()
    before = seconds(page)
    eventually(lambda: seconds(page) > before)
    page.get_by_role("button", name="Stop now").click()
    expect(pill(page)).to_have_text("interrupted", timeout=20_000)


@pytest.mark.real_time
def test_a_run_that_the_command_line_began_is_found(application: Application, page: Page) -> None:
    given(application, duration=30)
    command = [str(DUMBBELL), "run", "pair.toml", "--quiet"]
    process = subprocess.Popen(command, cwd=application.workspace, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        runs = application.workspace / "runs"
        eventually(lambda: list(runs.glob(".partial-*/manifest.json")))
        page.evaluate("location.hash = '#/runs'")
        row = page.locator(".runs-table tbody tr")
        expect(row).to_contain_text("running")
        row.get_by_role("link").click()
        page.get_by_role("button", name="Stop early").click()
        expect(pill(page)).to_have_text("interrupted", timeout=20_000)
        assert process.wait(20) == 130
    finally:
        process.kill()


@pytest.mark.real_time
@pytest.mark.thorough
def test_a_run_survives_its_server_and_is_found_by_the_next_one(application: Application, browser: Browser) -> None:
    given(application)
    page = application.page(browser)
    run_from_editor(application, page)
    to_run(page)
    eventually(lambda: seconds(page) > 1)
    where = page.url.split("#")[1]
    application.process.kill()
    page.context.close()
    application.complaints.clear()  # That nobody answers is what was wanted.
    with serving(application.workspace) as second:
        page = second.page(browser)
        page.evaluate(f"location.hash = '{where}'")
        page.wait_for_selector(".run-head")
        before = seconds(page)
        eventually(lambda: seconds(page) > before, "a run that goes on")
        page.get_by_role("button", name="Stop early").click()
        expect(pill(page)).to_have_text("interrupted", timeout=20_000)
        page.frame_locator(".report-frame").locator("h1").wait_for()
        (run,) = names(application)
        assert page.evaluate("location.hash").endswith(run)
        page.context.close()
    assert nothing_goes_on(application)


@pytest.mark.real_time
def test_a_verdict_that_turns_invalid_shows_while_the_run_goes_on(application: Application, page: Page) -> None:
    given(application, duration=30)
    run_from_editor(application, page)
    to_run(page)
    eventually(lambda: seconds(page) > 1)
    expect(page.locator(".run-verdict")).to_contain_text("so far")
    (going,) = (application.workspace / "runs").glob(".partial-*")
    lab = psutil.Process(int(going.name.rpartition("-")[2])).children(recursive=True)
    # Whoever stops the network for half a second makes all of its packets so late.
    for process in lab:
        process.suspend()
    page.wait_for_timeout(500)
    for process in reversed(lab):
        process.resume()
    verdict = page.locator(".run-verdict.invalid")
    expect(verdict).to_contain_text("invalid so far", timeout=10_000)
    expect(verdict).to_contain_text("stall")
    expect(pill(page)).to_have_text("running")
    page.get_by_role("button", name="Stop early").click()
    expect(pill(page)).to_have_text("interrupted", timeout=20_000)
    # The page begins anew, at its report, when the run gets the name of one that has ended.
    expect(page.locator(".report-frame")).to_have_attribute("src", re.compile(r"\.failed-1/"))
    page.get_by_role("tab", name="Plots").click()
    expect(verdict).to_contain_text("stall")


# Studies

SWEEP = """
[sweep]
"topology.bottleneck.rate" = ["200 Mbit/s", "300 Mbit/s", "400 Mbit/s"]
"topology.rtt" = ["10 ms", "20 ms", "40 ms"]
"flows.1.cc" = ["cubic", "reno", "bbr"]
"""


@pytest.mark.firefox
@pytest.mark.thorough
def test_a_study_goes_on_without_a_browser_and_after_a_stop(application: Application, browser: Browser) -> None:
    given(application, duration=30, rate="100 Mbit/s", more=SWEEP)
    page = application.page(browser)
    application.open(page, "pair.toml")
    page.get_by_label("Engine").select_option("simulate")
    page.get_by_role("button", name="Run 27").click()
    page.wait_for_selector(".run-head progress")
    where = page.url
    assert "/studies/" in where
    page.context.close()
    page = application.page(browser)
    page.goto(where.split("#")[0] + "#/runs")
    page.get_by_role("link", name="Studies").click()
    page.get_by_role("link", name="pair").click()
    expect(pill(page)).to_have_text("running")
    page.get_by_role("button", name="Stop").click()
    expect(pill(page)).to_have_text("interrupted", timeout=30_000)
    page.get_by_role("button", name="Go on").click()
    expect(page.locator(".run-time")).to_have_text("27 of 27 runs", timeout=120_000)
    expect(pill(page)).to_have_text("complete", timeout=30_000)
    page.frame_locator(".report-frame").locator("h1").wait_for(timeout=30_000)
    (study,) = (application.workspace / "studies").iterdir()
    assert json.loads((study / "study.json").read_text())["status"] == "complete"
    page.context.close()


def test_a_study_that_was_stopped_shows_what_is_there(application: Application, page: Page) -> None:
    given(application, duration=1)
    command = [DUMBBELL, "run", "pair.toml", "--engine", "simulate", "--repeat", "2"]
    subprocess.run(command, cwd=application.workspace, check=True, capture_output=True)
    (study,) = (application.workspace / "studies").glob("pair-*")
    manifest = json.loads((study / "study.json").read_text())
    (study / "study.json").write_text(json.dumps(manifest | {"status": "interrupted"}))
    (study / "report.html").unlink()
    page.evaluate(f"location.hash = '#/studies/{study.name}'")
    page.get_by_role("button", name="Report of the finished runs").click()
    expect(page.frame_locator(".report-frame").locator("h1")).to_have_text("pair")


# Comparisons


def kept(application: Application, name: str, **keys: Any) -> str:
    """A complete run in the workspace. Returns its id."""
    path = application.workspace / "runs" / f"{name}-0123456789ab"
    Synthetic(name=name, duration_s=2, packets=False, **keys).write(path)
    return path.name


@pytest.mark.firefox
def test_two_runs_are_compared_settings_first_then_figures_then_curves(application: Application, page: Page) -> None:
    kept(application, "slow", rate_bps=20e6)
    kept(application, "fast", rate_bps=80e6)
    page.evaluate("location.hash = '#/runs'")
    boxes = page.locator(".runs-table tbody .pick input")
    expect(boxes).to_have_count(2)
    for box in boxes.all():
        box.check()
    page.get_by_role("button", name="Compare").click()
    page.wait_for_selector(".compare")
    heads = [head.inner_text() for head in page.locator(".compare h2").all()]
    assert heads == ["Settings that differ", "Figures", "Curves"]
    settings = page.locator(".compare section").first
    assert "rate_bps" in settings.inner_text()
    assert "duration_ns" not in settings.inner_text()
    figures = page.locator(".compare section").nth(1)
    assert "goodput (Mbit/s)" in figures.inner_text()
    assert "B − A" in figures.inner_text()  # noqa: RUF001  a minus sign
    for plot in ("Goodput", "RTT", "Queue"):
        page.get_by_role("button", name=plot, exact=True).click()
        page.locator(".compare .plot", has_text=plot).locator("canvas").wait_for()
    assert page.locator(".compare .legend button").count() >= 2


@pytest.mark.real_time
@pytest.mark.parametrize("count", thorough_after(1, [12, 100]))
def test_many_runs_are_compared(application: Application, page: Page, count: int) -> None:
    first = application.workspace / "runs" / kept(application, "one")
    ids = [first.name]
    for number in range(1, count):
        copy = first.with_name(f"{first.name}.{number}")
        shutil.copytree(first, copy)
        plan = json.loads((copy / "plan.json").read_text())
        (copy / "plan.json").write_text(json.dumps({**plan, "seed": plan["seed"] + number}))
        ids.append(copy.name)
    began = time.monotonic()
    page.evaluate(f"location.hash = '#/compare/{'/'.join(ids)}'")
    page.wait_for_selector(".compare")
    assert time.monotonic() - began < 10
    text = page.locator(".compare").inner_text()
    assert f"{count} runs compared" in text
    assert "seed" in page.locator(".compare section").first.inner_text()
    columns = page.locator(".compare section").nth(1).locator("thead th").all_inner_texts()
    assert ("median" in columns) == (count > 12)


def test_runs_are_searched_tagged_and_removed(application: Application, page: Page) -> None:
    kept(application, "slow", rate_bps=20e6)
    fast = kept(application, "fast", rate_bps=80e6)
    page.evaluate("location.hash = '#/runs'")
    rows = page.locator(".runs-table tbody tr")
    expect(rows).to_have_count(2)
    page.get_by_label("Search runs").fill("fast")
    expect(rows).to_have_count(1)
    page.get_by_label(f"Choose {fast}").check()
    page.get_by_label("Tag the chosen runs").fill("baseline")
    page.keyboard.press("Enter")
    expect(rows.locator(".tag-word")).to_have_text("baseline")
    page.get_by_label("Search runs").fill("")
    expect(rows).to_have_count(2)
    page.get_by_label("Tag", exact=True).select_option("baseline")
    expect(rows).to_have_count(1)
    page.get_by_role("button", name="Remove", exact=True).click()
    page.get_by_role("dialog").get_by_role("button", name="Remove").click()
    expect(page.get_by_text("No run matches.")).to_be_visible()
    assert names(application) == ["slow-0123456789ab"]


def test_a_problem_goes_with_its_view_or_with_a_retry_that_works(application: Application, page: Page) -> None:
    kept(application, "one")
    page.evaluate("location.hash = '#/runs'")
    problem = page.locator(".toast.problem")
    page.locator(".runs-table tbody .pick input").check()
    for after in ("a retry", "another view"):
        page.get_by_label("Tag the chosen runs").fill("no tag")
        page.keyboard.press("Enter")
        expect(problem).to_contain_text("no tag")
        if after == "a retry":
            page.get_by_label("Tag the chosen runs").fill("good")
            page.keyboard.press("Enter")
        else:
            page.evaluate("location.hash = '#/files'")
        expect(problem).to_have_count(0)
    application.forget_refusals(400)


def vary(path: Path, seed: int, rtt: str, began: int) -> None:
    """Give a run of the scenario `same` a seed and a round-trip time of its own, and a time at which it began."""
    (path / "scenario.toml").write_text(f'name = "same"\nseed = {seed}\n[topology]\nrtt = "{rtt}"\n')
    manifest = json.loads((path / "manifest.json").read_text())
    (path / "manifest.json").write_text(json.dumps({**manifest, "name": "same"}))
    os.utime(path / "scenario.toml", (began, began))


def column(page: Page, title: str) -> list[str]:
    """The values of a column, line by line."""
    heads = page.locator(".runs-table thead tr").first.locator("th").all_inner_texts()
    at = next(i for i, head in enumerate(heads) if head.startswith(title))
    return [row.locator("> *").nth(at).inner_text() for row in page.locator(".runs-table tbody tr[data-line]").all()]


@pytest.mark.firefox
def test_the_table_shows_what_differs_sorts_groups_and_compares_with_a_baseline(
    application: Application, page: Page
) -> None:
    for number, (rate, rtt) in enumerate([(20e6, "100 ms"), (40e6, "20 ms"), (80e6, "20 ms")]):
        path = application.workspace / "runs" / kept(application, f"run{number}", rate_bps=rate)
        vary(path, number, rtt, number)
    page.evaluate("location.hash = '#/runs'")
    rows = page.locator(".runs-table tbody tr[data-line]")
    expect(rows).to_have_count(3)
    assert column(page, "rtt") == ["20 ms", "20 ms", "100 ms"]
    assert column(page, "seed") == ["2", "1", "0"]
    expect(rows.first).to_contain_text("rtt 20 ms")
    expect(rows.first.locator("svg.spark path")).to_have_count(2)
    page.get_by_role("button", name="rtt", exact=True).click()
    page.get_by_role("button", name="rtt", exact=True).click()
    expect(page.locator("[aria-sort]")).to_have_attribute("aria-sort", "descending")
    eventually(lambda: column(page, "rtt") == ["100 ms", "20 ms", "20 ms"])
    rows.first.hover()
    rows.first.locator(".pin").click()
    base = page.locator(".runs-base")
    expect(base).to_contain_text("100 ms")
    assert all("%" in one for one in column(page, "total goodput")[1:])
    page.get_by_label("Group by").select_option("topology.rtt")
    heads = page.locator(".runs-group")
    expect(heads).to_have_count(2)
    assert [head.inner_text().split()[:3] for head in heads.all()] == [["rtt", "20", "ms"], ["rtt", "100", "ms"]]
    heads.first.get_by_role("button").click()
    expect(rows).to_have_count(3)
    page.get_by_label("Choose all with rtt 20 ms").check()
    page.get_by_role("button", name="Compare with the baseline").click()
    expect(page.locator(".compare h1")).to_have_text("3 runs compared")
    assert page.evaluate("location.hash").startswith("#/compare/run0-")
    page.go_back()
    expect(page.locator(".runs-base")).to_be_visible()  # The table is as it was.


def test_columns_are_chosen(application: Application, page: Page) -> None:
    kept(application, "one")
    page.evaluate("location.hash = '#/runs'")
    page.get_by_role("button", name="Columns").click()
    dialog = page.get_by_role("dialog", name="Columns")
    dialog.get_by_label("Search columns").fill("f1 rtt p95")
    dialog.get_by_label("f1 RTT p95").check()
    dialog.get_by_role("button", name="Done").click()
    expect(page.locator(".runs-table thead")).to_contain_text("f1 RTT p95")
    page.get_by_role("button", name="Columns").click()
    dialog.get_by_role("button", name="What differs").click()
    dialog.get_by_role("button", name="Done").click()
    expect(page.locator(".runs-table thead")).not_to_contain_text("f1 RTT p95")


def test_thousands_of_runs_are_a_table_of_few_rows_that_keys_move_through(application: Application, page: Page) -> None:
    runs = 2000
    first = application.workspace / "runs" / kept(application, "one")
    vary(first, 0, "10 ms", 0)
    for number in range(1, runs):
        copy = first.with_name(f"{first.name}.{number}")
        copy.mkdir()
        for file in first.iterdir():
            if file.is_file():
                os.link(file, copy / file.name) if file.name == "summary.json" else shutil.copy(file, copy)
        vary(copy, number, "10 ms", number)
    page.evaluate("location.hash = '#/runs'")
    rows = page.locator(".runs-table tbody tr[data-line]")
    expect(rows.first).to_contain_text("seed 1999")
    assert rows.count() < 60
    # Runs that are new to the server come in parts.
    expect(page.get_by_role("status").first).to_have_text("2,000 runs")
    page.get_by_role("region", name="Runs, a line each").focus()
    page.keyboard.press("End")
    last = page.locator(".runs-table a:focus")
    page.keyboard.press("End")
    expect(last).to_have_accessible_name(re.compile("seed 0"))
    assert rows.count() < 60
    page.keyboard.press("Space")
    page.keyboard.press("Shift+ArrowUp")
    expect(page.get_by_role("region", name="Chosen runs")).to_contain_text("2 chosen")
    page.keyboard.press("b")
    expect(page.locator(".runs-base")).to_contain_text("seed 1")
    page.keyboard.press("Home")
    expect(last).to_have_accessible_name(re.compile("seed 1999"))
    page.get_by_label("Choose all", exact=True).check()
    expect(page.get_by_role("region", name="Chosen runs")).to_contain_text("2,000 chosen")
    expect(page.get_by_role("button", name="Compare")).to_be_disabled()
    page.get_by_label("Search runs").fill("seed=77")
    expect(page.get_by_role("status").first).to_contain_text("11 of 2,000 runs")

"""Live curves of flows while a run or a lab goes on; and the records in finer curves, once one zooms in."""

from __future__ import annotations

import re
from urllib.parse import parse_qs, urlsplit

import pytest
from application import Application, eventually
from playwright.sync_api import Page, Request, expect

SCENARIO = """\
name = "{name}"
duration = "{duration}"

[topology]
kind = "dumbbell"
pairs = 2
rtt = "20 ms"
bottleneck = {{ rate = "10 Mbit/s", buffer = "1 bdp" }}

[[flows]]
from = "s1"
to = "r1"
cc = "bbr"

[[flows]]
from = "s2"
to = "r2"
cc = "cubic"
"""
STATE = re.compile("STARTUP|DRAIN|PROBE_BW|PROBE_RTT")


def number(page: Page, plot: str, row: int = 0) -> float:
    """The latest value of a plot's curve, as it stands beside it."""
    said = page.locator(f"[data-plot={plot}] .values output").nth(row).inner_text()
    return float(re.sub(r"[^0-9.]", "", said) or 0)


@pytest.mark.real_time
def test_bytes_in_flight_and_the_state_of_bbr_are_seen_live(application: Application, page: Page) -> None:
    (application.workspace / "pair.toml").write_text(SCENARIO.format(name="pair", duration="150 s"))
    application.open(page, "pair.toml")
    page.get_by_role("button", name="Run", exact=True).click()
    page.locator(".dock").get_by_role("link", name=re.compile("Open the run|Report")).click()
    states = page.locator("[data-plot=bbr] .values div")
    # CUBIC has none of them.
    expect(states).to_have_count(1)
    eventually(lambda: STATE.search(states.inner_text()), "a state")
    eventually(lambda: number(page, "in-flight") > 1 and number(page, "in-flight", 1) > 1, "kilobytes in flight")
    progress = page.locator(".run-progress progress")
    eventually(lambda: float(progress.get_attribute("value") or 0) > 1, "a second of the run")
    page.get_by_role("button", name="Stop early").click()

    asked: list[dict[str, list[str]]] = []

    def note(request: Request) -> None:
        if "/series?" in request.url:
            asked.append(parse_qs(urlsplit(request.url).query))

    page.on("request", note)
    page.frame_locator(".report-frame").locator("h1").wait_for()
    # The page begins anew, at its report, when the run gets the name of one that has ended.
    expect(page).to_have_url(re.compile(r"\.failed-1"))
    expect(page.locator(".report-frame")).to_have_attribute("src", re.compile(r"\.failed-1/"))
    page.get_by_role("tab", name="Plots").click()
    canvas = page.locator("[data-plot=rtt] .canvas")
    canvas.wait_for()
    assert all("from" not in one for one in asked), "the whole run"
    canvas.focus()
    page.keyboard.press("+")

    def plots() -> set[str]:
        page.wait_for_timeout(50)  # What the page asks for is told while one waits for it.
        return {one["plot"][0] for one in asked if "from" in one}

    eventually(lambda: plots() == {"rtt", "cwnd", "goodput", "in-flight", "queue"}, "finer curves")
    (span,) = {(float(one["from"][0]), float(one["to"][0])) for one in asked if "from" in one}
    assert 0 < span[0] < span[1] < 150


@pytest.mark.real_time
def test_flows_of_a_lab_are_plotted(application: Application, page: Page) -> None:
    name = "".join(filter(str.isalnum, application.workspace.parent.name))[-20:]
    (application.workspace / "net.toml").write_text(SCENARIO.format(name=name, duration="6 s"))
    application.open(page, "net.toml")
    page.get_by_role("button", name="Lab", exact=True).click()
    page.get_by_role("button", name="Play", exact=False).click()
    rows = page.locator("[data-plot=goodput] .values div")
    expect(rows).to_have_count(2)
    expect(rows.nth(0)).to_contain_text("s1 > r1")
    eventually(lambda: number(page, "goodput") + number(page, "goodput", 1) > 5, "goodput in the plot")
    eventually(lambda: number(page, "rtt") > 15, "an RTT in the plot")
    # Once they have ended, no value stands there.
    eventually(lambda: "".join(rows.locator("output").all_inner_texts()) == "\u2013" * 2, "the flows' end")


@pytest.mark.firefox
def test_a_simulated_run_has_its_plots_after_its_end_and_after_a_reload(application: Application, page: Page) -> None:
    (application.workspace / "pair.toml").write_text(SCENARIO.format(name="pair", duration="6 s"))
    application.open(page, "pair.toml")
    page.get_by_label("Engine").select_option("simulate")
    page.get_by_role("button", name="Run", exact=True).click()
    page.locator(".dock").get_by_role("link", name="Report").wait_for()
    rows = page.locator(".dock [data-plot=goodput] .values div")
    eventually(lambda: number(page, "goodput") + number(page, "goodput", 1) > 5, "goodput in the plot")
    page.reload()
    expect(rows).to_have_count(2)
    page.locator(".dock").get_by_role("link", name="Report").click()
    page.get_by_role("tab", name="Plots").click()
    for plot in ("goodput", "rtt", "cwnd", "in-flight", "queue"):
        eventually(lambda name=plot: number(page, name) > 0, f"a value of {plot}")
    assert page.get_by_text("over before it could be watched").count() == 0

"""Measure the table of 10,000 runs: `python -m benches.web.runs`, on an idle machine with Chromium.

Of each answer of the server, the time until it has come to the page, and the server's CPU time. Of the page, CPU time
of the main thread: of a step of scrolling, all tasks and script alone, at the median over the steps.
"""

from __future__ import annotations

import os
import statistics
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
from playwright.sync_api import Page, expect

from benches.lists import RUNS, make_runs
from benches.table import show
from benches.web.__main__ import Clock, serving
from tests.e2e.application import chromium

ANSWER_MS = 1000.0
"""The most until an answer of the list is there."""
FRAME_MS = 16.0
"""The most script of a frame, at the median."""
STEPS = 60
TRIES = 5
ASK = """
async ([path, body]) => {
  const began = performance.now();
  const headers = {"Content-Type": "application/json"};
  const answer = await fetch(path, {method: "POST", headers, body: JSON.stringify(body)});
  const text = await answer.text();
  if (!answer.ok) throw new Error(text);
  JSON.parse(text);
  return performance.now() - began;
}
"""
TABLE = {
    "search": "",
    "verdict": "",
    "tag": "",
    "sort": "",
    "descending": False,
    "group": "",
    "columns": None,
    "rows": 100,
}
ASKED = {
    "first rows": {},
    "sorted by a figure": {"sort": "goodput"},
    "sorted by a setting": {"sort": "seed"},
    "searched": {"search": "cubic"},
    "grouped": {"group": "topology.rtt"},
}


def answers(page: Page, server: psutil.Process) -> Iterator[list[str]]:
    """A row for each question to the list: the median time, and the server's CPU time."""
    for what, keys in ASKED.items():
        before, times = _cpu_ms(server), []
        for _ in range(TRIES):
            times.append(page.evaluate(ASK, ["/api/runs/table", {**TABLE, **keys}]))
        cpu = (_cpu_ms(server) - before) / TRIES
        yield [f"answer, {what}", f"{statistics.median(times):.0f}", f"{cpu:.0f}", f"<= {ANSWER_MS:g}"]


def acts(page: Page) -> Iterator[list[str]]:
    """A row for each thing that is done in the page: CPU time of its main thread."""
    clock = Clock(page)

    def done(what: str, act: Callable[[], None]) -> list[str]:
        clock.start()
        act()
        page.wait_for_timeout(1500)
        return [what, f"{clock.since():.0f}", f"{clock.since('ScriptDuration'):.0f}", ""]

    rows = page.locator(".runs-table tbody tr[data-line]")
    yield done("a search", lambda: page.get_by_label("Search runs").fill("cubic"))
    page.get_by_label("Search runs").fill("")
    yield done("a column sorts", lambda: page.get_by_role("button", name="seed", exact=True).click())
    for what, group in (("plain", ""), ("grouped", "topology.rtt")):
        yield done(f"the table, {what}", lambda group=group: page.get_by_label("Group by").select_option(group))
        expect(rows.first).to_be_visible()
        for step in (46, 4600):
            tasks, script = scroll(page, clock, step)
            yield [f"scroll {step} px, {what}", f"{tasks:.1f}", f"{script:.1f}", f"<= {FRAME_MS:g} script"]
    yield done("all are chosen", lambda: page.get_by_label("Choose all", exact=True).check())
    tasks, script = scroll(page, clock, 46)
    yield ["scroll 46 px, all chosen", f"{tasks:.1f}", f"{script:.1f}", f"<= {FRAME_MS:g} script"]


def scroll(page: Page, clock: Clock, step: int) -> tuple[float, float]:
    """CPU time of a step of scrolling, at the median: of all tasks, and of script."""
    page.evaluate("document.querySelector('.runs-scroll').scrollTop = 0")
    page.wait_for_timeout(500)
    tasks, script = [], []
    for _ in range(STEPS):
        clock.start()
        page.evaluate(
            "(step) => new Promise((done) => { document.querySelector('.runs-scroll').scrollBy(0, step);"
            " requestAnimationFrame(() => requestAnimationFrame(done)); })",
            step,
        )
        tasks.append(clock.since())
        script.append(clock.since("ScriptDuration"))
    return statistics.median(tasks), statistics.median(script)


def _cpu_ms(process: psutil.Process) -> float:
    times = process.cpu_times()
    return (times.user + times.system) * 1e3


def main() -> None:
    """Make the runs, measure and print."""
    with tempfile.TemporaryDirectory(prefix="dumbbell-runs-") as name:
        os.environ["XDG_CACHE_HOME"] = f"{name}/cache"
        make_runs(Path(name) / "runs")
        with serving(Path(name)) as (url, server), chromium() as browser:
            page = browser.new_page(viewport={"width": 1440, "height": 900})
            page.goto(url)
            page.wait_for_selector(".files")
            clock, before = Clock(page), _cpu_ms(server)
            clock.start()
            page.evaluate("location.hash = '#/runs'")
            page.wait_for_selector(".runs-table tbody tr[data-line]", timeout=120_000)
            first = [["first sight, page", f"{clock.since():.0f}", f"{clock.since('ScriptDuration'):.0f}", ""]]
            # Further runs are read in the background, once.
            expect(page.locator(".runs-table")).to_have_attribute("aria-rowcount", str(RUNS + 1), timeout=300_000)
            read = _cpu_ms(server) - before
            asked = list(answers(page, server))
            done = [*first, *acts(page)]
    load = os.getloadavg()[0]
    asked.append(["reading all runs, once", "", f"{read:.0f}", ""])
    show(f"The list of {RUNS:,} runs, load {load:.1f}", ["what", "median, ms", "server's CPU, ms", "bar"], asked)
    show(f"Its table in the page, load {load:.1f}", ["what", "CPU, ms", "script, ms", "bar"], done)


if __name__ == "__main__":
    main()

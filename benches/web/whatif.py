"""Measure "What if": `python -m benches.web.whatif`, on an idle machine with Chromium.

A slider of `bbr-vs-cubic` (20 s at 100 Mbit/s, two flows, 250,000 packets) is moved by its keys. What is measured of
each move: the time until its curves are there, and the CPU time of the page's main thread and of the worker, which is
steady beside other work.
"""

from __future__ import annotations

import os
import re
import statistics
import tempfile
from pathlib import Path

import psutil
from playwright.sync_api import Page

from benches.table import show
from benches.web.__main__ import Clock, serving
from dumbbell.scenario import bundled
from tests.e2e.application import chromium

MOVES = 40
BAR_MS = 150.0
"""The most from a slider's move to its curves, at the 95th percentile."""


def worker_cpu_ms(browser_pid: int) -> float:
    """CPU time of the workers of the browser's pages so far."""
    total = 0
    for process in psutil.Process(browser_pid).children(recursive=True):
        for thread in Path(f"/proc/{process.pid}/task").glob("*"):
            try:
                if (thread / "comm").read_text().startswith("DedicatedWorker"):
                    total += int((thread / "schedstat").read_text().split()[0])
            except OSError:
                continue
    return total / 1e6


def measured(page: Page) -> list[tuple[str, float, float]]:
    """Measurements: name, median and 95th percentile in ms."""
    clock = Clock(page)
    page.locator('[data-knob="topology.bottleneck.rate"] input[type=range]').focus()
    found: dict[str, list[float]] = {"move to curves": [], "simulator": [], "main thread, CPU": [], "worker, CPU": []}
    shown = next(one.pid for one in psutil.Process().children(recursive=True) if "chrom" in one.name())
    for move in range(MOVES):
        clock.start()
        worker = worker_cpu_ms(shown)
        page.keyboard.press("ArrowLeft" if move % 4 < 2 else "ArrowRight")
        page.wait_for_timeout(50)
        page.wait_for_selector(".whatif:not([data-busy])")
        page.wait_for_timeout(100)
        cost = re.search(r"in (\d+) ms", page.locator(".player-cost").inner_text())
        found["move to curves"].append(float(page.locator(".whatif").get_attribute("data-latency") or "nan"))
        found["simulator"].append(float(cost[1]) if cost else float("nan"))
        found["main thread, CPU"].append(clock.since())
        found["worker, CPU"].append(worker_cpu_ms(shown) - worker)
    # The first moves compile the simulator.
    rest = {what: times[5:] for what, times in found.items()}
    return [(what, statistics.median(times), statistics.quantiles(times, n=20)[-1]) for what, times in rest.items()]


def main() -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as scratch:
        (Path(scratch) / "mine.toml").write_text(bundled.text("bbr-vs-cubic"))
        with serving(Path(scratch)) as (url, _), chromium() as browser:
            page = browser.new_page(viewport={"width": 1440, "height": 900})
            page.goto(url)
            page.wait_for_selector(".files")
            page.evaluate("location.hash = '#/whatif/mine.toml'")
            page.wait_for_selector(".whatif .plot canvas")
            rows = [
                [what, f"{median:.0f}", f"{p95:.0f}", f"<= {BAR_MS:g}" if what == "move to curves" else ""]
                for what, median, p95 in measured(page)
            ]
    load = os.getloadavg()[0]
    show(f"What if: a slider's move, load {load:.1f}", ["what", "median, ms", "95 %, ms", "bar"], rows)


if __name__ == "__main__":
    main()

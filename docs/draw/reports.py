"""Pictures of both kinds of report, as a browser shows them: `python docs/draw/reports.py RUN STUDY BOTTLENECKS`.

The README's picture is of a valid emulated run of `bbr-vs-cubic`, on an idle machine. The study is that of
docs/reference/report.md. The run of several bottlenecks is that of docs/explanation/bottlenecks.md.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

from playwright.sync_api import Browser

# The browser is that of the tests.
sys.path.append(str(Path(__file__).parents[2] / "tests" / "e2e"))
from application import chromium

IMAGES: Final = Path(__file__).parents[1] / "images"


def main(run: Path, study: Path, bottlenecks: Path) -> None:
    """Draw `report.png` and `bottlenecks.png` of runs' directories, and `study-report.png` of a study's."""
    with chromium() as browser:
        draw_run(browser, run / "report.html")
        draw_study(browser, study / "report.html")
        draw_bottlenecks(browser, bottlenecks / "report.html")


def draw_run(browser: Browser, report: Path) -> None:
    """The page from its first line to the congestion window."""
    page = browser.new_page(viewport={"width": 1200, "height": 900})
    page.goto(report.resolve().as_uri())
    last = page.locator('[data-plot="cwnd_packets"]')
    last.wait_for()
    box = last.bounding_box()
    assert box is not None
    clip = {"x": 0, "y": 0, "width": 1200, "height": box["y"] + box["height"]}
    page.screenshot(path=IMAGES / "report.png", full_page=True, clip=clip)  # type: ignore[arg-type]


def draw_study(browser: Browser, report: Path) -> None:
    """The first metrics, with the pointer on a point."""
    page = browser.new_page(viewport={"width": 1280, "height": 1010})
    page.goto(report.resolve().as_uri())
    page.locator(".card svg").first.wait_for()
    page.evaluate("document.querySelector('#study h2').scrollIntoView(); scrollBy(0, -2)")
    goodput = page.locator('.card[data-plot="goodput"]').nth(1)
    point = goodput.locator(".canvas g.series").nth(4).locator("circle").nth(1).bounding_box()
    assert point is not None
    page.mouse.move(point["x"] + 3, point["y"] + 3)
    page.screenshot(path=IMAGES / "study-report.png")


def draw_bottlenecks(browser: Browser, report: Path) -> None:
    """The panels from the bottleneck to the queueing delay."""
    page = browser.new_page(viewport={"width": 1200, "height": 900})
    page.goto(report.resolve().as_uri())
    boxes = [page.locator(f'[data-plot="{key}"]').bounding_box() for key in ("bottleneck", "sojourn_ms")]
    first, last = (box for box in boxes if box is not None)
    clip = {"x": 0, "y": first["y"], "width": 1200, "height": last["y"] + last["height"] - first["y"]}
    page.screenshot(path=IMAGES / "bottlenecks.png", full_page=True, clip=clip)  # type: ignore[arg-type]


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:4]))

"""How fast a lab's terminal answers: a key that comes back, and Ctrl-C while a program floods it."""

from __future__ import annotations

import re
import statistics
import time
from pathlib import Path

from playwright.sync_api import Page

LAB = """\
name = "bench-web"

[topology]
kind = "graph"

[topology.nodes]
h1 = {}
h2 = {}

[[topology.links]]
between = ["h1", "h2"]
"""
KEYS = 40
FLOODS = 9
FLOOD_S = 3.0
ECHO_MS = 30.0
INTERRUPT_MS = 200.0
"""The most for both, at the 95th percentile of keys and the median of floods."""
WATCH = """(wanted) => {
  const screen = document.querySelector(".terminal-box:not([hidden]) .xterm-rows");
  window.seen = null;
  const began = performance.now();
  const look = () => {
    if (window.seen === null && screen.textContent.includes(wanted)) window.seen = performance.now();
  };
  new MutationObserver(look).observe(screen, { subtree: true, childList: true, characterData: true });
  return began;
}"""
"""Notes when a text appears on the screen, by the page's clock."""


def rows(page: Page, folder: Path) -> list[list[str]]:
    """Rows, measured in a lab of its own: name, median and 95th percentile in ms, bar."""
    (folder / "lab.toml").write_text(LAB)
    page.evaluate("location.hash = '#/edit/lab.toml'")
    page.wait_for_selector(".react-flow__node")
    page.get_by_role("button", name="Lab", exact=True).click()
    page.get_by_role("group", name=re.compile("^host h1 ")).dblclick()
    page.locator(".terminal-box .xterm-helper-textarea").wait_for(state="attached")
    page.wait_for_timeout(2000)
    page.locator(".terminal-box:not([hidden]) .xterm-helper-textarea").focus()
    echoes = [_until(page, f"{number:03d}", type_it=f"{number:03d}") for number in range(100, 100 + KEYS)]
    page.keyboard.press("Control+c")
    floods = []
    for number in range(FLOODS):
        page.keyboard.type("clear; yes\n")
        page.wait_for_timeout(FLOOD_S * 1e3)
        floods.append(_until(page, "^C"))
        page.keyboard.type(f"clear; echo over-{number}\n")
        page.wait_for_timeout(500)
    page.get_by_role("button", name="End", exact=True).click()
    return [
        ["a key and its echo", *_cells(echoes), f"<= {ECHO_MS:g} (95 %)"],
        ["Ctrl-C against `yes`", *_cells(floods), f"<= {INTERRUPT_MS:g} (median)"],
    ]


def _until(page: Page, wanted: str, type_it: str = "") -> float:
    """The time in ms from the last key until the screen shows what it causes."""
    if type_it:
        page.keyboard.type(type_it[:-1])
        page.wait_for_timeout(60)
    began = page.evaluate(WATCH, wanted)
    if type_it:
        page.keyboard.type(type_it[-1])
    else:
        page.keyboard.press("Control+c")
    until = time.monotonic() + 20
    while (seen := page.evaluate("window.seen")) is None:
        assert time.monotonic() < until, f"{wanted} did not come"
        page.wait_for_timeout(20)
    return float(seen - began)


def _cells(times: list[float]) -> tuple[str, str]:
    return f"{statistics.median(times):.0f}", f"{statistics.quantiles(times, n=20)[-1]:.0f}"

"""Pictures of the web application, `docs/images/ui`: `python docs/draw/ui.py [NAME ...]`, or `make pictures` for all.

Each as a user sees it, of real runs and a real lab; those of the tutorial by the steps of its test. It needs Chromium,
and a minute.
"""

from __future__ import annotations

import io
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from PIL import Image
from playwright.sync_api import Browser, Page, expect

# The server and the steps are those of the tests: what changes on the page is noticed there.
sys.path.append(str(Path(__file__).parents[2] / "tests" / "e2e"))
import first_network
from application import DUMBBELL, Application, chromium, serving

PICTURES: Final = Path(__file__).parents[1] / "images" / "ui"
WIDTH, HEIGHT = 1280, 760
COLOURS: Final = 128
"""Colours of a picture: text on plain ground needs no more, and the file is a third as large."""
SCENARIO: Final = """\
# Three flows share one slow link.
name = "{name}"
description = "BBR and CUBIC share a slow link"
duration = "{duration}"

[topology]
kind = "graph"

[topology.nodes]
left = {{ kind = "router" }}
right = {{ kind = "router" }}
server = {{}}
alice = {{}}
bob = {{}}
phone = {{}}

# The bottleneck.
[[topology.links]]
between = ["left", "right"]
rate = "20 Mbit/s"
delay = "15 ms"
buffer = "1 bdp"

[[topology.links]]
between = ["server", "left"]
rate = "1 Gbit/s"

[[topology.links]]
between = ["right", "alice"]
delay = "2 ms"

[[topology.links]]
between = ["right", "bob"]
delay = "2 ms"

[[topology.links]]
between = ["right", "phone"]
delay = "20 ms"

[[flows]]
from = "server"
to = "alice"
cc = "bbr"

[[flows]]
from = "server"
to = "bob"
cc = "cubic"

[[flows]]
from = "server"
to = "phone"
cc = "{cc}"
start = "2 s"
"""
LAYOUT: Final = """\
{"nodes": {"server": {"x": 0, "y": 0}, "left": {"x": 190, "y": 0}, "right": {"x": 430, "y": 0},
"alice": {"x": 640, "y": -140}, "bob": {"x": 680, "y": 0}, "phone": {"x": 640, "y": 140}}}
"""
SOME_S: Final = 12.0
"""The time of the run in its picture, s."""
DURATION: Final = "20 s"


def main(wanted: list[str]) -> None:
    """Draw the pictures named, or all."""
    drawings: dict[str, Callable[[Page], None]] = {
        "editor": _editor, "live": _live, "comparison": _comparison, "what-if": _what_if, "lab": _lab
    }  # fmt: skip
    if unknown := set(wanted) - {*drawings, "tutorial"}:
        sys.exit(f"no such picture: {', '.join(sorted(unknown))}; there are {', '.join(drawings)}, tutorial")
    PICTURES.mkdir(parents=True, exist_ok=True)
    with chromium() as browser:
        with _home() as folder:
            _furnish(folder)
            with serving(folder) as application:
                for name in wanted or drawings:
                    if name in drawings:
                        page = _page(application, browser)
                        drawings[name](page)
                        keep(page, name)
                        page.context.close()
        if not wanted or "tutorial" in wanted:
            with _home() as folder, serving(folder) as application:
                page = _page(application, browser)
                for step in first_network.STEPS:
                    step.do(page)
                    if step.picture:
                        keep(page, step.picture)
                page.context.close()


@contextmanager
def _home() -> Iterator[Path]:
    """An empty folder in a home of its own: terminals show its short name."""
    before = os.environ["HOME"]
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "networks"
        folder.mkdir()
        # The server's terminals take it over; kernels and programs are found by absolute paths.
        os.environ["HOME"] = scratch
        try:
            yield folder
        finally:
            os.environ["HOME"] = before


def _furnish(folder: Path) -> None:
    (folder / "share.toml").write_text(SCENARIO.format(name="share", duration=DURATION, cc="cubic"))
    (folder / "share.layout.json").write_text(LAYOUT)
    for cc in ("cubic", "bbr"):
        path = folder / f"third-{cc}.toml"
        path.write_text(SCENARIO.format(name=path.stem, duration=DURATION, cc=cc))
        command = [DUMBBELL, "run", path.name, "--engine", "simulate"]
        subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)


def _page(application: Application, browser: Browser) -> Page:
    return application.page(browser, width=WIDTH, height=HEIGHT)


def keep(page: Page, name: str) -> None:
    """Take a picture of the page, as a file with few colours."""
    page.mouse.move(2, HEIGHT - 2)
    page.wait_for_timeout(400)
    shown = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    path = PICTURES / f"{name}.png"
    shown.quantize(COLOURS, dither=Image.Dither.NONE).save(path, optimize=True)
    print(f"{path}  {path.stat().st_size / 1e3:.0f} kB")


def _go(page: Page, where: str, wanted: str) -> None:
    page.evaluate(f"location.hash = '#/{where}'")
    page.wait_for_selector(wanted)


def _editor(page: Page) -> None:
    """The bottleneck is selected: its form stands beside the drawing, and the text between them."""
    _go(page, "edit/share.toml", ".node")
    page.get_by_role("button", name="Outline (O)", exact=True).click()
    page.get_by_role("button", name="Text (E)", exact=True).click()
    page.wait_for_selector(".cm-content")
    page.locator(".react-flow__edge[aria-label^='link left to right']").first.dispatch_event("click")
    page.get_by_role("button", name="Show all (1)").click()
    page.wait_for_selector(".form-pane input")


def _live(page: Page) -> None:
    """Some seconds into a run: what links carry stands on the drawing, and plots move beneath."""
    _go(page, "edit/share.toml", ".node")
    for shown in ("Outline (O)", "Form (P)"):
        page.get_by_role("button", name=shown, exact=True).click()
    page.get_by_role("button", name="Run", exact=True).click()
    page.wait_for_selector(".dock .plot canvas")
    page.get_by_role("button", name="Show all (1)").click()
    # The page runs no text as a program, so Playwright cannot wait for an expression in it.
    while float(re.sub(r" of.*|[^0-9.]", "", page.locator(".dock .run-time").inner_text()) or 0) < SOME_S:
        page.wait_for_timeout(200)


def _comparison(page: Page) -> None:
    """Two runs that differ in one setting: figures, and curves over each other."""
    _go(page, "runs", ".runs-table")
    for name in ("third-bbr", "third-cubic"):
        row = page.locator(".runs-table tbody tr", has_text=name)
        row.locator(".pick input").check()
    page.get_by_role("button", name="Compare").click()
    page.get_by_role("button", name="RTT", exact=True).click()
    page.locator("[data-plot=rtt] canvas").wait_for()
    page.locator("[data-plot=rtt]").scroll_into_view_if_needed()


def _what_if(page: Page) -> None:
    """A smaller buffer, and the curves of the larger one beneath."""
    _go(page, "whatif/third-cubic.toml", ".whatif .plot canvas")
    page.wait_for_selector(".whatif:not([data-busy])")
    page.get_by_role("button", name="Keep these curves").click()
    buffer = page.locator('[data-knob="topology.links.0.buffer"] .knob-value input')
    buffer.fill("0.3")
    buffer.press("Enter")
    page.wait_for_timeout(300)
    page.wait_for_selector(".whatif:not([data-busy])")


def _lab(page: Page) -> None:
    """Flows go on, and a ping runs in a host's terminal."""
    _go(page, "edit/share.toml", ".node")
    page.get_by_role("button", name="Lab", exact=True).click()
    page.wait_for_selector(".lab-node")
    page.get_by_role("button", name="Play").click()
    page.get_by_role("group", name=re.compile("^host alice ")).click()
    page.get_by_role("button", name="Terminal", exact=True).click()
    page.locator(".terminal-box:not([hidden]) .xterm-helper-textarea").focus()
    page.wait_for_timeout(1_000)
    page.keyboard.type("ping -c 4 server\n")
    expect(page.locator(".xterm-rows").first).to_contain_text("rtt min/avg/max")


if __name__ == "__main__":
    expect.set_options(timeout=60_000)
    main(sys.argv[1:])

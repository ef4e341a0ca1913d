"""Measure the web application: `python -m benches.web`, on an idle machine with Chromium.

Its start, the editor on networks of 200 and 1,000 nodes, and a lab's terminal. Of the editor, CPU time of the page's
main thread, not frames: it is steady beside other work. A command's time is until its answer, with problems and
drawing, has come back to the page. Beside it stands the CPU time that it costs the server's process, and the page's
main thread, which draws it.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
from playwright.sync_api import CDPSession, Page

from benches.table import show
from benches.web import begin, terminal
from benches.web.networks import network
from tests.e2e.application import chromium

SIZES = {200: 371, 1000: 1899}
"""Nodes and links."""
BARS = {
    (200, "open, script"): 400.0,
    (1000, "open, script"): 400.0,
    (200, "drag step"): 12.0,
    (1000, "drag step"): 12.0,
    (200, "command, p95"): 30.0,
    (1000, "command, p95"): 30.0,
}
"""The most that it may take, ms."""
ASK = """
async ({path, count}) => {
  const topic = `document/${path}`, socket = new WebSocket(`ws://${location.host}/api/socket`);
  let said;
  socket.onmessage = ({data}) => said?.(JSON.parse(data));
  const hear = (wanted) => new Promise((done) => (said = (reply) => wanted(reply) && done(reply)));
  await new Promise((opened) => (socket.onopen = opened));
  const first = hear((reply) => reply.type === "event");
  socket.send(JSON.stringify({id: 1, do: "subscribe", topic, since: null}));
  let base = (await first).event.revision;
  const times = [];
  for (let i = 0; i < count; i++) {
    const command = {do: "set", key: ["topology", "links", 1, "rate"], value: `${101 + i} Mbit/s`};
    const began = performance.now();
    const told = hear((reply) => reply.type === "event" && reply.event.revision > base);
    socket.send(JSON.stringify({id: 2 + i, do: "command", topic, base, command}));
    base = (await told).event.revision;
    times.push(performance.now() - began);
  }
  socket.close();
  return times;
}
"""
"""Changes a link so often; the time of each in ms, until the event with the new state is there and parsed."""
STEPS = 60
COMMANDS = 100


def main() -> None:
    """Measure and print."""
    rows = []
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as scratch:
        for nodes, links in SIZES.items():
            (Path(scratch) / f"n{nodes}.toml").write_text(network(nodes, links))
        with serving(Path(scratch)) as (url, server), chromium() as browser:
            for nodes in SIZES:
                page = browser.new_page(viewport={"width": 1440, "height": 900})
                page.goto(url)
                page.wait_for_selector(".files")
                for what, cost in measured(page, nodes, server):
                    bar = BARS.get((nodes, what))
                    rows.append([str(nodes), what, f"{cost:.1f}", f"<= {bar:g}" if bar else ""])
                page.close()
            page = browser.new_page(viewport={"width": 1440, "height": 900})
            page.goto(url)
            page.wait_for_selector(".files")
            answers = terminal.rows(page, Path(scratch))
            page.close()
            starts = begin.rows(browser, _command(Path(scratch)))
    show(f"Start, load {load:.1f}", ["what", "median, ms", "most, ms", "bar"], starts)
    show(
        f"The editor: CPU time of the main thread; of a command, the time until its state is there. Load {load:.1f}",
        ["nodes", "what", "ms", "bar"],
        rows,
    )
    show(f"A terminal, load {load:.1f}", ["what", "median, ms", "95 %, ms", "bar"], answers)


def _command(folder: Path) -> list[str | Path]:
    """The server for a folder."""
    as_root = ["--as-root"] if os.geteuid() == 0 else []
    return [Path(sys.executable).with_name("dumbbell"), "ui", folder, "--no-open", *as_root]


@contextmanager
def serving(folder: Path) -> Iterator[tuple[str, psutil.Process]]:
    """The server's URL with its token, and its process."""
    with subprocess.Popen(_command(folder), stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            yield process.stdout.readline().strip(), psutil.Process(process.pid)
        finally:
            process.terminate()


class Clock:
    """CPU time of a page's main thread."""

    def __init__(self, page: Page) -> None:
        self._session: CDPSession = page.context.new_cdp_session(page)
        self._session.send("Performance.enable", {"timeDomain": "threadTicks"})
        self._began: dict[str, float] = {}

    def start(self) -> None:
        """Count from here."""
        self._began = self._read()

    def since(self, name: str = "TaskDuration") -> float:
        """Since `start`, in ms: of all tasks, or of `ScriptDuration` alone."""
        return (self._read()[name] - self._began[name]) * 1e3

    def _read(self) -> dict[str, float]:
        found: dict[str, Any] = self._session.send("Performance.getMetrics")
        return {one["name"]: one["value"] for one in found["metrics"]}


def measured(page: Page, nodes: int, server: psutil.Process) -> Iterator[tuple[str, float]]:
    """Yields measurements: name, and time in ms."""
    clock = Clock(page)
    clock.start()
    page.evaluate(f"location.hash = '#/edit/n{nodes}.toml'")
    page.wait_for_selector(".react-flow__node, .overview", timeout=60_000)
    page.wait_for_timeout(1500)
    yield "open, script", clock.since("ScriptDuration")
    yield "open, all", clock.since()

    # In the middle of the drawing, where most links are.
    node = page.locator(f'[data-node="r{nodes // 2}"] .shape')
    page.locator("#main").focus()
    page.keyboard.press("/")
    page.keyboard.type(f"r{nodes // 2}")
    page.keyboard.press("Enter")
    page.keyboard.press("1")
    page.wait_for_timeout(500)
    box = node.bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 4, y + 4)
    page.wait_for_timeout(200)
    clock.start()
    for step in range(STEPS):
        page.mouse.move(x + 4 + 2 * step, y + 4 + step)
        page.wait_for_timeout(16)
    yield "drag step", clock.since() / STEPS
    page.mouse.up()
    page.wait_for_timeout(1000)

    pane = page.locator(".react-flow__pane").bounding_box()
    assert pane is not None
    page.mouse.move(pane["x"] + 12, pane["y"] + 12)
    page.mouse.down()
    clock.start()
    for step in range(STEPS):
        page.mouse.move(pane["x"] + 12 + 2 * step, pane["y"] + 12 + step)
        page.wait_for_timeout(16)
    yield "pan step", clock.since() / STEPS
    page.mouse.up()

    clock.start()
    before = server.cpu_times()
    times = page.evaluate(ASK, {"path": f"n{nodes}.toml", "count": COMMANDS})
    after = server.cpu_times()
    yield "command, server's CPU", (after.user + after.system - before.user - before.system) * 1e3 / COMMANDS
    yield "command, page's CPU", clock.since() / COMMANDS
    yield "command, median", statistics.median(times)
    yield "command, p95", statistics.quantiles(times, n=20)[-1]


if __name__ == "__main__":
    main()

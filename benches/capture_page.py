"""The report of a capture of 4.72 million packets: how long it takes, its size, and how smooth it is in Chromium.

A zoom step is a key that zooms in or out. Its cost is what Chromium's main thread spent on tasks meanwhile. It needs
Chromium and Playwright, as the tests of the page do.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import dumbbell
from benches.pcap import PACKETS, write
from benches.table import show
from tests.e2e.application import chromium

STEPS = 40
AT_MOST = {"report_s": 5.0, "page_mb": 3.0, "zoom_ms": 16.0}


def zoom_ms(page_file: Path) -> float:
    """Main-thread time of a zoom step, ms."""
    with chromium() as browser:
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.goto(page_file.as_uri())
        page.wait_for_selector(".u-over")
        session = page.context.new_cdp_session(page)
        session.send("Performance.enable")

        def busy_s() -> float:
            metrics = session.send("Performance.getMetrics")["metrics"]
            return float(next(one["value"] for one in metrics if one["name"] == "TaskDuration"))

        page.locator("[data-plot=sequence_bytes] .canvas").focus()
        before = busy_s()
        for step in range(STEPS):
            page.keyboard.press("+" if step % 10 < 6 else "-")
        spent = busy_s() - before
    return 1000 * spent / STEPS


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--packets", type=int, default=PACKETS)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        file = Path(scratch) / "made.pcap"
        write(file, options.packets)
        capture = dumbbell.pcap(file, output=Path(scratch) / "out")
        start = time.perf_counter()
        page = capture.report()
        took = time.perf_counter() - start
        rows = [
            ["report, s", f"{took:.2f}", f"{AT_MOST['report_s']:g}"],
            ["page, MB", f"{page.stat().st_size / 1e6:.2f}", f"{AT_MOST['page_mb']:g}"],
            ["zoom step, ms of the main thread", f"{zoom_ms(page):.1f}", f"{AT_MOST['zoom_ms']:g}"],
        ]
    show(f"The report of {options.packets:,} packets", ["", "measured", "at most"], rows)


if __name__ == "__main__":
    main()

"""How long it takes until the application can be used: its URL, then its page in a browser that has not seen it."""

from __future__ import annotations

import statistics
import subprocess
import time
from pathlib import Path

import psutil
from playwright.sync_api import Browser

TIMES = 9
URL_MS = 300.0
USABLE_MS = 1500.0
"""The most that both may take."""


def rows(browser: Browser, command: list[str | Path]) -> list[list[str]]:
    """Rows: name, median and largest in ms, bar."""
    printed, spent, usable = [], [], []
    for _ in range(TIMES):
        began = time.monotonic()
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            url = process.stdout.readline().strip()
            printed.append((time.monotonic() - began) * 1e3)
            used = psutil.Process(process.pid).cpu_times()
            spent.append((used.user + used.system) * 1e3)
            context = browser.new_context()
            page = context.new_page()
            page.goto(url)
            page.wait_for_selector(".files .list, .files .welcome")
            usable.append((time.monotonic() - began) * 1e3)
            context.close()
            process.terminate()
    figures = (
        ("URL printed", printed, f"<= {URL_MS:g}"),
        ("URL printed, CPU", spent, ""),
        ("page usable", usable, f"<= {USABLE_MS:g}"),
    )
    return [[what, f"{statistics.median(times):.0f}", f"{max(times):.0f}", bar] for what, times, bar in figures]

"""The page of `dumbbell cc score` fits windows of several widths."""

from __future__ import annotations

import subprocess
from pathlib import Path

from application import DUMBBELL
from playwright.sync_api import Browser


def test_it_fits_its_window(browser: Browser, tmp_path: Path) -> None:
    command = [DUMBBELL, "cc", "score", "cubic", "--case", "alone/2Mbps-20ms-1bdp", "--quiet"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    (file,) = (tmp_path / "scores").glob("*.html")
    for width in (1440, 390):
        context = browser.new_context(viewport={"width": width, "height": 844})
        page = context.new_page()
        page.goto(file.as_uri())
        page.locator("h1").wait_for()
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        context.close()

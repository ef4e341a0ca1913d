"""A browser for the pages."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from application import PATIENCE_S, Application, serving
from playwright.sync_api import Browser, Page, expect, sync_playwright

QUIET = ("--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run")

expect.set_options(timeout=PATIENCE_S * 1e3)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    assert chromium, "the browser tests need Chromium: apt-get install chromium, or set CHROMIUM to its path"
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu", *QUIET])
        yield started
        started.close()


@pytest.fixture
def application(tmp_path: Path) -> Iterator[Application]:
    """The web application on an empty workspace. A page's error, or a request to another host, fails the test."""
    workspace = tmp_path / "work"
    workspace.mkdir()
    with serving(workspace) as served:
        yield served


@pytest.fixture
def page(application: Application, browser: Browser) -> Iterator[Page]:
    """A page of it, wide and light."""
    opened = application.page(browser)
    yield opened
    opened.context.close()

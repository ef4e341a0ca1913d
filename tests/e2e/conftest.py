"""A browser for the pages."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from application import PATIENCE_S, Application, chromium, serving
from playwright.sync_api import Browser, Page, expect

expect.set_options(timeout=PATIENCE_S * 1e3)


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with chromium() as started:
        yield started


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

"""A browser for the pages."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from application import PATIENCE_S, Application, chromium, serving
from playwright.sync_api import Browser, Page, expect

expect.set_options(timeout=PATIENCE_S * 1e3)


@pytest.fixture(scope="session", autouse=True)
def runtime() -> Iterator[None]:
    """A place for labs. Pages show all labs of a user, and tests run side by side."""
    # A socket's path has room for 107 characters, too few for one below `tmp_path`.
    with tempfile.TemporaryDirectory(prefix="dumbbell-e2e-") as directory, pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_RUNTIME_DIR", directory)
        yield


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

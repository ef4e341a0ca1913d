"""A browser for the pages: Chromium, or Firefox with `TEST_BROWSER=firefox`."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from application import PATIENCE_S, Application, chromium, serving
from firefox import firefox
from playwright.sync_api import Browser, Page, expect

expect.set_options(timeout=PATIENCE_S * 1e3)

BROWSERS = {"chromium": chromium, "firefox": firefox}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Chooses the browser of each test. `make test-thorough` repeats those marked `firefox` in Firefox."""
    if "browser" not in metafunc.fixturenames:
        return
    chosen = os.environ.get("TEST_BROWSER") or "chromium"
    if chosen not in BROWSERS:
        raise pytest.UsageError(f"TEST_BROWSER: unknown browser {chosen!r}; use one of {', '.join(BROWSERS)}")
    browsers = [pytest.param(chosen, id=pytest.HIDDEN_PARAM)]
    if chosen != "firefox" and metafunc.definition.get_closest_marker("firefox"):
        # A group is one process, where all of them share a browser.
        marks = (pytest.mark.thorough, pytest.mark.xdist_group("firefox"))
        browsers.append(pytest.param("firefox", marks=marks))
    metafunc.parametrize("browser", browsers, indirect=True, scope="session")


@pytest.fixture(scope="session", autouse=True)
def runtime() -> Iterator[None]:
    """A place for labs. Pages show all labs of a user, and tests run side by side."""
    # A socket's path has room for 107 characters, too few for one below `tmp_path`.
    with tempfile.TemporaryDirectory(prefix="dumbbell-e2e-") as directory, pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_RUNTIME_DIR", directory)
        yield


@pytest.fixture(scope="session")
def browser(request: pytest.FixtureRequest) -> Iterator[Browser]:
    with BROWSERS[request.param]() as started:
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

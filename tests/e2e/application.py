"""The web application as a process of its own, and pages of it that complain."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar
from urllib.parse import urlsplit

from playwright.sync_api import Browser, Page, sync_playwright

T = TypeVar("T")

OFFLINE = (
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE *.localhost",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)
"""Chromium finds no other machine, and looks for none by itself."""
DUMBBELL = Path(sys.executable).with_name("dumbbell")
PATIENCE_S = 60.0
"""Until something on a busy machine is given up."""


def eventually(look: Callable[[], T], what: str = "", patience_s: float = PATIENCE_S) -> T:
    """Returns the value of `look` as soon as it is true."""
    until = time.monotonic() + patience_s
    while True:
        found = look()
        if found:
            return found
        assert time.monotonic() < until, f"{what or 'it'} did not come about within {patience_s:g} s"
        time.sleep(0.05)


@contextmanager
def chromium() -> Iterator[Browser]:
    """A browser that reaches this machine alone."""
    # Without windows of a desktop, a page takes a third of the CPU time.
    names = ("chromium-headless-shell", "chromium", "google-chrome")
    path = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, names)), None)
    assert path, "the browser tests need Chromium: apt-get install chromium-headless-shell, or set CHROMIUM to its path"
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=path, args=["--no-sandbox", "--disable-gpu", *OFFLINE])
        yield started
        started.close()


@dataclass
class Application:
    """A server and its workspace."""

    workspace: Path
    process: subprocess.Popen[str]
    url: str
    """With the token, which logs in."""
    complaints: list[str] = field(default_factory=list)
    """Errors of pages, and requests to other hosts."""

    def page(self, browser: Browser, width: int = 1440, height: int = 900, scheme: str = "light") -> Page:
        """A page in a context of its own, logged in. What goes wrong in it is noted."""
        context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)  # type: ignore[arg-type]
        return self.tab(context.new_page())

    def tab(self, page: Page) -> Page:
        """Log a page in."""
        host = urlsplit(self.url).netloc
        page.set_default_timeout(PATIENCE_S * 1e3)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        # A start that asks a question first is a refused request, of which Chromium makes an error.
        page.on(
            "console",
            lambda said: said.type == "error" and " 428 " not in said.text and self.complaints.append(said.text),
        )

        def asked(url: str) -> None:
            parts = urlsplit(url)
            if parts.scheme not in ("data", "blob") and parts.netloc != host:
                self.complaints.append(f"request to {url}")

        page.on("request", lambda request: asked(request.url))
        page.goto(self.url)
        page.wait_for_selector(".app .view")
        return page

    def forget_refusals(self, status: int) -> None:
        """Forget requests that were refused with this status, as they should be: Chromium makes an error of each."""
        said = f"the server responded with a status of {status}"
        self.complaints[:] = [one for one in self.complaints if said not in one]

    def open(self, page: Page, path: str) -> None:
        """Open a scenario, and wait for its drawing."""
        page.evaluate(f"location.hash = '#/edit/{path}'")
        page.wait_for_selector(".editor .canvas")

    def text(self, path: str) -> str:
        """A file of the workspace."""
        return (self.workspace / path).read_text(encoding="utf-8")


@contextmanager
def serving(workspace: Path, within: Sequence[str] = ()) -> Iterator[Application]:
    """Serve a folder until the block ends. Nothing that a page complained about is overlooked.

    Args:
        workspace: the folder.
        within: a program that becomes the server, which it gets as its last arguments, as root of a user namespace.
    """
    command = [*within, str(DUMBBELL), "ui", str(workspace), "--no-open"]
    if os.geteuid() == 0 or within:
        command.append("--as-root")
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        url = process.stdout.readline().strip()
        assert url.startswith("http://d-"), process.communicate()
        served = Application(workspace, process, url)
        yield served
    finally:
        process.terminate()
        try:
            process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    assert served.complaints == [], "\n".join(served.complaints)

"""The tutorial "Draw your first network", followed word for word: what it says is there, is there."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import first_network
import pytest
from application import DUMBBELL, Application, eventually
from playwright.sync_api import Browser, Page

from tools import whatif

DOCS = Path(__file__).parents[2] / "docs"
TEXT = (DOCS / "tutorial" / "draw.md").read_text(encoding="utf-8")
SECTIONS = dict(re.findall(r"^## (.+?)\n(.*?)(?=^## |\Z)", TEXT, re.MULTILINE | re.DOTALL))

SEE = """() => {
  window.seen = new Set();
  const look = () => {
    for (const one of document.querySelectorAll("button, a, label, b, [aria-label], [title]"))
      for (const said of [one.getAttribute("aria-label"), one.title, one.textContent])
        if (said && said.length < 80) window.seen.add(said.trim());
  };
  new MutationObserver(look).observe(document.body, { subtree: true, childList: true });
  look();
}"""
"""Notes what things on the page are called, also those that are shown for a moment."""


def test_the_tutorial_has_the_steps_that_are_tested_and_their_pictures() -> None:
    assert [*SECTIONS] == [*(step.heading for step in first_network.STEPS), "What you have now"]
    for step in first_network.STEPS:
        pictures = re.findall(r"\]\(\.\./images/ui/([\w-]+)\.png\)", SECTIONS[step.heading])
        assert pictures == ([step.picture] if step.picture else [])
        assert all((DOCS / "images" / "ui" / f"{name}.png").is_file() for name in pictures)


@pytest.mark.real_time
@pytest.mark.skipif(not (whatif.WEB / "simulator.wasm").exists(), reason="tools/wasm has built no simulator")
def test_the_tutorial_is_followed(application: Application, browser: Browser) -> None:
    """Acceptance scenario 1, too: live plots, a report, and the name that the same run has at the command line."""
    page = application.page(browser, width=1280, height=760)
    page.evaluate(SEE)
    for step in first_network.STEPS:
        if step.do is first_network.run:
            moves_at_once(page)
        step.do(page)
        seen = page.evaluate("[...window.seen]")
        for word in re.findall(r"\*\*(.+?)\*\*", SECTIONS[step.heading]):
            assert any(one == word or one.startswith(f"{word} (") for one in seen), f"{step.heading}: {word}"
    drawn = application.text(first_network.FILE)
    assert drawn == re.findall(r"```toml\n(.*?)```", TEXT, re.DOTALL)[-1]
    page.context.close()

    (run,) = (path.name for path in (application.workspace / "runs").glob("[!.]*"))
    command = [DUMBBELL, "run", first_network.FILE, "--output", "elsewhere", "--quiet"]
    subprocess.run(command, cwd=application.workspace, capture_output=True, check=False)
    # A run that this machine was too busy for has its name with an appendix.
    (again,) = (path.name for path in (application.workspace / "elsewhere").glob("[!.]*"))
    assert again.partition(".")[0] == run.partition(".")[0]


def moves_at_once(page: Page) -> None:
    """Press Run, and see a plot that moves."""
    first_network.tool(page, "Run")
    canvas = page.locator(".dock [data-plot=goodput] canvas").first
    canvas.wait_for()
    before = canvas.evaluate("canvas => canvas.toDataURL()")
    eventually(lambda: canvas.evaluate("canvas => canvas.toDataURL()") != before, "a plot that moves", patience_s=5)

"""Every view of the web application, each with how one gets there: for tests that go through all of them."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path

from application import DUMBBELL
from playwright.sync_api import Page, expect

NET = """\
# Three flows share one slow link.
name = "{name}"
description = "BBR and CUBIC share a slow link"
duration = "{duration}"

[topology]
kind = "graph"

[topology.nodes]
left = {{ kind = "router" }}
right = {{ kind = "router" }}
server = {{}}
alice = {{}}
bob = {{}}

# The bottleneck.
[[topology.links]]
between = ["left", "right"]
rate = "20 Mbit/s"
delay = "15 ms"
buffer = "1 bdp"

[[topology.links]]
between = ["server", "left"]
rate = "1 Gbit/s"

[[topology.links]]
between = ["right", "alice"]
delay = "2 ms"

[[topology.links]]
between = ["right", "bob"]
delay = "20 ms"

[[flows]]
from = "server"
to = "alice"
cc = "{cc}"

[[flows]]
from = "server"
to = "bob"
cc = "cubic"

"""
STUDY = """
[sweep]
"flows.0.cc" = ["bbr", "reno"]
"flows.1.start" = ["0 s", "1 s"]
"""
PROGRAM = """
[[programs]]
node = "alice"
command = "true"
"""


def furnish(workspace: Path, name: str) -> None:
    """Scenarios of every sort, two runs and a study of them, by the simulator. `name` is the lab's own."""
    files = {
        # Views of the run that goes on take a minute on a busy machine.
        "fine.toml": NET.format(name=name, duration="600 s", cc="bbr"),
        "wrong.toml": NET.format(name="wrong", duration="3 s", cc="bbr").replace('from = "server"', 'from = "nobody"'),
        "one.toml": NET.format(name="one", duration="2 s", cc="bbr"),
        "other.toml": NET.format(name="other", duration="2 s", cc="reno"),
        "study.toml": NET.format(name="study", duration="2 s", cc="bbr") + STUDY,
        "theirs.toml": NET.format(name="theirs", duration="2 s", cc="bbr") + PROGRAM,
    }
    for path, text in files.items():
        (workspace / path).write_text(text)
    for path in ("one.toml", "other.toml", "study.toml"):
        command = [DUMBBELL, "run", path, "--engine", "simulate", "--quiet"]
        subprocess.run(command, cwd=workspace, check=True, capture_output=True)


def results(workspace: Path, folder: str) -> list[str]:
    """The ids of the runs or studies."""
    return sorted(path.name for path in (workspace / folder).glob("[!.]*"))


def at(page: Page, where: str, wanted: str) -> None:
    """Go to a place, and wait for a part of it."""
    page.evaluate(f"location.hash = '#/{where}'")
    page.locator(wanted).first.wait_for()


def opened(page: Page, path: str) -> None:
    """Open a scenario, with its drawing to be seen."""
    at(page, f"edit/{path}", ".editor")
    if narrow(page):
        page.locator(".panes").get_by_text("Drawing", exact=True).click()
    page.locator(f'.file-name b[title="{path}"]').wait_for(state="attached")
    page.locator(".react-flow__node").first.wait_for()


def narrow(page: Page) -> bool:
    """Whether the editor shows one pane at a time."""
    return page.viewport_size is not None and page.viewport_size["width"] < 860


def pane(page: Page, name: str, button: str) -> None:
    """Show a part of the editor."""
    if narrow(page):
        page.locator(".panes").get_by_text(name, exact=True).click()
    elif page.get_by_role("button", name=button, exact=True).get_attribute("aria-pressed") == "false":
        page.get_by_role("button", name=button, exact=True).click()


def dialog(page: Page, button: str) -> None:
    """A dialog of the list of files."""
    at(page, "files", ".files .list")
    page.get_by_role("button", name=button).first.click()
    page.get_by_role("dialog").wait_for()


def editor(page: Page, path: str, name: str, button: str) -> None:
    """One part of the editor; the bottleneck is chosen."""
    opened(page, path)
    pane(page, name, button)


def form(page: Page) -> None:
    """The bottleneck's form."""
    editor(page, "fine.toml", "Outline", "Outline (O)")
    page.locator(".outline [role=option]", has_text="left \N{EN DASH} right").click()
    pane(page, "Form", "Form (P)")
    page.locator(".form-pane input").first.wait_for()


def live(page: Page) -> None:
    """A run in the dock of the editor, then on its own page."""
    opened(page, "fine.toml")
    if page.locator(".dock").count() == 0:
        page.get_by_label("Engine").select_option("emulate")
        page.get_by_role("button", name="Run", exact=True).click()
    page.wait_for_selector(".dock .plot canvas")


def live_run(page: Page) -> None:
    """All plots of the run that goes on."""
    live(page)
    page.locator(".dock").get_by_role("link", name="Open the run").click()
    page.wait_for_selector(".run .plot canvas")


def stopped(page: Page) -> None:
    """The run in its dock, with the verdict."""
    live_run(page)
    page.get_by_role("button", name="Stop early").click()
    page.frame_locator(".report-frame").locator("h1").wait_for()
    at(page, "edit/fine.toml", ".dock")
    page.locator(".dock").get_by_role("link", name="Report").wait_for()


def consent(page: Page) -> None:
    """The question before somebody's programs run."""
    opened(page, "theirs.toml")
    page.get_by_role("button", name="Run", exact=True).click()
    page.get_by_role("dialog", name="Run these programs?").wait_for()


def tab(page: Page, run: str, name: str) -> None:
    """A part of a run that has ended."""
    at(page, f"runs/{run}", ".run-head")
    page.get_by_role("tab", name=name).click()


def lab(page: Page) -> None:
    """A lab with a terminal, which the page starts unless it is up."""
    page.evaluate("location.hash = '#/labs'")
    page.locator(".nothing, .results-table").first.wait_for()
    if page.get_by_text("No lab is up.").count():
        opened(page, "fine.toml")
        page.get_by_role("button", name="Lab", exact=True).click()
    else:
        page.locator(".results-table th a").first.click()
    page.wait_for_selector(".lab-node")
    page.get_by_role("group", name=re.compile("^host alice ")).click()
    page.get_by_role("button", name="Terminal", exact=True).click()
    expect(page.locator(".terminal-box:not([hidden]) .xterm-rows").first).to_contain_text(re.compile("[#$>]"))


def keyed(page: Page, key: str) -> None:
    """Opens a view by its key."""
    at(page, "files", ".files .list")
    page.locator("#main").focus()
    page.keyboard.press(key)
    page.locator("[role=dialog], dialog").first.wait_for()


def views(workspace: Path) -> dict[str, Callable[[Page], None]]:
    """How one gets to each view, by its name. In this order: some start what later ones show."""
    runs, studies = results(workspace, "runs"), results(workspace, "studies")
    one = next(run for run in runs if run.startswith("one-"))
    other = next(run for run in runs if run.startswith("other-"))
    return {
        "files": lambda page: at(page, "files", ".files .list"),
        "new scenario": lambda page: dialog(page, "New scenario"),
        "import": lambda page: dialog(page, "Import"),
        "help": lambda page: keyed(page, "?"),
        "palette": lambda page: keyed(page, "Control+k"),
        "drawing": lambda page: editor(page, "fine.toml", "Drawing", "Outline (O)"),
        "outline": lambda page: editor(page, "fine.toml", "Outline", "Outline (O)"),
        "form": form,
        "text": lambda page: editor(page, "fine.toml", "Text", "Text (E)"),
        "problems": lambda page: editor(page, "wrong.toml", "Drawing", "Text (E)"),
        "consent": consent,
        "runs": lambda page: at(page, "runs", ".runs-table tbody tr[data-line]"),
        "studies": lambda page: at(page, "studies", ".results-table"),
        "report": lambda page: tab(page, one, "Report"),
        "scenario of a run": lambda page: tab(page, one, "Scenario"),
        "log": lambda page: tab(page, one, "Log and files"),
        "study": lambda page: at(page, f"studies/{studies[0]}", ".run-head"),
        "comparison": lambda page: at(page, f"compare/{one}/{other}", ".compare table"),
        "what if": lambda page: at(page, "whatif/one.toml", ".whatif .plot canvas"),
        "dock": live,
        "live run": live_run,
        "dock of a run that ended": stopped,
        "lab": lab,
    }

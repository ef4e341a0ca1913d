"""While a run or a lab of a scenario goes on its drawing is locked; nothing that was typed is lost."""

from __future__ import annotations

import re
import signal
import subprocess
from pathlib import Path

import pytest
from application import DUMBBELL, Application, eventually
from playwright.sync_api import Page, expect

SCENARIO = """\
name = "pair"
duration = "{duration}"

[topology]
kind = "graph"

[topology.nodes]
h1 = {{}}
h2 = {{}}

[[topology.links]]
between = ["h1", "h2"]
rate = "5 Mbit/s"
delay = "5 ms"

[[flows]]
from = "h1"
to = "h2"
"""


def node(page: Page, name: str) -> tuple[float, float]:
    """The middle of a node, in pixels of the window."""
    box = page.locator(f".node[data-node={name}]").bounding_box()
    assert box is not None
    return box["x"] + box["width"] / 2, box["y"] + 20


def begin(workspace: Path, *arguments: str) -> subprocess.Popen[bytes]:
    """A command in the workspace, as somebody else would start it there."""
    return subprocess.Popen(
        [DUMBBELL, *arguments],
        cwd=workspace,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )


@pytest.mark.real_time
def test_a_run_locks_the_drawing_and_takes_no_edit_along(application: Application, page: Page) -> None:
    file = application.workspace / "pair.toml"
    file.write_text(SCENARIO.format(duration="60 s"))
    before = file.read_text()
    application.open(page, "pair.toml")
    page.keyboard.press("e")
    text = page.get_by_label("Text of pair.toml")
    expect(text).to_be_visible()
    # Somebody begins a run while a line is being typed: that line arrives.
    text.focus()
    page.keyboard.press("Control+End")
    page.keyboard.type("# typed before")
    run = begin(application.workspace, "run", "pair.toml")
    try:
        bar = page.locator(".lock")
        expect(bar).to_contain_text("A run of this scenario goes on")
        typed = f"{before}# typed before"
        eventually(lambda: file.read_text() == typed, "what was typed in the file")
        # Now the text cannot be typed into, and all else asks first.
        text.focus()
        page.keyboard.type("# and after")
        expect(text).not_to_contain_text("after")
        page.locator(".node[data-node=h1]").click()
        page.keyboard.press("Delete")
        question = page.get_by_role("dialog", name=re.compile("Change it"))
        question.get_by_role("button", name="Leave it").click()
        expect(page.locator(".node")).to_have_count(2)
        # A node may stand elsewhere.
        x, y = node(page, "h1")
        page.mouse.move(x, y)
        page.mouse.down()
        page.mouse.move(x, y + 80, steps=4)
        page.mouse.up()
        eventually((application.workspace / "pair.layout.json").exists, "the layout's file")
        expect(question).to_have_count(0)
        assert file.read_text() == typed
        # Whoever says yes once is not asked again, and no edit was lost.
        page.keyboard.press("h")
        question.get_by_role("button", name="Change it").click()
        expect(page.locator(".node")).to_have_count(3)
        expect(bar).to_contain_text("count from the next start")
        page.keyboard.press("h")
        expect(page.locator(".node")).to_have_count(4)
        expect(page.get_by_role("dialog")).to_have_count(0)
        eventually(lambda: file.read_text().count("= {}") == 4, "both hosts in the file")
        (going,) = application.workspace.glob("runs/.partial-*")
        assert (going / "scenario.toml").read_text().count("h3") == 0
    finally:
        run.send_signal(signal.SIGTERM)
        run.wait(30)
    expect(page.locator(".lock")).to_have_count(0)


def test_a_lab_locks_the_drawing_until_it_ends(application: Application, page: Page) -> None:
    name = "".join(filter(str.isalnum, application.workspace.parent.name))[-20:]
    (application.workspace / "pair.toml").write_text(SCENARIO.format(duration="1 s"))
    application.open(page, "pair.toml")
    lab = begin(application.workspace, "lab", "up", "pair.toml", "--name", name)
    try:
        expect(page.locator(".lock")).to_contain_text("Links of the lab are changed on its page")
        page.keyboard.press("h")
        question = page.get_by_role("dialog", name=re.compile("Change it"))
        expect(question).to_be_visible()
        # It ends while the question stands: nothing is left to ask, and the host is there.
        assert lab.stdin is not None
        lab.stdin.close()
        lab.wait(30)
        expect(question).to_have_count(0)
        expect(page.locator(".node")).to_have_count(3)
        expect(page.locator(".lock")).to_have_count(0)
    finally:
        lab.kill()
        lab.wait()

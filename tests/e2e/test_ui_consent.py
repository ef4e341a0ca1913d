"""Programs of a scenario that came from elsewhere are shown, and run only after the user has agreed to them."""

from __future__ import annotations

from pathlib import Path

import pytest
from application import Application, eventually
from playwright.sync_api import Browser, Page, expect

SCENARIO = """\
name = "{name}"
duration = "1 s"

[topology]
kind = "graph"

[topology.nodes]
h1 = {{}}
h2 = {{}}

[[topology.links]]
between = ["h1", "h2"]
rate = "10 Mbit/s"
delay = "5 ms"

[[flows]]
from = "h1"
to = "h2"

[[programs]]
node = "h1"
command = "touch {proof}"
"""


@pytest.fixture
def proof(application: Application) -> Path:
    """A file that nobody but the scenario's program makes; the scenario lies in the workspace."""
    proof = application.workspace.parent / "proof"
    # The name of a lab is its user's: the test's own.
    name = "".join(filter(str.isalnum, application.workspace.parent.name))[-20:]
    (application.workspace / "theirs.toml").write_text(SCENARIO.format(name=name, proof=proof))
    return proof


@pytest.mark.parametrize("button", [pytest.param("Run", marks=pytest.mark.real_time), "Lab"])
def test_programs_run_after_a_question_that_is_asked_once(
    application: Application, browser: Browser, page: Page, proof: Path, button: str
) -> None:
    application.open(page, "theirs.toml")
    start = page.get_by_role("button", name=button, exact=True)
    question = page.get_by_role("dialog", name="Run these programs?")
    start.click()
    expect(question.locator("code")).to_have_text([f"touch {proof}"])
    # Saying no, in words or by Escape, starts nothing.
    question.get_by_role("button", name="Don\u2019t run").click()
    expect(question).to_have_count(0)
    start.click()
    expect(question.get_by_role("button", name="Agree and run")).not_to_be_focused()
    page.keyboard.press("Escape")
    expect(question).to_have_count(0)
    expect(start).to_be_enabled()
    assert not list(application.workspace.glob("runs/*"))
    assert not proof.exists()

    start.click()
    question.get_by_role("button", name="Agree and run").click()
    if button == "Run":
        eventually(proof.exists, "the program's file")
        eventually(lambda: list(application.workspace.glob("runs/[!.]*/summary.json")), "the run's end")
        # Known from now on, also to other pages; what differs is asked about again.
        other = application.page(browser)
        application.open(other, "theirs.toml")
        other.get_by_role("button", name="Run", exact=True).click()
        other.wait_for_selector(".dock")
        expect(other.get_by_role("dialog")).to_have_count(0)
        eventually(
            lambda: len(list(application.workspace.glob("runs/[!.]*/summary.json"))) == 2, "the second run's end"
        )
        other.context.close()
        text = application.text("theirs.toml").replace("touch", "touch -c")
        (application.workspace / "theirs.toml").write_text(text)
        expect(page.get_by_text("saved")).to_be_visible()
        eventually(lambda: "touch -c" in application.text("theirs.toml"))
        page.wait_for_timeout(2_500)  # The page looks at the disk once a second.
        start.click()
        expect(question.locator("code")).to_have_text([f"touch -c {proof}"])
        question.get_by_role("button", name="Don\u2019t run").click()
    else:
        page.wait_for_selector(".lab-node")


def test_a_question_hides_nothing(application: Application, page: Page, proof: Path) -> None:
    text = SCENARIO.format(name="hidden", proof=proof).replace("touch ", r"true # \u202e\u200b\u00a0\ntouch \t  ")
    (application.workspace / "hidden.toml").write_text(text)
    application.open(page, "hidden.toml")
    page.get_by_role("button", name="Run", exact=True).click()
    code = page.get_by_role("dialog", name="Run these programs?").locator("code")
    code.wait_for()
    assert code.inner_text() == r"true # \u{202e}\u{200b}\u{a0}" + f"\ntouch \t  {proof}"
    assert not proof.exists()

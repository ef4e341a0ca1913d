"""One document in several tabs, beside other programs, and after its server was killed."""

from __future__ import annotations

import pytest
from application import Application, eventually, serving
from editing import SCENARIO, between, change, given, row, says
from playwright.sync_api import Browser, Page


@pytest.mark.firefox
def test_two_tabs_and_another_program_agree(application: Application, page: Page) -> None:
    text = given(application, page)
    other = application.tab(page.context.new_page())
    application.open(other, "row.toml")
    row(page, "h1").click()
    page.keyboard.press("h")
    for one in (page, other):
        row(one, "h3").wait_for()
    row(other, between("h1", "s1")).click()
    change(other, "topology.links.0.rate", "70 Mbit/s")
    says(text, "70 Mbit/s", "h3")
    eventually(lambda: "saved" in page.locator(".saved").inner_text(), "saved")
    (application.workspace / "row.toml").write_text(text().replace("70 Mbit/s", "80 Mbit/s"))
    for one in (page, other):
        row(one, between("h1", "s1")).get_by_text("80 Mbit/s").wait_for()
    # Undo goes back over the edits of all, in each tab alike.
    for one, rate in ((page, "70 Mbit/s"), (other, "10 Mbit/s")):
        one.get_by_role("button", name="Undo").click()
        for shown in (page, other):
            row(shown, between("h1", "s1")).get_by_text(rate).wait_for()
    page.get_by_role("button", name="Undo").click()
    row(other, "h3").wait_for(state="detached")
    eventually(lambda: text() == SCENARIO, "the file as it was")


@pytest.mark.firefox
def test_nothing_is_lost_when_the_server_is_killed(application: Application, browser: Browser, page: Page) -> None:
    text = given(application, page)
    page.keyboard.press("e")
    page.locator(".cm-content").click()
    page.keyboard.press("Control+End")
    page.keyboard.type("\n# typed last\n", delay=5)
    says(text, "# typed last")
    row(page, between("h1", "s1")).click()
    change(page, "topology.links.0.rate", "33 Mbit/s")
    row(page, between("h1", "s1")).get_by_text("33 Mbit/s").wait_for()
    application.process.kill()
    page.locator(".connection").wait_for()
    # What the browser says of a connection that is gone is no complaint.
    page.context.close()
    application.complaints.clear()
    with serving(application.workspace) as again:
        other = again.page(browser)
        again.open(other, "row.toml")
        row(other, between("h1", "s1")).get_by_text("33 Mbit/s").wait_for()
        eventually(lambda: all(part in text() for part in ("33 Mbit/s", "# typed last")), "the last change in the file")
        other.get_by_role("button", name="Undo").click()
        row(other, between("h1", "s1")).get_by_text("10 Mbit/s").wait_for()
        eventually(lambda: "33 Mbit/s" not in text(), "undo after the restart")

"""First steps: a network that runs at once, the palette finds what has a name, a number becomes a study."""

from __future__ import annotations

import re
import tomllib

import pytest
from application import Application, eventually
from editing import between, given, row
from playwright.sync_api import Page, expect


@pytest.mark.firefox
def test_a_sample_network_runs_at_once(application: Application, page: Page) -> None:
    page.get_by_role("button", name="Run a sample network").click()
    page.wait_for_selector(".editor .canvas")
    expect(page.locator('[data-node="left"]')).to_be_visible()
    # Its plots stand beneath the drawing, and go on with the records at the end.
    expect(page.get_by_role("link", name="Report")).to_be_visible(timeout=120_000)
    (run,) = (application.workspace / "runs").glob("[!.]*")
    assert (run / "summary.json").exists()
    assert tomllib.loads(application.text("sample.toml"))["name"] == "sample"


def test_the_palette_finds_files_and_nodes(application: Application, page: Page) -> None:
    (application.workspace / "deep").mkdir()
    (application.workspace / "deep" / "other.toml").write_text('name = "other"\n')
    given(application, page)
    page.keyboard.press("Control+k")
    choices = page.get_by_role("dialog").get_by_role("option")
    box = page.get_by_role("combobox", name=re.compile("^Type a command"))
    # Without a word there are commands alone.
    expect(choices.filter(has_text="other.toml")).to_have_count(0)
    box.fill("s1")
    expect(choices.filter(has_text="switch").first).to_be_visible()
    box.press("Enter")
    page.locator('.react-flow__node.selected [data-node="s1"]').wait_for()
    page.keyboard.press("Control+k")
    box.fill("other.toml")
    expect(choices.first).to_contain_text("deep/other.toml")
    box.press("Enter")
    expect(page).to_have_url(re.compile("#/edit/deep/other.toml$"))


@pytest.mark.firefox
def test_a_number_is_varied_and_varied_no_more(application: Application, page: Page) -> None:
    text = given(application, page)
    before = text()
    row(page, between("h1", "s1")).click()
    rate = page.locator('.form-pane [data-key="topology.links.0.rate"]')
    rate.get_by_role("button", name="Vary Rate").click()
    dialog = page.get_by_role("dialog", name="Vary Rate")
    values = dialog.get_by_role("textbox", name="Values of Rate")
    now = tomllib.loads(before)["topology"]["links"][0]["rate"]
    assert values.input_value().splitlines() == ["5 Mbit/s", now, "20 Mbit/s"]
    values.fill("5 Mbit/s, 10 Mbit/s\n40 Mbit/s")
    dialog.get_by_role("button", name="Vary", exact=True).click()
    wanted = ["5 Mbit/s", "10 Mbit/s", "40 Mbit/s"]
    eventually(lambda: tomllib.loads(text()).get("sweep") == {"topology.links.0.rate": wanted}, "the sweep")
    expect(page.get_by_role("button", name="Run 3")).to_be_visible()
    rate.get_by_role("button", name="Rate has 3 values").click()
    page.get_by_role("dialog").get_by_role("button", name="Vary it no more").click()
    eventually(lambda: tomllib.loads(text()) == tomllib.loads(before), "no sweep")
    expect(page.get_by_role("button", name="Run", exact=True)).to_be_visible()

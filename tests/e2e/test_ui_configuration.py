"""Configurations of routers, edited in the page with FRR's check: from the drawing and from a lab."""

from __future__ import annotations

import re
import shutil
import tomllib

import pytest
from accessibility import serious, too_wide
from application import Application
from editing import given, node, row, says
from playwright.sync_api import Browser, Locator, Page, expect
from views import editor

pytestmark = pytest.mark.skipif(shutil.which("vtysh") is None, reason="apt-get install frr")

BGP = """\
name = "configured"

[topology]
kind = "graph"

[topology.nodes]
h1 = {}
r1 = { kind = "router", asn = 100, routing = ["bgp"] }  # ours
r2 = { kind = "router", asn = 200, routing = ["bgp"] }

[[topology.links]]
between = ["h1", "r1"]

[[topology.links]]
between = ["r1", "r2"]
"""


def configuration(page: Page) -> tuple[Locator, Locator]:
    """The dialog of a chosen router's configuration, and its text."""
    page.get_by_role("button", name="Configuration …").click()
    dialog = page.get_by_role("dialog")
    text = dialog.get_by_role("textbox")
    expect(text).to_be_enabled()
    return dialog, text


@pytest.mark.firefox
def test_a_configuration_is_edited_from_the_drawing(application: Application, page: Page, browser: Browser) -> None:
    now = given(application, page, BGP, "as.toml")
    node(page, "r1").click()
    dialog, text = configuration(page)
    expect(text).to_have_value(re.compile("router bgp 100"))
    expect(dialog).to_contain_text("Saving writes r1.conf beside the scenario")
    written = f"{text.input_value().rstrip()}\ninterface lo\n description mine\nexit\n"
    text.fill(f"{written}router bgpp 1\n")
    dialog.get_by_role("button", name="Check").click()
    line = written.count("\n") + 1
    expect(dialog.get_by_role("status")).to_contain_text(f"Line {line}: FRR does not understand `router bgpp 1`")
    marked = "area => area.value.slice(area.selectionStart, area.selectionEnd)"
    assert text.evaluate(marked) == "router bgpp 1"
    assert not (application.workspace / "r1.conf").exists()

    text.fill(written)
    dialog.get_by_role("button", name="Check").click()
    expect(dialog.get_by_role("status")).to_have_text("FRR understands all lines.")
    assert [*serious(page), *too_wide(page)] == []
    dialog.get_by_role("button", name="Save").click()
    expect(dialog).to_have_count(0)
    assert application.text("r1.conf") == written
    says(now, 'frr = "r1.conf"', "# ours")

    # The file is what is edited from then on, also by others, who see it in a narrow window.
    other = application.page(browser, width=390, height=844, scheme="dark")
    editor(other, "as.toml", "Outline", "Outline (O)")
    row(other, "r1").click()
    other.locator(".panes button", has_text="Form").click()
    dialog, text = configuration(other)
    expect(dialog).to_contain_text("The file r1.conf of the scenario.")
    expect(text).to_have_value(written)
    assert [*serious(other), *too_wide(other)] == []
    other.context.close()


def test_a_configuration_is_edited_from_a_lab(application: Application, page: Page) -> None:
    given(application, page, BGP, "as.toml")
    page.get_by_role("button", name="Lab", exact=True).click()
    page.wait_for_selector(".lab-node", timeout=60_000)
    page.get_by_role("group", name=re.compile("^router r1 ")).click()
    dialog, text = configuration(page)
    expect(dialog).to_contain_text("a lab that is started later has it")
    written = f"{text.input_value().rstrip()}\ninterface lo\n description mine\nexit\n"
    text.fill(written)
    dialog.get_by_role("button", name="Save").click()
    expect(dialog).to_have_count(0)
    assert application.text("r1.conf") == written
    assert tomllib.loads(application.text("as.toml"))["topology"]["nodes"]["r1"]["frr"] == "r1.conf"
    page.get_by_role("button", name="End", exact=True).click()
    expect(page.get_by_text("No lab is up.")).to_be_visible()

    # The next lab has it.
    application.open(page, "as.toml")
    page.get_by_role("button", name="Lab", exact=True).click()
    page.wait_for_selector(".lab-node", timeout=60_000)
    page.get_by_role("group", name=re.compile("^router r1 ")).click()
    page.get_by_role("button", name="vtysh", exact=True).click()
    shown = page.locator(".terminal-box:not([hidden])")
    expect(shown.locator(".xterm-rows")).to_contain_text("#")
    shown.locator(".xterm-helper-textarea").focus()
    page.keyboard.type("show interface lo\n")
    expect(shown.locator(".xterm-rows")).to_contain_text("Description: mine")

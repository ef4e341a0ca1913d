"""Forms of the editor: every key is reachable, changes its line alone, and problems stand where they belong."""

from __future__ import annotations

import difflib
import json
import re
import subprocess
from typing import Any

import pytest
from application import DUMBBELL, Application, eventually
from editing import SCENARIO, between, change, field, given, keys_shown, row
from playwright.sync_api import Page

VALUES = {
    "rate": "20 Mbit/s", "buffer": "2 bdp", "queue": "codel", "overhead": "24 B", "delay": "7 ms", "jitter": "1 ms",
    "reordering": "true", "reorder": "1 %", "delay_line": "100 packets", "loss": "1 %", "duplicate": "2 %",
    "corrupt": "3 %", "mark": "4 %", "up": "false", "name": "slow", "cost": "3", "mtu": "1400",
}  # fmt: skip
"""A value for each key of a link that a single field holds."""


@pytest.mark.firefox
def test_every_key_of_a_link_changes_its_line_alone_and_undo_gives_the_file_back(
    application: Application, page: Page
) -> None:
    text = given(application, page)
    original = text()
    row(page, between("h1", "s1")).click()
    page.get_by_role("button", name="Same both ways").click()  # each way its own: one key, one line
    while page.locator(".form-pane details:not([open]) > summary").count():
        page.locator(".form-pane details:not([open]) > summary").first.click()
    shown = {key.rsplit(".", 1)[-1] for key in keys_shown(page) if "reverse" not in key}
    from dumbbell.scenario.topology.cables import Cable

    assert shown >= set(Cable.model_fields) - {"reverse"}
    for name, value in VALUES.items():
        before = text()
        change(page, f"topology.links.0.{name}", value)
        eventually(lambda before=before: text() != before, f"a change by {name}")
        changed = [line for line in difflib.ndiff(before.splitlines(), text().splitlines()) if line[0] in "+-"]
        wanted = str(json.dumps(value) if re.search(r"[a-z]", value) and value not in ("true", "false") else value)
        assert [line for line in changed if line[0] == "+" and wanted in line], (name, changed)
        assert len(changed) <= 2, (name, changed)
        assert all(re.match(rf"[+-] {name} = ", line) for line in changed), (name, changed)
        assert all(comment in text() for comment in ("# slow\n", "# the sender", "# The slow one.\n[[topology.links]]"))
    for _ in VALUES:
        page.get_by_role("button", name="Undo").click()
    eventually(lambda: text() == original, f"the original again:\n{text()}")
    assert page.get_by_role("button", name="Undo").is_disabled()


def test_every_key_of_a_scenario_is_in_a_form(application: Application, page: Page) -> None:
    """Nothing of the schema can be reached by text only."""
    text = SCENARIO.replace("s1 = {", 'r1 = { kind = "router" }\ns1 = {')
    text += '[[programs]]\nnode = "h2"\ncommand = "true"\n[[expect]]\nmetric = "goodput"\nmin = 1\n'
    text += '[[report.plots]]\nmetric = "goodput"\n'
    given(application, page, text)
    schema: dict[str, Any] = page.evaluate("fetch('/api/schema').then((answer) => answer.json())")

    def opened() -> set[str]:
        while page.locator(".form-pane details:not([open]) > summary").count():
            page.locator(".form-pane details:not([open]) > summary").first.click()
        return {key.rsplit(".", 1)[-1] for key in keys_shown(page)}

    def properties(name: str) -> set[str]:
        return set(schema["$defs"][name]["properties"])

    # The scenario's own form, which is shown while nothing is selected.
    page.locator(".form-pane .field").first.wait_for()
    shown = opened()
    drawn_elsewhere = {"topology", "flows"}
    tables = {"record", "emulate", "simulate", "sweep", "hosts", "report", "hunt"}
    assert shown >= set(schema["properties"]) - drawn_elsewhere - tables
    for of in ("Record", "Emulate", "Simulate", "Event", "Program", "Expectation", "Report", "Plot", "Hunt"):
        # The kind of a plot is the choice of its table.
        assert shown >= properties(of) - {"kind"}, of
    assert shown >= properties("Graph") - {"kind", "nodes", "links"}
    for name, of in (("h1", "Host"), ("r1", "Router"), ("s1", "Switch")):
        row(page, name).click()
        field(page, "Name").wait_for()
        assert opened() >= properties(of), of
    row(page, "f1").click()
    for protocol, of in (("tcp", "TcpFlow"), ("udp", "UdpFlow"), ("ping", "PingFlow"), ("command", "CommandFlow")):
        page.locator("#flow-kind").select_option(protocol)
        eventually(lambda of=of: opened() >= properties(of) - {"protocol"}, of)


@pytest.mark.firefox
def test_problems_stand_at_their_elements_and_go_with_them(application: Application, page: Page) -> None:
    text = given(application, page)
    run = page.get_by_role("button", name="Run", exact=True)
    assert run.is_enabled()
    wrong = {
        'rate = "10"  # slow': 'rate = "10 Mbit/s"  # slow',
        'rats = "10 Mbit/s"': 'rate = "10 Mbit/s"  # slow',
        'from = "h9"': 'from = "h1"',
        'queue = { kind = "red", min_th = "9 packets", max_th = "3 packets" }\ndelay = "5 ms"': 'delay = "5 ms"',
    }  # fmt: skip
    page.keyboard.press("e")
    page.wait_for_selector(".cm-content")
    for bad, good in wrong.items():
        assert good in text()
        (application.workspace / "row.toml").write_text(text().replace(good, bad))
        page.locator(".problems").wait_for()
        told = subprocess.run(
            [str(DUMBBELL), "plan", "row.toml"], cwd=application.workspace, capture_output=True, text=True, check=False
        )
        shown = page.locator(".problems li .what").first.inner_text()
        assert told.returncode == 2
        assert shown.split(": ", 1)[-1] in told.stderr, (shown, told.stderr)
        assert run.is_disabled()
        page.locator(".node.wrong, .link.wrong, .flow.wrong, .outline li.wrong").first.wait_for(state="attached")
        page.locator(".cm-lintRange, .cm-lint-marker").first.wait_for(state="attached")
        page.locator(".problems li button").first.click()
        assert page.locator(".field-problem").count() or page.locator(".problems li").count()
        (application.workspace / "row.toml").write_text(text().replace(bad, good))
        page.locator(".problems").wait_for(state="detached")
        eventually(run.is_enabled, "Run")

"""The editor of the web application, with its server: draw by mouse and by keyboard, look, type."""

from __future__ import annotations

import json
import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest
from application import DUMBBELL, Application, eventually
from editing import between, change, field, given, node, row, says
from playwright.sync_api import Browser, Page

from dumbbell.scenario import bundled

BUNDLED = Path(bundled.__file__).parent


@pytest.mark.firefox
def test_a_network_is_drawn_from_nothing_and_run(application: Application, browser: Browser, page: Page) -> None:
    page.get_by_role("button", name="New scenario").first.click()
    page.get_by_role("dialog").get_by_role("button", name="Make it").click()
    page.wait_for_selector(".empty")
    stage = page.locator(".react-flow__pane")
    for tool, spot in (("Host", (120, 300)), ("Switch", (350, 300))):
        page.get_by_role("button", name=tool, exact=True).click()
        stage.click(position={"x": spot[0], "y": spot[1]})
        page.wait_for_selector(f".node.{tool.lower()}")
    page.get_by_role("button", name="Host", exact=True).click()
    stage.click(position={"x": 580, "y": 300})
    page.wait_for_selector('[data-node="h2"]')
    # Links by dragging from node to node.
    page.get_by_role("button", name="Link", exact=True).click()
    for a, b in (("h1", "s1"), ("s1", "h2")):
        node(page, a).drag_to(node(page, b))
        row(page, between(a, b)).wait_for()
    page.keyboard.press("Escape")
    row(page, between("s1", "h2")).click()
    for label, value in (("Rate", "50 Mbit/s"), ("Delay", "20ms"), ("Buffer", "1 bdp")):
        field(page, label).fill(value)
        field(page, label).press("Enter")
    page.get_by_role("button", name="Flow", exact=True).click()
    node(page, "h1").drag_to(node(page, "h2"))
    row(page, "f1").wait_for()
    field(page, "Congestion control").fill("bbr")
    field(page, "Congestion control").press("Enter")
    page.keyboard.press("Escape")
    path = next(application.workspace.glob("*.toml"))
    says(lambda: application.text(path.name), 'cc = "bbr"', 'buffer = "1 bdp"', 'rate = "50 Mbit/s"')
    written = tomllib.loads(path.read_text())
    assert list(written["topology"]["nodes"]) == ["h1", "s1", "h2"]
    assert written["topology"]["links"][1] | {"delay": "20 ms"} == {
        "between": ["s1", "h2"], "rate": "50 Mbit/s", "delay": "20 ms", "buffer": "1 bdp"
    }  # fmt: skip
    # The layout is written after the text.
    layout = path.with_suffix(".layout.json")
    eventually(layout.exists, "the layout's file")
    placed = json.loads(layout.read_text())["nodes"]
    assert placed["h1"]["x"] < placed["s1"]["x"] < placed["h2"]["x"]

    # A run of it is the run of the command line: the same plan, so the same name. Its report is inside.
    page.locator(".engine").select_option("simulate")
    page.get_by_role("button", name="Run", exact=True).click()
    report = page.locator(".dock").get_by_role("link", name="Report")
    report.wait_for()
    (here,) = (application.workspace / "runs").glob("*/summary.json")
    elsewhere = application.workspace / "elsewhere"
    command = [str(DUMBBELL), "run", str(path), "--engine", "simulate", "--output", str(elsewhere), "--quiet"]
    subprocess.run(command, check=True, capture_output=True)
    (there,) = elsewhere.glob("*/summary.json")
    assert here.parent.name == there.parent.name
    report.click()
    page.frame_locator("iframe").locator(".verdict").wait_for()


@pytest.mark.parametrize("third", [0, *(pytest.param(later, marks=pytest.mark.thorough) for later in (1, 2))])
def test_looking_writes_nothing(application: Application, page: Page, third: int) -> None:
    names = sorted(path.name for path in BUNDLED.glob("*.toml"))[third::3]
    assert len(names) > 6
    for path in BUNDLED.glob("*.t*"):
        shutil.copy(path, application.workspace)
    before = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in application.workspace.iterdir()}
    for name in names:
        application.open(page, name)
        page.wait_for_selector(".react-flow__node, .overview canvas")
        page.keyboard.press("1")
        page.locator(".outline [role=option]").first.click()
        page.locator(".form-pane .field").first.wait_for()
    page.goto("about:blank")
    after = {
        path: (path.read_bytes(), path.stat().st_mtime_ns) for path in application.workspace.iterdir() if path.is_file()
    }
    assert after == before


@pytest.mark.firefox
def test_scenario_one_by_the_keyboard_alone(application: Application, page: Page) -> None:
    press, write = page.keyboard.press, page.keyboard.type
    page.locator(".welcome").wait_for()
    page.locator("#main").focus()
    press("n")
    page.get_by_role("dialog").wait_for()
    press("Enter")
    page.wait_for_selector(".empty")
    page.locator("#main").focus()
    for key, name in (("h", "h1"), ("s", "s1"), ("h", "h2")):
        press(key)
        page.wait_for_selector(f'[data-node="{name}"]')
    for a, b in (("h1", "s1"), ("s1", "h2")):
        press("/")
        write(a)
        press("Enter")
        page.locator(f'.react-flow__node.selected [data-node="{a}"]').wait_for()
        press("l")
        write(b)
        press("Enter")
        row(page, between(a, b)).wait_for()
    press("/")
    write(between("s1", "h2"))
    press("Enter")
    press("Enter")
    # The form has the focus: its first field that can be typed into is the rate.
    # The page's policy lets Playwright evaluate an expression once, but not poll it.
    eventually(lambda: page.evaluate("document.activeElement.closest('.form-pane') !== null"), "the form has the focus")
    page.evaluate("document.querySelector('.form-pane [data-key$=rate] input').focus()")
    write("50")
    press("Tab")
    press("Tab")
    press("Escape")
    page.locator("#main").focus()
    press("/")
    write("h1")
    press("Enter")
    press("f")
    write("h2")
    press("Enter")
    row(page, "f1").wait_for()
    path = next(application.workspace.glob("*.toml"))
    says(lambda: application.text(path.name), 'rate = "50 Mbit/s"', 'from = "h1"', 'to = "h2"')
    # The run and its report, too: the engine, the run, and the link to its report are controls that Tab reaches.
    page.get_by_label("Engine").focus()
    write("simulate")
    page.locator("#main").focus()
    press("Control+Enter")
    report = page.locator(".dock").get_by_role("link", name="Report")
    report.wait_for()
    tabbed_to(page, "Report")
    press("Enter")
    page.frame_locator(".report-frame").locator(".verdict").wait_for()


def tabbed_to(page: Page, name: str) -> None:
    """Press Tab until a control has the focus."""
    for _ in range(200):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.textContent.trim()") == name:
            return
    raise AssertionError(f"Tab does not reach {name}")


def test_typing_reaches_the_file_and_the_drawing(application: Application, page: Page) -> None:
    text = given(application, page)
    original = text()
    page.keyboard.press("e")
    content = page.locator(".cm-content")
    content.click()
    page.keyboard.press("Control+End")
    page.keyboard.type("\n[[flows]]\n", delay=5)
    # Completion knows the keys of a flow, and the names of nodes.
    page.keyboard.type("fro")
    page.locator(".cm-tooltip-autocomplete").get_by_text("from", exact=True).wait_for()
    # CodeMirror takes no key for a list younger than 75 ms: nobody can have read it.
    page.wait_for_timeout(100)
    page.keyboard.press("Enter")
    eventually(lambda: "from = " in content.inner_text().rsplit("[[flows]]", 1)[-1], "the key is completed")
    page.keyboard.press("Control+Space")
    page.locator(".cm-tooltip-autocomplete").get_by_text('"h2"').wait_for()
    page.keyboard.press("Escape")
    page.keyboard.type('"h2"\nto = "h1"\ncc = "bbr"\n', delay=5)
    row(page, "f2").wait_for()
    says(text, 'to = "h1"')
    assert text().startswith(original.rstrip())
    # The history is the document's, so the text's undo takes back what the form did, too.
    row(page, "f2").click()
    change(page, "flows.1.cc", "reno")
    says(text, 'cc = "reno"')
    content.click()

    def shown() -> tuple[bool, str]:
        return "f2" in page.locator(".outline").inner_text(), content.inner_text()

    # A text may come before its outline does: after the last step it is the outline that changes.
    while (before := shown())[0]:
        page.keyboard.press("Control+z")
        eventually(lambda last=before: shown() != last, "undo shows")
    eventually(lambda: "reno" not in text(), "undo")


def test_after_something_was_dragged_clicks_reach_the_drawing_again(application: Application, page: Page) -> None:
    text = given(application, page)
    page.wait_for_selector('[data-node="h2"]')
    shield = page.locator(".shield")

    def dragged(x: float, y: float) -> None:
        page.mouse.move(x, y)
        page.mouse.down()
        page.mouse.move(x + 30, y + 40, steps=4)
        shield.wait_for()
        page.mouse.up()
        shield.wait_for(state="hidden")

    ground = page.locator(".react-flow__pane").bounding_box()
    assert ground is not None
    before = node(page, "h2").bounding_box()
    dragged(ground["x"] + 20, ground["y"] + 20)
    after = node(page, "h2").bounding_box()
    assert before is not None
    assert after is not None
    assert (round(after["x"] - before["x"]), round(after["y"] - before["y"])) == (30, 40)
    dragged(after["x"] + 9, after["y"] + 9)
    eventually(lambda: (application.workspace / "row.layout.json").exists(), "the place")
    node(page, "h1").click()
    page.locator('.react-flow__node.selected [data-node="h1"]').wait_for()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Host", exact=True).click()
    page.locator(".react-flow__pane").click(position={"x": 30, "y": 30})
    page.wait_for_selector('[data-node="h3"]')
    says(text, "h3 = {}")

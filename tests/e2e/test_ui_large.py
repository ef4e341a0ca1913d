"""Large networks in the editor: painted from far, found by name, arranged by structure or by choice."""

from __future__ import annotations

import json
import math

import pytest
from application import Application, eventually
from editing import given, graph, row
from playwright.sync_api import Page, expect
from stages import thorough_after

from benches.web.networks import network


def places(application: Application, name: str) -> dict[str, tuple[int, int]]:
    """Positions in a layout's file; none without the file."""
    path = application.workspace / f"{name}.layout.json"
    try:
        nodes = json.loads(path.read_text())["nodes"]
    except FileNotFoundError:
        return {}
    return {node: (at["x"], at["y"]) for node, at in nodes.items()}


def test_a_large_network_is_painted_and_each_node_is_found_and_moved(application: Application, page: Page) -> None:
    (application.workspace / "large.toml").write_text(network(300, 560))
    page.evaluate("location.hash = '#/edit/large.toml'")
    page.wait_for_selector(".overview")
    assert page.locator(".react-flow__node").count() == 0
    painted = """() => {
      const canvas = document.querySelector(".overview canvas");
      const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
      return data.some((value, i) => i % 4 === 3 && value > 0);
    }"""
    eventually(lambda: page.evaluate(painted), "paint")
    assert page.locator(".outline [role=option]").count() < 120, "rows that nobody sees"
    page.locator("#main").focus()
    page.keyboard.press("/")
    page.keyboard.type("r150")
    page.keyboard.press("Enter")
    expect(page.locator('.react-flow__node.selected [data-node="r150"]')).to_be_visible()
    expect(row(page, "r150")).to_be_visible()
    page.keyboard.press("1")
    page.wait_for_selector(".overview")
    box = page.locator('[data-node="r150"] .shape').bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 30, y + 20, steps=4)
    page.mouse.up()
    eventually(lambda: len(places(application, "large")) == 300, "all positions in the file, as nothing may jump")


def test_the_last_of_many_rows_is_reached_by_keys(application: Application, page: Page) -> None:
    (application.workspace / "large.toml").write_text(network(300, 560))
    page.evaluate("location.hash = '#/edit/large.toml'")
    row(page, "r1").click()
    page.keyboard.press("End")
    expect(page.locator(".outline [role=option]:focus .row-title")).to_have_text("f1")
    page.keyboard.press("Home")
    expect(page.locator(".outline [role=option]:focus .row-title")).to_have_text("r1")
    page.keyboard.press("ArrowDown")
    expect(page.locator(".outline [role=option]:focus .row-title")).to_have_text("r2")


@pytest.mark.parametrize(
    "how", thorough_after(1, ["as a ring", "as a tree", "in layers", "with neighbours near each other"])
)
def test_nodes_are_arranged_as_the_user_chooses(application: Application, page: Page, how: str) -> None:
    routers = [f"s{i}" for i in range(1, 9)]
    ends = [*zip(routers, [*routers[1:], routers[0]], strict=True), ("h1", "s1"), ("h2", "s5")]
    given(application, page, graph([*routers, "h1", "h2"], ends, ("h1", "h2")), "ring.toml")
    page.wait_for_selector('[data-node="h2"]')
    page.get_by_role("button", name="Arrange all nodes").click()
    expect(page.get_by_role("menuitem", name="Arrange as on a map")).to_have_count(0)
    page.get_by_role("menuitem", name=f"Arrange {how}").click()
    eventually(lambda: len(places(application, "ring")) == 10, "positions in the file")
    at = places(application, "ring")
    if how == "as a ring":
        x, y = (sum(at[name][axis] for name in routers) / len(routers) for axis in (0, 1))
        far = [math.hypot(at[name][0] - x, at[name][1] - y) for name in routers]
        assert max(far) - min(far) < 20, "all on a circle"
    page.keyboard.press("Control+z")
    eventually(lambda: not places(application, "ring"), "one step of undo")


@pytest.mark.firefox
def test_what_hangs_on_a_node_is_folded_and_moves_with_it(application: Application, page: Page) -> None:
    ends = [("h1", "s1"), ("h2", "s1"), ("s1", "s2"), ("s2", "h3"), ("s2", "h4")]
    text = given(application, page, graph(["s1", "s2", "h1", "h2", "h3", "h4"], ends, ("h1", "h3")), "fold.toml")
    before = text()
    page.locator('[data-node="s1"] .shape').click()
    page.keyboard.press("c")
    expect(page.locator('[data-node="h1"]')).to_have_count(0)
    expect(page.locator('[data-node="s1"] .name')).to_contain_text("s1 +2")
    page.keyboard.press("ArrowDown")
    eventually(lambda: "h1" in places(application, "fold"), "the move, of hidden nodes, too")
    at = places(application, "fold")
    page.keyboard.press("ArrowDown")
    eventually(lambda: places(application, "fold") != at, "the second move")
    now = places(application, "fold")
    assert {name for name in at if now[name] != at[name]} == {"s1", "h1", "h2"}, "the group, and nothing else"
    page.keyboard.press("c")
    expect(page.locator('[data-node="h1"]')).to_be_visible()
    page.keyboard.press("Shift+C")
    expect(page.locator(".react-flow__node")).to_have_count(2)
    page.keyboard.press("Shift+C")
    expect(page.locator(".react-flow__node")).to_have_count(6)
    assert text() == before, "the scenario stays"

"""Whole networks in the editor: deleted and back, renamed, pasted, imported and exported."""

from __future__ import annotations

import json
import tomllib

import pytest
from application import Application, eventually
from editing import SCENARIO, field, given, graph, row, says
from playwright.sync_api import Page


def test_sixty_nodes_are_deleted_and_come_back(application: Application, page: Page) -> None:
    hosts = [f"h{i}" for i in range(1, 60)]
    text = given(application, page, graph(["s1", *hosts], [(host, "s1") for host in hosts], ("h1", "h2")), "many.toml")
    original = text()
    page.locator(".react-flow__node").nth(59).wait_for(state="attached")
    page.locator(".react-flow__pane").click(position={"x": 5, "y": 5})
    page.keyboard.press("Control+a")
    page.keyboard.press("Delete")
    eventually(lambda: "h7" not in text(), "the deletion")
    assert tomllib.loads(text())["topology"].get("nodes", {}) == {}
    page.wait_for_selector(".empty")
    page.keyboard.press("Control+z")
    eventually(lambda: text() == original, "the nodes")
    page.locator(".react-flow__node").nth(59).wait_for(state="attached")


def test_a_node_is_renamed_wherever_it_is_named(application: Application, page: Page) -> None:
    text = given(application, page, SCENARIO + '\n[hosts.h1]\nsysctl = { "net.ipv4.tcp_sack" = 0 }\n')
    row(page, "h1").click()
    field(page, "Name").fill("client")
    field(page, "Name").press("Enter")
    says(
        text,
        "client = {}  # the sender",
        'between = ["client", "s1"]',
        'from = "client"',
        "[hosts.client]",
        'link = "client-s1"',
    )
    assert "h1" not in text()
    row(page, "client").wait_for()


@pytest.mark.firefox
def test_a_group_is_pasted_twice_with_its_links(application: Application, page: Page) -> None:
    near = [*((f"h{i}", "s1") for i in range(1, 5)), *((f"h{i}", "s2") for i in range(5, 9))]
    ends = [*near, ("s1", "s2"), ("h1", "s2"), ("h5", "s1"), ("h2", "s2")]
    nodes = ["s1", "s2", *(f"h{i}" for i in range(1, 9))]
    text = given(application, page, graph(nodes, ends, ("h1", "h8")), "group.toml")
    page.locator(".react-flow__node").nth(9).wait_for(state="attached")
    page.locator(".react-flow__pane").click(position={"x": 5, "y": 5})
    page.keyboard.press("Control+a")
    page.keyboard.press("Control+c")
    for copies in (2, 3):
        page.keyboard.press("Control+v")
        eventually(
            lambda copies=copies: len(tomllib.loads(text())["topology"]["nodes"]) == 10 * copies, f"{copies} copies"
        )
    topology = tomllib.loads(text())["topology"]
    assert len(topology["links"]) == 36
    assert [link["rate"] for link in topology["links"][12:24]] == [link["rate"] for link in topology["links"][:12]]
    assert len(tomllib.loads(text())["flows"]) == 3

    def spots() -> set[tuple[int, int]]:
        return {(at["x"], at["y"]) for at in json.loads(application.text("group.layout.json"))["nodes"].values()}

    eventually(lambda: len(spots()) == 30, "places of their own")
    page.keyboard.press("Control+z")
    page.keyboard.press("Control+z")
    eventually(lambda: len(tomllib.loads(text())["topology"]["nodes"]) == 10, "undo of both")


MINIEDIT = {
    "version": "2",
    "application": {"ipBase": "10.0.0.0/8"},
    "controllers": [{"x": "100", "y": "20", "opts": {"hostname": "c0", "controllerType": "ref", "remotePort": 6633}}],
    "hosts": [
        {"number": "1", "x": "60", "y": "200", "opts": {"hostname": "h1", "nodeNum": 1, "sched": "host"}},
        {"number": "2", "x": "500", "y": "200", "opts": {"hostname": "h2", "nodeNum": 2, "sched": "host"}},
    ],
    "switches": [
        {"number": "1", "x": "280", "y": "200", "opts": {"hostname": "s1", "nodeNum": 1, "switchType": "legacySwitch"}}
    ],
    "links": [
        {"src": "h1", "dest": "s1", "opts": {"bw": 10, "delay": "5ms", "loss": 1}},
        {"src": "s1", "dest": "h2", "opts": {}},
    ],
}


def test_a_network_of_miniedit_is_taken_over_and_given_back(application: Application, page: Page) -> None:
    page.get_by_role("button", name="Import").first.click()
    content = json.dumps(MINIEDIT).encode()
    page.locator(".drop input").set_input_files({"name": "lab.mn", "mimeType": "application/json", "buffer": content})
    page.locator(".preview").wait_for()
    assert "controller" in page.locator(".notes").inner_text().lower()
    assert not list(application.workspace.glob("*.toml")), "nothing is written before it is agreed to"
    page.get_by_role("button", name="Save and open").click()
    page.wait_for_selector('[data-node="h2"]')
    path = next(application.workspace.glob("*.toml"))
    assert tomllib.loads(path.read_text())["topology"]["links"][0]["rate"] == "10 Mbit/s"
    placed = json.loads(path.with_suffix(".layout.json").read_text())["nodes"]
    assert placed["s1"] == {"x": 280, "y": 200}
    page.locator("#main").focus()
    page.keyboard.press("Control+k")
    page.keyboard.type("MiniEdit")
    with page.expect_download() as given_back:
        page.keyboard.press("Enter")
    back = json.loads(given_back.value.path().read_text())
    assert [host["opts"]["hostname"] for host in back["hosts"]] == ["h1", "h2"]
    assert back["links"][0]["opts"]["bw"] == 10
    for picture in ("SVG", "PNG"):
        page.locator("#main").focus()
        page.keyboard.press("Control+k")
        page.keyboard.type(picture)
        with page.expect_download() as drawn:
            page.keyboard.press("Enter")
        content = drawn.value.path().read_bytes()
        assert b">h1</text>" in content if picture == "SVG" else content.startswith(b"\x89PNG")

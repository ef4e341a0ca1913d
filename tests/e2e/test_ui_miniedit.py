"""Files of MiniEdit on the page: each is taken over, or refused in a sentence; what goes out comes back the same."""

from __future__ import annotations

import json
import tomllib
from typing import Any

import pytest
from application import Application
from editing import given
from playwright.sync_api import Locator, Page


def host(number: int, **options: Any) -> dict[str, Any]:
    opts = {"hostname": f"h{number}", "nodeNum": number, "sched": "host", **options}
    return {"number": str(number), "x": f"{100 * number}.0", "y": "200.0", "opts": opts}


def switch(name: str, kind: str, **options: Any) -> dict[str, Any]:
    opts = {"hostname": name, "nodeNum": 1, "switchType": kind, **options}
    return {"number": "1", "x": "250.0", "y": "60.0", "opts": opts}


TWO: dict[str, Any] = {
    "version": "2",
    "application": {"ipBase": "10.0.0.0/8"},
    "controllers": [],
    "hosts": [host(1), host(2)],
    "switches": [switch("s1", "legacySwitch")],
    "links": [{"src": "h1", "dest": "s1", "opts": {}}, {"src": "s1", "dest": "h2", "opts": {}}],
}
CONTROLLER = {"x": "9", "y": "9", "opts": {"hostname": "c0", "controllerType": "ref", "remotePort": 6633}}
EVERYTHING = {
    **TWO,
    "controllers": [CONTROLLER],
    "hosts": [
        host(
            1,
            cpu=0.5,
            cores="0",
            startCommand='echo "hi" > /tmp/x',
            stopCommand="true",
            defaultRoute="dev h1-eth0",
            vlanInterfaces=[["10.1.0.1", "5"]],
            externalInterfaces=["eth7"],
            privateDirectory=["/var/log", ["/var/run", "/tmp/run"]],
        ),
        host(2, ip="10.0.0.7"),
    ],
    "switches": [switch("s1", "ivs", netflow="1", controllers=["c0"], dpid="1", startCommand="true")],
    "links": [
        {"src": "h1", "dest": "s1", "opts": {"bw": 10, "delay": "500", "loss": 1, "speedup": 2}},
        {"src": "s1", "dest": "h2", "opts": {"node1": "s1", "port1": 2, "max_queue_size": 9}},
    ],
}
FIRST_VERSION = {
    **{key: TWO[key] for key in ("switches", "links")},
    "version": "1",
    "controllers": {"c0": {}},
    "hosts": [{"number": "1", "x": "1", "y": "1", "opts": {"nodeNum": 1}}, host(2)],
}

REFUSED: dict[str, tuple[bytes, str]] = {
    "empty": (b"", "the file is empty"),
    "truncated": (json.dumps(TWO).encode()[:-20], "not a MiniEdit file"),
    "not UTF-8": (json.dumps(TWO).replace("h1", "é").encode("latin-1"), "is not UTF-8 text"),
    "bytes of Python": (repr(json.dumps(TWO).encode()).encode(), "not a MiniEdit file"),
    "nested": (b"[" * 100_000, "not a MiniEdit file"),
    "another JSON": (b"[1, 2]", "not a MiniEdit file"),
    "names collide": (json.dumps({**TWO, "hosts": [host(1), host(2, hostname="h1")]}).encode(), "two nodes are named"),
    "a link to nowhere": (
        json.dumps({**TWO, "links": [{"src": "h1", "dest": "s9", "opts": {}}]}).encode(),
        "leads to 's9'",
    ),
    "no number": (
        json.dumps({**TWO, "links": [{"src": "h1", "dest": "s1", "opts": {"bw": "x"}}]}).encode(),
        "bw = 'x'",
    ),
}
TAKEN: dict[str, tuple[dict[str, Any], tuple[str, ...]]] = {
    "plain": (TWO, ()),
    "not ASCII": (
        {
            **TWO,
            "hosts": [host(1, hostname="rechner-ü"), host(2)],
            "links": [{"src": "rechner-ü", "dest": "s1", "opts": {}}, {"src": "s1", "dest": "h2", "opts": {}}],
        },
        ("names that are too long, or have other characters",),
    ),
    "the first version": (FIRST_VERSION, ("controllers are left out",)),
    "all that it has": (
        EVERYTHING,
        (
            "controllers are left out",
            "commands of hosts stand in comments",
            "commands of switches stand in comments",
            "shares of a CPU",
            "choices of CPU cores",
            "VLAN interfaces",
            "external interfaces",
            "private directories",
            "default routes that are no address",
            "kinds of OpenFlow switches",
            "NetFlow and sFlow",
            "speedup of links",
            "delays without a unit are microseconds",
            "queue sizes of links without bandwidth",
        ),
    ),
    "a router": (
        {
            **TWO,
            "switches": [switch("r1", "legacyRouter")],
            "links": [{"src": one, "dest": "r1", "opts": {}} for one in ("h1", "h2")],
        },
        ("hosts beside routers have addresses of their subnets",),
    ),
}


def chosen(page: Page, name: str, content: bytes) -> Locator:
    """The dialog of an import, with this file chosen."""
    page.get_by_role("button", name="Import").first.click()
    dialog = page.get_by_role("dialog")
    dialog.locator(".drop input").set_input_files({"name": name, "mimeType": "application/json", "buffer": content})
    dialog.locator(".problem-text, .preview").first.wait_for()
    return dialog


def test_what_is_no_network_is_refused_in_a_sentence(application: Application, page: Page) -> None:
    for what, (content, said) in REFUSED.items():
        dialog = chosen(page, "lab.mn", content)
        assert said in dialog.locator(".problem-text .what").inner_text(), what
        assert not dialog.locator(".preview").is_visible(), what
        assert dialog.get_by_role("button", name="Save and open").is_disabled(), what
        page.keyboard.press("Escape")
        dialog.wait_for(state="detached")
    application.forget_refusals(400)
    assert not list(application.workspace.glob("*.toml"))


def test_what_cannot_be_taken_over_is_listed(application: Application, page: Page) -> None:
    for number, (what, (found, notes)) in enumerate(TAKEN.items(), 1):
        dialog = chosen(page, f"lab{number}.mn", json.dumps(found).encode())
        assert dialog.locator(".problem-text").count() == 0, what
        listed = dialog.locator(".notes li").all_inner_texts()
        assert len(listed) == len(notes), (what, listed)
        for note in notes:
            assert any(one.startswith(note) for one in listed), (what, note, listed)
        dialog.get_by_role("button", name="Save and open").click()
        page.wait_for_selector('[data-node="h2"]')
        assert page.locator(".react-flow__node").count() == 3, what
        # What is left to say of a network without flows is that it has none: nothing else is wrong with it.
        problems = page.locator(".outline .badge.wrong").count()
        assert problems == 0, what
        page.evaluate("location.hash = '#/files'")
        page.wait_for_selector(".files")
    assert len(list(application.workspace.glob("lab*.toml"))) == len(TAKEN)


def test_its_routers_run_daemons_on_request(application: Application, page: Page) -> None:
    content, _ = TAKEN["a router"]
    dialog = chosen(page, "lab.mn", json.dumps(content).encode())
    dialog.get_by_label("Save as").fill("as.toml")
    choice = dialog.get_by_label("Routers without a configuration (r1)")
    assert choice.input_value() == "static"
    choice.select_option("frr")
    dialog.locator(".preview", has_text="bare = true").wait_for()
    dialog.get_by_role("button", name="Save and open").click()
    page.wait_for_selector('[data-node="r1"]')
    router = tomllib.loads((application.workspace / "as.toml").read_text())["topology"]["nodes"]["r1"]
    assert router["bare"] is True
    assert {"bgp", "ospf"} <= set(router["routing"])


DRAWN = """\
name = "drawn"

[topology]
kind = "graph"

[topology.nodes]
h1 = { address = "192.168.7.1/24", routes = ["default via 192.168.7.2"] }
h2 = { address = "192.168.7.2/24" }
h3 = {}
s1 = { kind = "switch" }
s2 = { kind = "switch" }
r1 = { kind = "router" }

[[topology.links]]
between = ["h1", "s1"]
rate = "10 Mbit/s"
buffer = "100 packets"
delay = "5 ms"
loss = "1 %"
reverse = { loss = "1 %" }

[[topology.links]]
between = ["s1", "s2"]
delay = "8 ms"
jitter = "4 ms"
reordering = true
reverse = { jitter = "4 ms", reordering = true }

[[topology.links]]
between = ["s2", "h2"]

[[topology.links]]
between = ["h3", "r1"]
rate = "1.5 Mbit/s"

[[topology.links]]
between = ["r1", "s2"]
delay = "250 us"
"""


def exported(page: Page) -> bytes:
    """The open scenario as a file of MiniEdit, which the palette saves."""
    page.locator("#main").focus()
    page.keyboard.press("Control+k")
    page.keyboard.type("MiniEdit")
    with page.expect_download() as saved:
        page.keyboard.press("Enter")
    return saved.value.path().read_bytes()


@pytest.mark.firefox
def test_what_goes_out_comes_back_the_same(application: Application, page: Page) -> None:
    given(application, page, DRAWN, "drawn.toml")
    page.wait_for_selector('[data-node="h2"]')
    first = exported(page)
    # What a .mn file cannot say is said on the page.
    told = page.locator(".toast .why").inner_text()
    assert "MiniEdit has no addresses, routes and protocols of routers" in told
    assert "fractions" in told
    page.evaluate("location.hash = '#/files'")
    dialog = chosen(page, "again.mn", first)
    assert dialog.locator(".notes li").count() == 0
    dialog.get_by_role("button", name="Save and open").click()
    page.wait_for_selector(".file-name b:text-is('again.toml')")
    page.wait_for_selector('[data-node="h2"]')
    assert json.loads(exported(page)) == json.loads(first)

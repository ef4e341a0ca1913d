"""The editor of the web application, with its server: draw, fill in forms, type, undo, by mouse and by keyboard."""

from __future__ import annotations

import difflib
import json
import re
import shutil
import subprocess
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from application import DUMBBELL, Application, eventually, serving
from playwright.sync_api import Browser, Locator, Page

from dumbbell.scenario import bundled

BUNDLED = Path(bundled.__file__).parent
SCENARIO = """\
# Three nodes in a row.
name = "row"
duration = "3 s"

[topology]
kind = "graph"

[topology.nodes]
h1 = {}  # the sender
h2 = {}
s1 = { kind = "switch" }

# The slow one.
[[topology.links]]
between = ["h1", "s1"]
rate = "10 Mbit/s"  # slow
delay = "5 ms"

[[topology.links]]
between = ["s1", "h2"]

[[flows]]
from = "h1"
to = "h2"

[[events]]
at = "1 s"
link = "h1-s1"
rate = "5 Mbit/s"
"""


def given(application: Application, page: Page, text: str = SCENARIO, name: str = "row.toml") -> Callable[[], str]:
    """A scenario, open; and what its file says now."""
    (application.workspace / name).write_text(text)
    application.open(page, name)
    return lambda: application.text(name)


def row(page: Page, name: str) -> Locator:
    """An entry of the outline, by its title."""
    return page.locator(".outline [role=option]", has=page.locator(f".row-title:text-is('{name}')"))


def between(a: str, b: str) -> str:
    """The title of a link without a name."""
    return f"{a} \N{EN DASH} {b}"


def field(page: Page, label: str) -> Locator:
    """A field of the form."""
    return page.locator(".form-pane").get_by_label(label, exact=True)


def says(text: Callable[[], str], *parts: str) -> None:
    """Wait until the file has these parts."""
    eventually(lambda: all(part in text() for part in parts), f"{parts} in the file:\n{text()}\n")


def node(page: Page, name: str) -> Locator:
    return page.locator(f'[data-node="{name}"] .shape')


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
    placed = json.loads(path.with_suffix(".layout.json").read_text())["nodes"]
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


def test_looking_writes_nothing(application: Application, page: Page) -> None:
    names = sorted(path.name for path in BUNDLED.glob("*.toml"))[:20]
    for path in BUNDLED.glob("*.t*"):
        shutil.copy(path, application.workspace)
    before = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in application.workspace.iterdir()}
    for name in names:
        application.open(page, name)
        page.wait_for_selector(".react-flow__node")
        page.keyboard.press("1")
        page.locator(".outline [role=option]").first.click()
        page.locator(".form-pane .field").first.wait_for()
    page.goto("about:blank")
    after = {
        path: (path.read_bytes(), path.stat().st_mtime_ns) for path in application.workspace.iterdir() if path.is_file()
    }
    assert after == before


VALUES = {
    "rate": "20 Mbit/s", "buffer": "2 bdp", "queue": "codel", "overhead": "24 B", "delay": "7 ms", "jitter": "1 ms",
    "reordering": "true", "reorder": "1 %", "delay_line": "100 packets", "loss": "1 %", "duplicate": "2 %",
    "corrupt": "3 %", "mark": "4 %", "up": "false", "name": "slow", "cost": "3", "mtu": "1400",
}  # fmt: skip
"""A value for each key of a link that a single field holds."""


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


def keys_shown(page: Page) -> list[str]:
    return page.evaluate("[...document.querySelectorAll('.form-pane [data-key]')].map((one) => one.dataset.key)")  # type: ignore[no-any-return]


def change(page: Page, key: str, value: str) -> None:
    """Give the field of a key another value."""
    control = page.locator(f'.form-pane [data-key="{key}"] > .control').first
    control.wait_for()
    field = control.locator("input")
    if field.count():
        field.first.fill(value)
        field.first.press("Enter")
    else:
        control.locator("select").first.select_option(value)


def test_every_key_of_a_scenario_is_in_a_form(application: Application, page: Page) -> None:
    """Nothing of the schema can be reached by text only."""
    text = SCENARIO.replace("s1 = {", 'r1 = { kind = "router" }\ns1 = {')
    text += '[[programs]]\nnode = "h2"\ncommand = "true"\n[[expect]]\nmetric = "goodput"\nmin = 1\n'
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
    tables = {"record", "emulate", "simulate", "sweep", "hosts"}
    assert shown >= set(schema["properties"]) - drawn_elsewhere - tables
    for of in ("Record", "Emulate", "Simulate", "Event", "Program", "Expectation"):
        assert shown >= properties(of), of
    assert shown >= properties("Graph") - {"kind", "nodes", "links"}
    for name, of in (("h1", "Host"), ("r1", "Router"), ("s1", "Switch")):
        row(page, name).click()
        field(page, "Name").wait_for()
        assert opened() >= properties(of), of
    row(page, "f1").click()
    for protocol, of in (("tcp", "TcpFlow"), ("udp", "UdpFlow"), ("ping", "PingFlow"), ("command", "CommandFlow")):
        page.locator("#flow-kind").select_option(protocol)
        eventually(lambda of=of: opened() >= properties(of) - {"protocol"}, of)


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


def graph(nodes: list[str], ends: list[tuple[str, str]], flow: tuple[str, str]) -> str:
    """A free network whose switches begin with s, and whose links differ in their rates."""
    kinds = {"s": '{ kind = "switch" }'}
    lines = ['name = "drawn"', 'duration = "3 s"', "", "[topology]", 'kind = "graph"', "", "[topology.nodes]"]
    lines += [f"{name} = {kinds.get(name[0], '{}')}" for name in nodes]
    for number, (a, b) in enumerate(ends, 1):
        lines += ["", "[[topology.links]]", f'between = ["{a}", "{b}"]', f'rate = "{number} Mbit/s"']
    return "\n".join([*lines, "", "[[flows]]", f'from = "{flow[0]}"', f'to = "{flow[1]}"', ""])


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
    while "f2" in page.locator(".outline").inner_text():
        before = page.locator(".cm-content").inner_text()
        page.keyboard.press("Control+z")
        eventually(lambda shown=before: page.locator(".cm-content").inner_text() != shown, "undo shows")
    eventually(lambda: "reno" not in text(), "undo")


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


AXE = Path(__file__).parents[2] / "web" / "node_modules" / "axe-core" / "axe.min.js"


@pytest.mark.parametrize(("scheme", "width"), [("light", 1440), ("dark", 1024), ("dark", 360)])
def test_nothing_serious_by_axe(application: Application, browser: Browser, scheme: str, width: int) -> None:
    (application.workspace / "row.toml").write_text(SCENARIO.replace('from = "h1"', 'from = "h9"'))
    (application.workspace / "fine.toml").write_text(SCENARIO)
    page = application.page(browser, width=width, scheme=scheme)

    def check(view: str) -> None:
        # The page forbids scripts of others, so that axe comes in by the debugger's way.
        page.evaluate(AXE.read_text(encoding="utf-8"))
        found = page.evaluate("axe.run(document, {resultTypes: ['violations']})")
        serious = [
            (one["id"], [node["html"][:160] for node in one["nodes"]])
            for one in found["violations"]
            if one["impact"] in ("serious", "critical")
        ]
        assert serious == [], view

    page.wait_for_selector(".files .list")
    check("files")
    page.get_by_role("button", name="New scenario").first.click()
    page.get_by_role("dialog").wait_for()
    check("new")
    page.keyboard.press("Escape")
    for name in ("row.toml", "fine.toml"):
        page.evaluate(f"location.hash = '#/edit/{name}'")
        page.wait_for_selector(".editor")
        panes = ("Drawing", "Outline", "Form", "Text") if width < 860 else ("",)
        for pane in panes:
            if pane:
                page.locator(".panes").get_by_text(pane).click()
            elif page.locator(".text-pane").count() == 0:
                page.get_by_role("button", name="Text (E)").click()
            page.wait_for_timeout(400)
            check(f"{name} {pane}")
    page.context.close()

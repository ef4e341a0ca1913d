"""Labs in the web application: links that change while programs run, and terminals."""

from __future__ import annotations

import re
import shutil
import subprocess
import time
import tomllib
from collections.abc import Callable

import polars
import pytest
from accessibility import serious, too_wide
from application import DUMBBELL, Application, eventually
from playwright.sync_api import Locator, Page, expect

NET = """\
name = "net"

[topology]
kind = "graph"

[topology.nodes]
h1 = {}
h2 = {}
s1 = { kind = "switch" }

[[topology.links]]
between = ["h1", "s1"]

[[topology.links]]
between = ["s1", "h2"]
rate = "20 Mbit/s"
delay = "5 ms"
buffer = "60 packets"
"""

BGP = """\
name = "as"

[topology]
kind = "graph"

[topology.nodes]
h1 = {}
r1 = { kind = "router", asn = 100, routing = ["bgp"] }
r2 = { kind = "router", asn = 200, routing = ["bgp"] }
h2 = {}

[[topology.links]]
between = ["h1", "r1"]

[[topology.links]]
between = ["r1", "r2"]

[[topology.links]]
between = ["r2", "h2"]
"""


def start(application: Application, page: Page, text: str = NET) -> None:
    """A lab of a scenario, started from its editor. Its name is the test's own: labs of a user share theirs."""
    name = re.sub(r"\W|_", "", application.workspace.parent.name)[-24:]
    text = re.sub('name = ".*"', f'name = "{name}"', text, count=1)
    (application.workspace / "net.toml").write_text(text)
    application.open(page, "net.toml")
    page.get_by_role("button", name="Lab", exact=True).click()
    page.wait_for_selector(".lab-node", timeout=60_000)


def node(page: Page, name: str) -> None:
    page.get_by_role("group", name=re.compile(f"^(host|router|switch) {name} ")).click()


MIDDLE = """path => {
  const [at, to] = [path.getPointAtLength(path.getTotalLength() / 2), path.getScreenCTM()];
  return [at.x * to.a + to.e, at.y * to.d + to.f];
}"""


def link(page: Page, a: str, b: str) -> None:
    """Choose a link by a click on its line: words beside it belong to its element, too, and are no part to click on."""
    path = page.get_by_role("group", name=re.compile(f"^link {a} to {b}")).locator(".react-flow__edge-interaction")
    places = [path.evaluate(MIDDLE)]

    def stands() -> bool:
        places.append(path.evaluate(MIDDLE))
        return bool(places[-1] == places[-2])

    eventually(stands, "the drawing stands still")
    page.mouse.click(*places[-1])


def terminal(page: Page, name: str, button: str = "Terminal") -> Locator:
    """A new terminal in a node, which has a prompt."""
    node(page, name)
    page.get_by_role("button", name=button, exact=True).click()
    shown = page.locator(".terminal-box:not([hidden])")
    expect(shown).to_have_attribute("aria-label", re.compile(name))
    prompt(shown)
    shown.locator(".xterm-helper-textarea").focus()
    return shown


def prompt(shown: Locator) -> None:
    """Wait until a shell asks for a command."""
    eventually(lambda: re.search(r"[#$>]", screen(shown)), "a prompt")


def screen(shown: Locator) -> str:
    """Returns the text on the terminal."""
    return "\n".join(shown.locator(".xterm-rows > div").all_inner_texts()).replace("\xa0", " ")


def says(shown: Locator, what: str | re.Pattern[str], patience_s: float = 20) -> None:
    look = what.search if isinstance(what, re.Pattern) else lambda text: what in text
    try:
        eventually(lambda: look(screen(shown)), f"{what} in a terminal", patience_s)
    except AssertionError as late:
        late.add_note(f"The page: {shown.page.locator('body').inner_text()}")
        raise


def value(page: Page, plot: str, name: str) -> Callable[[], float]:
    """The latest value of a curve, as it stands beside its plot."""
    row = page.locator(f"[data-plot={plot}] .values div", has_text=name)
    return lambda: float(row.locator("output").inner_text().replace(",", "").replace("–", "nan"))  # noqa: RUF001


@pytest.mark.firefox
@pytest.mark.real_time
@pytest.mark.skipif(shutil.which("iperf3") is None, reason="apt-get install iperf3")
def test_links_change_while_a_program_sends(application: Application, page: Page) -> None:
    start(application, page)
    server = terminal(page, "h1")
    page.keyboard.type("iperf3 -s -1\n")
    says(server, "Server listening")
    node(page, "h1")
    address = page.locator(".lab-panel dd").first.inner_text().split("/")[0]
    terminal(page, "h2")
    page.keyboard.type(f"iperf3 -c {address} -t 60\n")
    rate = value(page, "rate", "h2-s1")
    eventually(lambda: rate() > 15, "20 Mbit/s in the plot")
    link(page, "s1", "h2")
    page.get_by_role("textbox", name="Rate").fill("5 Mbit/s")
    page.get_by_role("button", name="Change now").click()
    began = time.monotonic()
    eventually(lambda: rate() < 6, "5 Mbit/s in the plot", patience_s=5)
    print(f"seen after {time.monotonic() - began:.2f} s")
    page.get_by_role("button", name="Take down").click()
    eventually(lambda: rate() < 0.1, "silence in the plot", patience_s=5)
    expect(page.locator(".lab-cable.down")).to_have_count(1)
    page.get_by_role("button", name="Take up").click()
    eventually(lambda: rate() > 3, "the flow goes on", patience_s=30)
    page.get_by_role("button", name="Save changes").click()
    said = page.get_by_role("dialog").locator("pre")
    expect(said).to_contain_text("5 Mbit/s")
    events = tomllib.loads(said.inner_text())["events"]
    assert [one.get("rate") for one in events if "rate" in one] == ["5 Mbit/s"] * 2
    assert [one["up"] for one in events if "up" in one and one["link"] == "s1-h2"] == [False, True]
    times = [float(one["at"].removesuffix(" s")) for one in events]
    assert times == sorted(times)
    # Both directions change, one after the other.
    slow, down, up = (at for at, one in zip(times, events, strict=True) if one["link"] == "h2-s1")

    # No file is replaced, which is said on top of the dialog.
    page.get_by_role("textbox", name="New scenario").fill("net.toml")
    page.get_by_role("button", name="Save as a scenario").click()
    refusal = page.locator(".toast.problem")
    expect(refusal).to_contain_text("net.toml")
    assert page.locator(".toasts").evaluate("toasts => toasts.matches(':popover-open')")
    application.complaints.clear()  # The browser notes each refusal.
    # In a scenario with a flow, the events are the same steps of capacity. The simulator takes each at its time,
    # whatever else the machine does; its hosts notice no carrier.
    flow = '[[flows]]\nfrom = "h2"\nto = "h1"\ncc = "cubic"\n'
    steps = said.inner_text().replace('carrier = "lost"\n', "")
    again = application.workspace / "again.toml"
    again.write_text(f'duration = "{up + 2:.9f} s"\n{application.text("net.toml")}\n{flow}\n{steps}')
    command = [DUMBBELL, "run", again.name, "--engine", "simulate", "--output", "again"]
    done = subprocess.run(command, cwd=application.workspace, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (run,) = (application.workspace / "again").glob("[!.]*")
    rows = polars.read_parquet(run / "links.parquet").filter(polars.col("link") == "h2-s1")

    def allowed_mbps(start_s: float, end_s: float) -> float:
        some = rows.filter(polars.col("time_ns").is_between(start_s * 1e9, end_s * 1e9))
        (begin, end), (first, last) = some["time_ns"][[0, -1]], some["capacity_bytes"][[0, -1]]
        return float((last - first) * 8e3 / (end - begin))

    spans = ((0, slow), (slow, down), (down, up), (up, up + 2))
    assert [round(allowed_mbps(*span), 2) for span in spans] == [20, 5, 0, 5]


def test_what_is_wrong_with_a_change_is_said(application: Application, page: Page) -> None:
    start(application, page)
    link(page, "s1", "h2")
    page.get_by_role("textbox", name="Rate").fill("5")
    page.get_by_role("button", name="Change now").click()
    expect(page.locator(".toast.problem")).to_contain_text("no unit")
    application.complaints.clear()  # The browser notes each refusal.


@pytest.mark.firefox
@pytest.mark.real_time
def test_a_terminal_behaves(application: Application, page: Page) -> None:
    start(application, page)
    shown = terminal(page, "h1")
    page.keyboard.type("stty size\n")
    rows = shown.locator(".xterm-rows > div").count()
    says(shown, re.compile(rf"\b{rows} \d+"))
    page.keyboard.type("sleep 600\n")
    page.keyboard.press("Control+c")
    says(shown, "^C")
    page.keyboard.type("yes\n")
    page.wait_for_timeout(3000)
    began = time.monotonic()
    page.keyboard.press("Control+c")
    eventually(lambda: "^C" in screen(shown).split("y\n")[-1], "the interrupt", patience_s=5)
    print(f"interrupted after {time.monotonic() - began:.2f} s")
    page.get_by_role("link", name="Files", exact=True).wait_for()
    page.keyboard.type("clear; echo still-$((40 + 2))\n")
    says(shown, "still-42")
    page.reload()
    again = page.locator(".terminal-box:not([hidden])")
    says(again, "still-42")
    again.locator(".xterm-helper-textarea").focus()
    page.keyboard.type("echo again-$((1 + 1))\n")
    says(again, "again-2")
    page.set_viewport_size({"width": 900, "height": 700})
    page.wait_for_timeout(300)
    page.keyboard.type("clear; stty size\n")
    columns = re.compile(r"\d+ (\d+)\n")
    eventually(lambda: (found := columns.search(screen(again))) and int(found[1]) < 110, "the new size")


def test_the_lab_ends_and_says_so_in_its_terminals(application: Application, page: Page) -> None:
    start(application, page)
    shown = terminal(page, "h1")
    other = page.context.new_page()
    application.tab(other)
    other.evaluate("location.hash = '#/labs'")
    other.get_by_role("button", name="End").click()
    says(shown, "[the lab has ended]")
    expect(page.locator(".lab-over")).to_be_visible()
    expect(other.get_by_text("No lab is up.")).to_be_visible()


@pytest.mark.real_time
def test_nodes_answer_questions(application: Application, page: Page) -> None:
    start(application, page)
    node(page, "h1")
    page.get_by_role("button", name="Ping", exact=True).click()
    expect(page.locator(".lab-answer pre")).to_contain_text(re.compile(r"time=1\d\.\d"), timeout=15_000)
    page.get_by_role("button", name="Routes").click()
    expect(page.locator(".lab-answer pre")).to_contain_text("dev eth0")
    page.get_by_role("button", name="Lab’s shell").click()  # noqa: RUF001
    shown = page.locator(".terminal-box:not([hidden])")
    says(shown, ">")
    shown.locator(".xterm-helper-textarea").focus()
    page.keyboard.type("pingall\n")
    says(shown, "0% dropped (2/2 received)")


def test_the_list_finds_a_node_and_opens_its_terminal(application: Application, page: Page) -> None:
    start(application, page)
    rows = page.locator(".lab-outline li")
    expect(rows).to_have_count(5)
    page.get_by_role("searchbox", name="Find a node, a link, an address").fill("h2")
    expect(rows).to_have_count(2)
    page.get_by_role("button", name="Terminal in h2").click()
    shown = page.locator(".terminal-box:not([hidden])")
    expect(shown).to_have_attribute("aria-label", "Terminal of h2")
    prompt(shown)
    shown.locator(".xterm-helper-textarea").focus()
    # The prompt is the user's shell's own: not every one says where it is.
    page.keyboard.type("echo at $(hostname)\n")
    says(shown, "at h2")
    page.locator(".lab-outline .lab-row", has_text="s1").click()
    expect(page.locator(".lab-panel h2")).to_contain_text("s1 – h2")  # noqa: RUF001
    expect(page.locator(".lab-cable.selected")).to_have_count(1)


def test_terminals_of_a_node_are_numbered_and_come_into_sight(application: Application, page: Page) -> None:
    start(application, page)
    page.set_viewport_size({"width": 390, "height": 600})
    for _ in range(2):
        page.locator(".view").evaluate("view => view.scrollTo(0, 0)")
        page.get_by_role("button", name="Terminal in h2").dispatch_event("click")
        expect(page.locator(".terminal-tabs")).to_be_in_viewport()
    expect(page.locator(".terminal-tab")).to_have_text([re.compile("^h2×"), re.compile("^h2 2×")])  # noqa: RUF001


@pytest.mark.firefox
def test_why_draws_the_path_and_marks_what_stops_packets(application: Application, page: Page) -> None:
    start(application, page)
    node(page, "h1")
    page.get_by_label("The other node").select_option("h2")
    page.get_by_role("button", name="Why", exact=True).click()
    expect(page.locator(".lab-answer pre")).to_contain_text(re.compile(r"^h1 -> h2\nh2 answers h1: "), timeout=15_000)
    expect(page.locator(".lab-node.on-way")).to_have_count(2)
    expect(page.locator(".lab-cable.on-way")).to_have_count(2)
    link(page, "s1", "h2")
    page.get_by_role("button", name="Take down").click()
    node(page, "h1")
    page.get_by_role("button", name="Why", exact=True).click()
    expect(page.locator(".lab-answer pre")).to_contain_text("are down\n  mend: link ", timeout=15_000)
    expect(page.locator(".lab-cable.faulty")).to_have_count(1)
    expect(page.locator(".lab-cable.faulty")).to_have_attribute("aria-label", re.compile("^link s1 to h2, down"))
    # The page asks, as the change would be lost.
    page.get_by_role("button", name="End", exact=True).click()
    page.get_by_role("button", name="End without saving").click()
    expect(page.get_by_text("No lab is up.")).to_be_visible()


def test_what_is_done_is_kept_as_a_run(application: Application, page: Page) -> None:
    start(application, page)
    page.get_by_role("button", name="Record").click()
    expect(page.get_by_role("button", name="End the record")).to_be_visible()
    link(page, "s1", "h2")
    page.get_by_role("textbox", name="Delay").fill("15 ms")
    page.get_by_role("button", name="Change now").click()
    expect(page.locator(".lab-changes")).to_contain_text("2 changes")
    page.get_by_role("button", name="End the record").click()
    page.wait_for_selector(".report-frame", timeout=60_000)
    page.frame_locator(".report-frame").locator("h1").wait_for()


@pytest.mark.skipif(shutil.which("vtysh") is None, reason="apt-get install frr")
def test_a_router_has_a_shell_of_its_daemons(application: Application, page: Page) -> None:
    start(application, page, BGP)
    shown = terminal(page, "r1", "vtysh")
    page.keyboard.type("show bgp summary\n")
    says(shown, re.compile(r"\b200\b"))
    node(page, "r1")
    expect(page.locator(".lab-daemons")).to_contain_text("bgpd runs")
    page.get_by_role("button", name="Neighbours").click()
    expect(page.locator(".lab-answer pre")).to_contain_text("BGP", timeout=15_000)
    shown.locator(".xterm-helper-textarea").focus()
    page.keyboard.type("configure terminal\ninterface lo\ndescription mine\nend\n")
    page.get_by_role("button", name="Save changes").click()
    expect(page.get_by_role("dialog")).to_contain_text("The running configuration of r1 will be saved beside it.")
    page.get_by_role("button", name="Save as a scenario").click()
    page.wait_for_selector(".editor .react-flow__node")
    assert " description mine\n" in (application.workspace / "r1.conf").read_text()
    assert 'frr = "r1.conf"' in (application.workspace / "net-done.toml").read_text()


def test_a_killed_server_takes_its_labs_along(application: Application, page: Page) -> None:
    from dumbbell.labs import place

    start(application, page)
    name = page.locator(".lab h1").inner_text()
    assert name in [path.name for path in place.alive()]
    application.process.kill()
    eventually(lambda: name not in [path.name for path in place.alive()], "the end of the lab", patience_s=30)
    page.goto("about:blank")  # The page asks again and again.
    application.complaints.clear()  # That nobody answers is what was wanted.


def listed(page: Page) -> Locator:
    """Rows of the list of packets that are in sight."""
    return page.get_by_role("grid", name="Packets").locator("tr[tabindex]")


@pytest.mark.firefox
@pytest.mark.skipif(shutil.which("ping") is None, reason="apt-get install iputils-ping")
def test_packets_of_an_interface_and_of_a_link_are_listed(application: Application, page: Page) -> None:
    start(application, page)
    node(page, "h1")
    page.get_by_role("button", name="Packets", exact=True).click()
    expect(page.get_by_role("region", name="Packets at h1-eth0")).to_be_visible()
    page.get_by_role("button", name="Ping", exact=True).click()
    # Four pings and their answers.
    filtered = page.get_by_role("searchbox", name="Only packets with these words")
    filtered.fill("icmp")
    expect(listed(page)).to_have_count(8)
    filtered.fill("icmp !reply")
    expect(listed(page)).to_have_count(4)
    listed(page).first.click()
    packet = page.get_by_role("region", name=re.compile(r"^Packet \d"))
    expect(packet).to_contain_text("IPv4")
    expect(packet).to_contain_text("identifier")
    with page.expect_download() as saved:
        page.get_by_role("region", name="Packets at h1-eth0").get_by_role("button", name="Save", exact=True).click()
    assert saved.value.suggested_filename.endswith("h1-eth0.pcapng")
    assert saved.value.path().read_bytes()[:4] == bytes.fromhex("0a0d0d0a")
    page.get_by_role("button", name="Stop", exact=True).click()
    expect(page.locator(".packets-notes")).to_contain_text("stopped")

    link(page, "s1", "h2")
    page.locator(".lab-panel").get_by_role("button", name="Packets", exact=True).click()
    expect(page.locator(".packets h2")).to_contain_text("s1-h2")
    node(page, "h1")
    page.get_by_role("button", name="Ping", exact=True).click()
    filtered.fill("icmp")
    # Each goes over both directions, and is seen as it comes and as it leaves.
    expect(listed(page)).to_have_count(16)
    expect(listed(page).first).to_contain_text("delivered")
    page.get_by_role("button", name="Close the list of packets").click()
    expect(page.locator(".packets")).to_have_count(0)


def add(page: Page, what: str) -> Locator:
    """The dialog of `Add`, a menu beneath its button."""
    page.get_by_role("button", name="Add", exact=True).click()
    page.get_by_role("menuitem", name=what).click()
    return page.get_by_role("dialog")


def test_a_host_is_added_and_is_as_any_other(application: Application, page: Page) -> None:
    start(application, page)
    dialog = add(page, "Add a host")
    expect(dialog.get_by_label("Name")).to_have_value("h3")
    expect(dialog.get_by_label("Linked to")).to_have_value("s1")
    assert [*serious(page), *too_wide(page)] == []
    dialog.get_by_label("Rate").fill("10 Mbit/s")
    dialog.get_by_label("Delay").fill("15 ms")
    dialog.get_by_label("Buffer").fill("100 ms")
    dialog.get_by_role("button", name="Add", exact=True).click()
    expect(dialog).to_have_count(0)

    # The node stands in the drawing and in the list, and is chosen; an older host knows its name.
    expect(page.get_by_role("group", name=re.compile(r"^host h3 10\."))).to_be_visible()
    expect(page.locator(".lab-panel h2")).to_contain_text("h3")
    expect(page.locator(".lab-outline summary")).to_have_text("4 nodes, 3 links")
    shown = terminal(page, "h3")
    page.keyboard.type("ping -c1 h1 | grep -o 'time=[3-9][0-9]'; echo at $(hostname)\n")
    says(shown, re.compile(r"time=3\d\s+at h3"))
    node(page, "h1")
    page.get_by_label("The other node").select_option("h3")
    page.get_by_role("button", name="Why", exact=True).click()
    expect(page.locator(".lab-answer pre")).to_contain_text(re.compile(r"^h1 -> h3\nh3 answers h1: "), timeout=15_000)
    expect(page.locator(".lab-node.on-way")).to_have_count(2)
    expect(page.get_by_role("group", name=re.compile("^link h3 to s1"))).to_have_class(re.compile("on-way"))

    # Its link is cut and mended, and `why` says so.
    link(page, "h3", "s1")
    page.get_by_role("button", name="Take down").click()
    node(page, "h1")
    page.get_by_label("The other node").select_option("h3")
    page.get_by_role("button", name="Why", exact=True).click()
    expect(page.locator(".lab-cable.faulty")).to_have_attribute("aria-label", re.compile("^link h3 to s1, down"))
    link(page, "h3", "s1")
    page.get_by_role("button", name="Take up").click()

    # Traffic has a curve of its own, and the drawing says what the link carries.
    page.get_by_role("button", name="Lab’s shell").click()  # noqa: RUF001
    shell = page.locator(".terminal-box:not([hidden])")
    says(shell, ">")
    shell.locator(".xterm-helper-textarea").focus()
    page.keyboard.type("traffic h3 h1 seconds=20\n")
    rate = value(page, "rate", "h3-s1")
    eventually(lambda: 5 < rate() < 11, "10 Mbit/s in the plot")
    expect(page.get_by_role("group", name=re.compile("^link h3 to s1"))).to_contain_text("Mbit/s")

    # All of it goes with the host: its terminal ends, and nothing is chosen any more.
    node(page, "h3")
    page.locator(".lab-panel").get_by_role("button", name="Remove").click()
    dialog = page.get_by_role("dialog")
    expect(dialog).to_contain_text("Its links go with it: s1. Programs in it are killed.")
    dialog.get_by_role("button", name="Remove").click()
    expect(page.locator(".lab-node")).to_have_count(3)
    expect(page.locator(".lab-outline summary")).to_have_text("3 nodes, 2 links")
    expect(page.locator(".lab-panel")).to_have_count(0)
    expect(page.locator(".terminal-tab", has_text="h3")).to_contain_text("ended")
    node(page, "h1")
    page.get_by_label("The other node").select_option("h2")
    page.get_by_role("button", name="Ping", exact=True).click()
    expect(page.locator(".lab-answer pre")).to_contain_text(re.compile(r"time=\d"), timeout=15_000)


@pytest.mark.skipif(shutil.which("ping") is None, reason="apt-get install iputils-ping")
def test_packets_of_what_was_added_are_listed(application: Application, page: Page) -> None:
    start(application, page)
    dialog = add(page, "Add a host")
    dialog.get_by_role("button", name="Add", exact=True).click()
    link(page, "h3", "s1")
    page.locator(".lab-panel").get_by_role("button", name="Packets", exact=True).click()
    expect(page.locator(".packets h2")).to_contain_text("h3-s1")
    node(page, "h3")
    page.get_by_label("The other node").select_option("h1")
    page.get_by_role("button", name="Ping", exact=True).click()
    page.get_by_role("searchbox", name="Only packets with these words").fill("icmp")
    expect(listed(page)).to_have_count(16)
    # The network stays while its links are captured, and the page says what to do.
    dialog = add(page, "Link h3 with")
    dialog.get_by_label("To").select_option("h1")
    dialog.get_by_role("button", name="Add", exact=True).click()
    expect(page.locator(".toast.problem")).to_contain_text("links are being captured")
    dialog.get_by_role("button", name="Cancel").click()
    application.complaints.clear()  # The browser notes each refusal.
    page.get_by_role("button", name="Close the list of packets").click()

    node(page, "h3")
    page.get_by_role("button", name="Packets", exact=True).click()
    expect(page.get_by_role("region", name="Packets at h3-eth0")).to_be_visible()
    page.get_by_role("button", name="Ping", exact=True).click()
    expect(listed(page).first).to_be_visible()
    # A list of an interface goes on while the network changes, and ends with its node.
    page.locator(".lab-drawing").press("Delete")
    page.get_by_role("dialog").get_by_role("button", name="Remove").click()
    expect(page.locator(".packets-notes")).to_contain_text("stopped")


def test_a_network_is_changed_by_menus_and_keys_and_saved(application: Application, page: Page) -> None:
    start(application, page)
    # A click with the right button says where the node is to stand.
    ground = page.locator(".lab-drawing").bounding_box()
    assert ground is not None
    spot = (ground["x"] + 60, ground["y"] + 60)
    page.mouse.click(*spot, button="right")
    page.get_by_role("menuitem", name="Add a router").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Linked to").select_option("no node yet")
    dialog.get_by_role("button", name="Add", exact=True).click()
    waits = page.get_by_role("group", name="router r1 without a link")
    expect(waits).to_have_class(re.compile("waiting"))
    expect(page.locator(".lab-panel")).to_contain_text("It comes up with its first link.")
    expect(page.get_by_role("button", name="Terminal in r1")).to_have_count(0)

    # A refusal has the shell's words, and the dialog stays.
    page.locator(".lab-drawing").press("l")
    expect(dialog.get_by_label("From")).to_have_value("r1")
    dialog.get_by_label("To").select_option("r1")
    dialog.get_by_role("button", name="Add", exact=True).click()
    expect(page.locator(".toast.problem")).to_contain_text("cannot add a link r1 r1")
    expect(page.locator(".toast.problem")).to_contain_text("a link from r1 to itself")
    dialog.get_by_label("To").select_option("s1")
    dialog.get_by_text("Further keys").click()
    dialog.get_by_label("The link").fill("name=up overhead=24 B")
    dialog.get_by_role("button", name="Add", exact=True).click()
    expect(page.locator(".lab-node.waiting")).to_have_count(0)
    expect(page.locator(".lab-panel h2")).to_contain_text("r1 – s1")  # noqa: RUF001

    # A line from node to node is a link, too.
    for name in ("h1", "r1"):
        page.locator(f'[data-node="{name}"]').hover()
    eventually(lambda: page.evaluate("document.getAnimations().length") == 0, "the drawing stands still")
    page.locator('[data-node="h1"]').hover()
    page.locator('[data-node="h1"] .pull').hover()
    page.mouse.down()
    page.locator('[data-node="r1"] .shape').hover()
    page.mouse.up()
    expect(dialog.get_by_label("From")).to_have_value("h1")
    expect(dialog.get_by_label("To")).to_have_value("r1")
    dialog.get_by_label("Rate").fill("5 Mbit/s")
    dialog.get_by_role("button", name="Add", exact=True).click()
    expect(page.locator(".lab-cable")).to_have_count(4)

    # A host with a name that is taken is refused, and so is a link without which a node would stand alone.
    dialog = add(page, "Add a host")
    dialog.get_by_label("Name").fill("h2")
    dialog.get_by_role("button", name="Add", exact=True).click()
    expect(page.locator(".toast.problem")).to_contain_text("another node has this name")
    dialog.get_by_role("button", name="Cancel").click()
    link(page, "s1", "h2")
    page.locator(".lab-panel").get_by_role("button", name="Remove").click()
    page.get_by_role("dialog").get_by_role("button", name="Remove").click()
    expect(page.locator(".toast.problem", has_text="no link leads to h2")).to_be_visible()
    page.get_by_role("dialog").get_by_role("button", name="Cancel").click()
    application.complaints.clear()  # The browser notes each refusal.
    page.get_by_role("group", name=re.compile("^link h1 to s1")).press("Enter")
    page.get_by_role("group", name=re.compile("^link h1 to s1")).press("Delete")
    page.get_by_role("dialog").get_by_role("button", name="Remove").click()
    expect(page.locator(".lab-cable")).to_have_count(3)

    # A host that has no link yet is not saved, which the page says.
    dialog = add(page, "Add a host")
    dialog.get_by_label("Linked to").select_option("no node yet")
    dialog.get_by_role("button", name="Add", exact=True).click()
    expect(page.get_by_role("group", name="host h3 without a link")).to_be_visible()
    page.get_by_role("button", name="End", exact=True).click()
    page.get_by_role("button", name="Save first").click()
    expect(page.get_by_role("dialog")).to_contain_text("the new scenario has the network of now")
    expect(page.get_by_role("dialog")).to_contain_text("Without h3")
    page.get_by_role("textbox", name="New scenario").fill("grown.toml")
    page.get_by_role("button", name="Save as a scenario").click()
    page.wait_for_selector(".editor .react-flow__node")
    topology = tomllib.loads(application.text("grown.toml"))["topology"]
    assert sorted(topology["nodes"]) == ["h1", "h2", "r1", "s1"]
    assert [one["between"] for one in topology["links"]] == [["s1", "h2"], ["r1", "s1"], ["h1", "r1"]]
    assert (topology["links"][1]["name"], topology["links"][1]["overhead"]) == ("up", "24 B")
    assert topology["links"][2]["rate"] == "5 Mbit/s"


def test_what_the_shell_changes_is_drawn(application: Application, page: Page) -> None:
    start(application, page)
    page.get_by_role("button", name="Lab’s shell").click()  # noqa: RUF001
    shown = page.locator(".terminal-box:not([hidden])")
    says(shown, ">")
    shown.locator(".xterm-helper-textarea").focus()
    page.keyboard.type("add switch s2 bridge=true\n")
    expect(page.get_by_role("group", name="switch s2 without a link")).to_be_visible()
    page.keyboard.type("add link s2 s1\n")
    expect(page.get_by_role("group", name=re.compile("^link s2 to s1"))).to_have_count(1)
    # Programs run in a bridge of Linux.
    expect(page.get_by_role("button", name="Terminal in s2")).to_have_count(1)
    page.keyboard.type("remove link s2 s1\n")
    says(shown, "no link leads to s2 then")
    page.keyboard.type("remove s2\n")
    expect(page.locator(".lab-node")).to_have_count(3)

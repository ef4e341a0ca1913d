"""The steps of the tutorial `docs/tutorial/draw.md`, as its reader takes them: its test and its pictures follow."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from playwright.sync_api import Locator, Page, expect

FILE = "first.toml"


@dataclass(frozen=True)
class Step:
    """A section of the tutorial."""

    heading: str
    do: Callable[[Page], None]
    picture: str | None = None
    """Picture of the page afterwards: its file in `docs/images/ui`."""


def node(page: Page, name: str) -> Locator:
    return page.locator(f'[data-node="{name}"] .shape')


def field(page: Page, label: str) -> Locator:
    return page.locator(".form-pane").get_by_label(label, exact=True)


def fill(page: Page, **values: str) -> None:
    """Type into fields of the form, each followed by Enter."""
    for label, value in values.items():
        field(page, label.replace("_", " ")).fill(value)
        field(page, label.replace("_", " ")).press("Enter")


def tool(page: Page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()


def begin(page: Page) -> None:
    page.get_by_role("button", name="New scenario").first.click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("File").fill(FILE)
    dialog.get_by_text("blank", exact=True).wait_for()
    dialog.get_by_role("button", name="Make it").click()
    page.wait_for_selector(".empty")


def draw(page: Page) -> None:
    stage = page.locator(".react-flow__pane")
    box = stage.bounding_box()
    assert box
    hosts = (("h1", "Host", 0.15, 0.25), ("h2", "Host", 0.15, 0.65))
    spots = (*hosts, ("s1", "Switch", 0.45, 0.45), ("h3", "Host", 0.85, 0.45))
    for name, kind, x, y in spots:
        tool(page, kind)
        stage.click(position={"x": x * box["width"], "y": y * box["height"]})
        node(page, name).wait_for()
    tool(page, "Link")
    for a, b in (("h1", "s1"), ("h2", "s1"), ("s1", "h3")):
        node(page, a).drag_to(node(page, b))
        page.locator(f".outline .row-title:text-is('{a} \N{EN DASH} {b}')").wait_for()
    tool(page, "Select")


def slow_link(page: Page) -> None:
    page.locator(".outline [role=option]", has_text="s1 \N{EN DASH} h3").click()
    fill(page, Rate="20 Mbit/s", Delay="15 ms", Buffer="1 bdp")


def flows(page: Page) -> None:
    tool(page, "Flow")
    for number, (sender, cc) in enumerate((("h1", "cubic"), ("h2", "bbr")), 1):
        node(page, sender).drag_to(node(page, "h3"))
        page.locator(f".outline .row-title:text-is('f{number}')").wait_for()
        fill(page, Congestion_control=cc)
    tool(page, "Select")


def duration(page: Page) -> None:
    page.locator(".react-flow__pane").click(position={"x": 5, "y": 5})
    fill(page, Duration="10 s")
    expect(page.locator(".saved")).to_have_text("saved")


def run(page: Page) -> None:
    if page.locator(".dock").count() == 0:
        tool(page, "Run")
    page.locator(".dock [data-plot=goodput] canvas").wait_for()
    expect(page.locator(".dock .run-time")).to_contain_text(re.compile("^ *[5-9]"))


def report(page: Page) -> None:
    page.locator(".dock").get_by_role("link", name="Report").click()
    page.frame_locator(".report-frame").locator(".verdict").wait_for()


def what_if(page: Page) -> None:
    page.get_by_role("link", name=f"Open {FILE}").click()
    page.get_by_role("link", name="What if").click()
    settled(page)
    page.get_by_role("button", name="Keep these curves").click()
    value = page.locator('[data-knob="topology.links.2.buffer"] .knob-value input')
    value.fill("0.3")
    value.press("Enter")
    settled(page)


def settled(page: Page) -> None:
    page.wait_for_selector(".whatif .plot canvas")
    page.wait_for_timeout(300)
    page.wait_for_selector(".whatif:not([data-busy])")


def lab(page: Page) -> None:
    page.get_by_role("link", name=FILE).click()
    page.get_by_role("button", name="Lab", exact=True).click()
    page.get_by_role("group", name=re.compile("^host h1 ")).dblclick()
    screen = page.locator(".terminal-box:not([hidden])")
    expect(screen.locator(".xterm-rows")).to_contain_text(re.compile("[#$>]"))
    screen.locator(".xterm-helper-textarea").focus()
    page.keyboard.type("ping -c 3 h3\n")
    expect(screen.locator(".xterm-rows")).to_contain_text("3 received")
    page.get_by_role("button", name="End", exact=True).click()
    expect(page.get_by_text("No lab is up.")).to_be_visible()


STEPS = (
    Step("Begin", begin),
    Step("Draw three hosts and a switch", draw),
    Step("Make one link slow", slow_link, "first-link"),
    Step("Add two flows", flows),
    Step("Say how long", duration, "first-network"),
    Step("Run it and watch", run, "first-run"),
    Step("Read the report", report),
    Step("Ask what if", what_if, "first-what-if"),
    Step("Go in", lab),
)

"""Shared parts of tests of the editor: a scenario, and its parts on the page."""

from __future__ import annotations

from collections.abc import Callable

from application import Application, eventually
from playwright.sync_api import Locator, Page

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


def graph(nodes: list[str], ends: list[tuple[str, str]], flow: tuple[str, str]) -> str:
    """A free network whose switches begin with s, and whose links differ in their rates."""
    kinds = {"s": '{ kind = "switch" }'}
    lines = ['name = "drawn"', 'duration = "3 s"', "", "[topology]", 'kind = "graph"', "", "[topology.nodes]"]
    lines += [f"{name} = {kinds.get(name[0], '{}')}" for name in nodes]
    for number, (a, b) in enumerate(ends, 1):
        lines += ["", "[[topology.links]]", f'between = ["{a}", "{b}"]', f'rate = "{number} Mbit/s"']
    return "\n".join([*lines, "", "[[flows]]", f'from = "{flow[0]}"', f'to = "{flow[1]}"', ""])

"""Parts of the page are in sight and can be read: none is cut off, outside of the window, or in colours of the day."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from application import Application
from editing import graph
from playwright.sync_api import Browser, Page, expect

from dumbbell.scenario import bundled


@pytest.fixture
def narrow(application: Application, browser: Browser) -> Iterator[Page]:
    """A page as wide as a telephone, dark."""
    page = application.page(browser, width=390, height=844, scheme="dark")
    yield page
    page.context.close()


def is_cut(page: Page, selector: str) -> list[str]:
    """Returns the texts of elements that end in an ellipsis."""
    found: list[str] = page.locator(selector).evaluate_all(
        "all => all.filter(one => one.scrollWidth > one.clientWidth + 1).map(one => one.textContent)"
    )
    return found


def test_a_menu_is_in_sight_as_a_whole(application: Application, narrow: Page) -> None:
    (application.workspace / "net.toml").write_text(
        graph(["s1", "h1", "h2"], [("h1", "s1"), ("s1", "h2")], ("h1", "h2"))
    )
    narrow.set_viewport_size({"width": 390, "height": 560})
    narrow.evaluate("location.hash = '#/edit/net.toml'")
    narrow.locator('[data-node="h2"] .shape').click(button="right")
    box = narrow.locator(".menu").bounding_box()
    assert box is not None
    assert box["x"] >= 0
    assert box["y"] >= 0
    assert box["x"] + box["width"] <= 390
    assert box["y"] + box["height"] <= 560
    expect(narrow.get_by_role("menuitem", name="Delete the selection")).to_be_in_viewport(ratio=1)


def test_names_are_read_in_the_palette_and_in_the_bar(application: Application, browser: Browser) -> None:
    name = "mice-and-elephants.toml"
    (application.workspace / name).write_text(bundled.text("mice-and-elephants"))
    for width in (390, 1024):
        page = application.page(browser, width=width, height=768)
        page.locator("#main").focus()
        page.keyboard.press("Control+k")
        page.keyboard.type("mice")
        expect(page.locator(".choice-title").first).to_have_text(name)
        assert is_cut(page, ".choice-title") == []
        page.keyboard.press("Escape")
        if width == 1024:
            application.open(page, name)
            assert is_cut(page, ".file-name b") == []
        page.context.close()


@pytest.mark.parametrize(
    ("where", "title", "on"),
    [
        ("runs/gone-0123456789ab", "This run can’t be shown", "All runs"),  # noqa: RUF001
        ("studies/gone-0123456789ab", "This study can’t be shown", "All studies"),  # noqa: RUF001
        ("compare/a-0123456789ab/b-0123456789ab", "These runs can’t be compared", "Choose runs to compare"),  # noqa: RUF001
        ("edit/gone.toml", "gone.toml can’t be opened", "All files"),  # noqa: RUF001
        ("labs/gone", "gone is not up", "Labs that are up"),
        ("nowhere", "There is no such view", "All files"),
    ],
)
def test_what_is_not_there_says_so_and_leads_on(
    application: Application, page: Page, where: str, title: str, on: str
) -> None:
    page.evaluate(f"location.hash = '#/{where}'")
    expect(page.get_by_role("heading", level=1)).to_have_text(title)
    page.get_by_role("link", name=on, exact=True).click()
    expect(page.get_by_role("heading", level=1, name=title)).to_have_count(0)
    application.forget_refusals(404)
    application.forget_refusals(400)


def test_the_bar_says_in_which_part_one_is(application: Application, page: Page) -> None:
    for where, part in (("studies", "Runs"), ("runs", "Runs"), ("captures", "Captures"), ("labs", "Labs")):
        page.evaluate(f"location.hash = '#/{where}'")
        expect(page.locator(".bar nav [aria-current]")).to_have_text(part)


@pytest.mark.firefox
def test_scrollbars_have_the_colours_of_the_scheme(narrow: Page) -> None:
    scheme, colours = narrow.locator(".view").evaluate(
        "view => [getComputedStyle(view).colorScheme, getComputedStyle(view).scrollbarColor]"
    )
    assert scheme == "dark"
    assert re.fullmatch(r"rgb\(118, 124, 132\) rgba\(0, 0, 0, 0\)", colours), colours

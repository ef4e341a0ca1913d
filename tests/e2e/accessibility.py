"""Faults that axe-core finds on a page."""

from __future__ import annotations

from pathlib import Path

from playwright.sync_api import Page

AXE = Path(__file__).parents[2] / "web" / "node_modules" / "axe-core" / "axe.min.js"


def serious(page: Page) -> list[tuple[str, list[str]]]:
    """Faults that keep people out; frames of reports have tests of their own."""
    # The page forbids scripts of others, so that axe comes in by the debugger's way.
    page.evaluate(AXE.read_text(encoding="utf-8"))
    found = page.evaluate("axe.run({exclude: [['iframe']]}, {resultTypes: ['violations']})")
    bad = [one for one in found["violations"] if one["impact"] in ("serious", "critical")]
    return [(one["id"], [node["html"][:160] for node in one["nodes"]]) for one in bad]


def too_wide(page: Page) -> list[str]:
    """Elements that make the page, or its view, scroll sideways. Tables, texts and tabs may scroll by themselves."""
    return page.evaluate(WIDE)  # type: ignore[no-any-return]


WIDE = """() => {
  const found = [];
  for (const one of [document.documentElement, document.querySelector(".view"), document.querySelector(".bar")])
    if (one.scrollWidth > one.clientWidth)
      found.push(`${one.className || one.tagName}: ${one.scrollWidth} > ${one.clientWidth}`);
  if (!found.length) return found;
  for (const one of document.querySelectorAll(".app *"))
    if (one.getBoundingClientRect().right > innerWidth + 1) found.push(one.outerHTML.slice(0, 120));
  return found.slice(0, 8);
}"""

"""A document as one HTML file that needs no other and no network."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import escape
from importlib.resources import files
from typing import Final

from dumbbell.published.document import (
    LEDGER,
    Block,
    Bullets,
    Code,
    Document,
    Heading,
    Paragraph,
    Picture,
    Pictures,
    Rows,
)
from dumbbell.published.model import Status
from dumbbell.report.render.markup import Html, digest, el, join

_CLASS: Final = {Status.HOLDS: "holds", Status.FAILS: "fails", Status.UNKNOWN: "unknown", Status.UNTESTED: "unknown"}


_OPENS: Final = """
function open_ledger() {
  const place = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  const ledger = place && place.closest("details");
  if (ledger) { ledger.open = true; place.scrollIntoView(); }
}
addEventListener("hashchange", open_ledger);
open_ledger();
"""
"""Opens the ledger for links into it: the page's only script."""
_POLICY: Final = f"default-src 'none'; script-src '{digest(_OPENS)}'; style-src 'unsafe-inline'; img-src data:"


def _style() -> str:
    return (files("dumbbell.published") / "page.css").read_text(encoding="utf-8")


def page(document: Document) -> str:
    """The file's text."""
    head = join(
        el("title", document.title),
        Html('<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'),
        Html(f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'),
        Html(f"<style>{_style()}</style>"),
    )
    opened = el("summary", el("h2", LEDGER, id=Heading(LEDGER).anchor))
    ledger = el("details", opened, *map(_block, document.deeper_ledger)) if document.ledger else Html("")
    body = el("main", el("h1", document.title), *map(_block, document.blocks), ledger, el("script", Html(_OPENS)))
    return Html("<!doctype html>\n") + el("html", el("head", head), el("body", body), lang="en")


def _block(block: Block) -> Html:
    match block:
        case Heading():
            return el(f"h{block.level}", block.text, id=block.anchor)
        case Paragraph():
            return el("p", *_words(block.text))
        case Code():
            return el("pre", block.text)
        case Bullets():
            return el("ul", *(el("li", *_words(item)) for item in block.items))
        case Rows():
            return _table(block)
        case Pictures():
            return el("div", *map(_figure, block.plots), class_="plots")


_LINK: Final = re.compile(r"\[([^\[\]]+)\]\(#([^()]+)\)")


def _words(text: str) -> Iterator[Html | str]:
    """Names between backticks, as Markdown has them, are code; its links within the page are links."""
    for i, part in enumerate(text.split("`")):
        if i % 2:
            yield el("code", part)
            continue
        # What is split off by the two groups is a link's text and anchor.
        plain, *links = _LINK.split(part)
        yield plain
        for name, anchor, after in zip(*[iter(links)] * 3, strict=True):
            yield el("a", name, href=f"#{anchor}")
            yield after


def _table(rows: Rows) -> Html:
    head = el("thead", el("tr", *(el("th", name, scope="col") for name in rows.head)))
    body = el("tbody", *(el("tr", *map(_cell, row)) for row in rows.rows))
    caption = el("caption", rows.title) if rows.title else Html("")
    table = el("table", caption, head, body)
    return el("div", table, class_="wide", tabindex="0", role="region", aria_label=rows.title or "table")


def _cell(cell: str | Status) -> Html:
    if isinstance(cell, Status):
        return el("td", el("span", cell.value, class_=f"status {_CLASS[cell]}"))
    return el("td", *_words(cell))


def _figure(plot: Picture) -> Html:
    """Identifiers get a prefix of the plot, because several plots share one file."""
    svg = plot.svg.decode()
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r'(id="|url\(#|href="#)', lambda at: f"{at[0]}{escape(plot.name)}-", svg)
    shape = {"class_": "wide-plot", "tabindex": "0"} if plot.is_wide else {}
    return el("figure", Html(svg.replace("<svg ", f'<svg role="img" aria-label="{escape(plot.title)}" ', 1)), **shape)

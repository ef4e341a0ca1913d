"""A document as one HTML file that needs no other and no network."""

from __future__ import annotations

import re
from typing import Final

from dumbbell.report.markup import Html, el, join
from dumbbell.reproduce.document import Block, Bullets, Code, Document, Heading, Paragraph, Picture, Pictures, Rows
from dumbbell.reproduce.model import Status

_CLASS: Final = {Status.HOLDS: "holds", Status.FAILS: "fails", Status.UNKNOWN: "unknown"}

_STYLE: Final = """
:root { color-scheme: light dark; --ink: #1b2430; --soft: #5a6675; --line: #d5dbe2; --ground: #fff; --plot: #fff; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e4e9ef; --soft: #9aa7b5; --line: #37424e; --ground: #151b22; --plot: #f4f6f8; }
}
body { font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--ground); margin: 0 auto;
  max-width: 74rem; padding: 1.5rem; }
h1 { font-size: 1.6rem; line-height: 1.2; } h2 { margin-top: 2.5rem; border-top: 1px solid var(--line); padding-top: 1rem; }
p, li { max-width: 46rem; } pre { overflow-x: auto; background: color-mix(in srgb, var(--line) 35%, transparent); padding: .6rem; }
.wide { overflow-x: auto; margin: 1rem 0; } table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
caption { text-align: left; font-weight: 600; padding-bottom: .3rem; }
th, td { text-align: left; vertical-align: top; padding: .25rem .8rem .25rem 0; border-bottom: 1px solid var(--line); }
th { color: var(--soft); font-weight: 500; } .plots { display: flex; flex-wrap: wrap; gap: 1rem; }
figure { margin: 0; background: var(--plot); border-radius: 4px; } figure svg { display: block; width: 22rem; max-width: 100%; height: auto; }
.status { white-space: nowrap; font-weight: 600; } .holds { color: #16794c; } .fails { color: #c2321d; } .unknown { color: #96650a; }
@media (prefers-color-scheme: dark) { .holds { color: #4ec58d; } .fails { color: #f2806e; } .unknown { color: #e0b04a; } }
"""


def page(document: Document) -> str:
    """The file's text."""
    head = join(
        el("title", document.title),
        Html('<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'),
        Html(f"<style>{_STYLE}</style>"),
    )
    body = el("main", el("h1", document.title), *map(_block, document.blocks))
    return Html("<!doctype html>\n") + el("html", el("head", head), el("body", body), lang="en")


def _block(block: Block) -> Html:
    match block:
        case Heading():
            return el(f"h{block.level}", block.text)
        case Paragraph():
            return el("p", block.text)
        case Code():
            return el("pre", block.text)
        case Bullets():
            return el("ul", *(el("li", item) for item in block.items))
        case Rows():
            return _table(block)
        case Pictures():
            return el("div", *map(_figure, block.plots), class_="plots")


def _table(rows: Rows) -> Html:
    head = el("thead", el("tr", *(el("th", name, scope="col") for name in rows.head)))
    body = el("tbody", *(el("tr", *map(_cell, row)) for row in rows.rows))
    caption = el("caption", rows.title) if rows.title else Html("")
    return el("div", el("table", caption, head, body), class_="wide", tabindex="0", role="region", aria_label=rows.title or "table")  # fmt: skip


def _cell(cell: str | Status) -> Html:
    if isinstance(cell, Status):
        return el("td", el("span", cell.value, class_=f"status {_CLASS[cell]}"))
    return el("td", cell)


def _figure(plot: Picture) -> Html:
    """Identifiers inside are made the plot's own: several stand in one file."""
    svg = plot.svg.decode()
    svg = svg[svg.index("<svg") :]
    svg = re.sub(r'(id="|url\(#|href="#)', rf"\g<1>{plot.name}-", svg)
    return el("figure", Html(svg.replace("<svg ", f'<svg role="img" aria-label="{_plain(plot.title)}" ', 1)))


def _plain(text: str) -> str:
    return text.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;")

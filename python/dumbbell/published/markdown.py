"""A document as Markdown, for the documentation."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from textwrap import indent
from typing import Final

from dumbbell.published.document import LEDGER, Block, Bullets, Code, Document, Heading, Paragraph, Pictures, Rows

_OPENS: Final = re.compile(r"(?<![`\\])`(?!`)[^`\n\r]+`(?!`)|<(?=[A-Za-z/!?])|!(?=\[)")
"""A piece of code, or the beginning of an element of HTML, which Markdown lets through, or of a picture."""
_PLAIN: Final = {"<": "&lt;", "!": "&#33;"}


def markdown(document: Document, images: str) -> str:
    """The document as Markdown, with plots at `images`/NAME.svg."""
    blocks = [*document.blocks, *([Heading(LEDGER), *document.deeper_ledger] if document.ledger else [])]
    parts = [f"# {_text(document.title)}", *("\n".join(_lines(block, images)) for block in blocks)]
    return "\n\n".join(parts) + "\n"


def _lines(block: Block, images: str) -> Iterator[str]:
    match block:
        case Heading():
            yield f"{'#' * block.level} {_text(block.text)}"
        case Paragraph():
            yield _text(block.text)
        case Code():
            yield indent(block.text, "    ", lambda line: True)
        case Bullets():
            yield from (f"- {_text(item)}" for item in block.items)
        case Rows():
            if block.title:
                yield f"**{_text(block.title)}**"
                yield ""
            yield _row(block.head)
            yield _row("---" for _ in block.head)
            yield from (_row(map(str, row)) for row in block.rows)
        case Pictures():
            yield from (f"![{_text(plot.title)}]({images}/{plot.name}.svg)" for plot in block.plots)


def _row(cells: Iterable[str]) -> str:
    escaped = (_text(cell).replace("|", "\\|") for cell in cells)
    return f"| {' | '.join(escaped)} |"


def _text(text: str) -> str:
    """A stranger's text, without elements of HTML, and without pictures, which a reader may fetch from anywhere."""
    return _OPENS.sub(lambda found: _PLAIN.get(found[0], found[0]), text)

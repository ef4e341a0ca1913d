"""A document as Markdown, for the documentation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from textwrap import indent

from dumbbell.published.document import LEDGER, Block, Bullets, Code, Document, Heading, Paragraph, Pictures, Rows


def markdown(document: Document, images: str) -> str:
    """The document as Markdown, with plots at `images`/NAME.svg."""
    blocks = [*document.blocks, *([Heading(LEDGER), *document.deeper_ledger] if document.ledger else [])]
    parts = [f"# {document.title}", *("\n".join(_lines(block, images)) for block in blocks)]
    return "\n\n".join(parts) + "\n"


def _lines(block: Block, images: str) -> Iterator[str]:
    match block:
        case Heading():
            yield f"{'#' * block.level} {block.text}"
        case Paragraph():
            yield block.text
        case Code():
            yield indent(block.text, "    ", lambda line: True)
        case Bullets():
            yield from (f"- {item}" for item in block.items)
        case Rows():
            if block.title:
                yield f"**{block.title}**"
                yield ""
            yield _row(block.head)
            yield _row("---" for _ in block.head)
            yield from (_row(map(str, row)) for row in block.rows)
        case Pictures():
            yield from (f"![{plot.title}]({images}/{plot.name}.svg)" for plot in block.plots)


def _row(cells: Iterable[str]) -> str:
    escaped = (cell.replace("|", "\\|") for cell in cells)
    return f"| {' | '.join(escaped)} |"

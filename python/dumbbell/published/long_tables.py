"""Printed numbers and ours as CSV beside a page in Markdown, if they are more than a screen holds."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from typing import Final

from dumbbell.published.document import Block, Document, Paragraph, Rows

SCREEN: Final = 60
"""Rows."""
FILE: Final = "numbers.csv"
_HEAD: Final = ("part", "table", "row", "column", "printed", "ours", "ratio", "change_printed", "change_ours", "source")
_VALUES: Final = 3
"""Columns of a number: printed, ours, ratio."""


def without_long(document: Document, name: str = FILE) -> tuple[Document, str | None]:
    """The document with its numbers in a file `name`, and the file's text; as it is, and `None`, if they are few."""
    every = (*document.blocks, *document.ledger)
    tables = [block for block in every if isinstance(block, Rows) and block.part]
    if sum(len(table.rows) for table in tables) <= SCREEN:
        return document, None
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(_HEAD)
    for table in tables:
        writer.writerows(_lines(table))
    return Document(
        document.title, *(list(_shorter(some, name)) for some in (document.blocks, document.ledger))
    ), out.getvalue()


def _shorter(blocks: Sequence[Block], name: str) -> Iterator[Block]:
    told = ""
    for block in blocks:
        if not isinstance(block, Rows) or not block.part:
            yield block
        elif block.part != told:
            told = block.part
            yield Paragraph(f"Printed numbers and ours: part {told} in [{name}]({name}).")


def _lines(table: Rows) -> Iterator[Sequence[str]]:
    """A line for each number."""
    head, about = list(table.head), (table.part, table.title)
    if "printed" in head:
        at = head.index("printed")
        for row in map(_texts, table.rows):
            name = ", ".join(f"{key} {value}" for key, value in zip(head[: at - 1], row, strict=False))
            yield *about, name, row[at - 1], *row[at : at + _VALUES], "", "", row[-1]
        return
    starts = [i for i, name in enumerate(head) if name.endswith(": printed")]
    for row in map(_texts, table.rows):
        for start, stop in zip(starts, [*starts[1:], len(head)], strict=True):
            found = row[start:stop]
            yield *about, f"{head[0]} {row[0]}", head[start].removesuffix(": printed"), *found, *[""] * (6 - len(found))


def _texts(row: Sequence[object]) -> list[str]:
    return list(map(str, row))

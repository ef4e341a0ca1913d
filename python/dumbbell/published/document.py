"""A text with tables and plots, which becomes a page or Markdown."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from dumbbell.frozen import dataclass
from dumbbell.published.model import Status

LEDGER: Final = "Appendix: every finding and number"
"""Heading of the ledger."""


@dataclass(frozen=True)
class Heading:
    """The heading of a section."""

    text: str
    level: int = 2

    @property
    def anchor(self) -> str:
        """Where `[text](#anchor)` leads to it, as on GitHub."""
        return re.sub(r"[^\w\- ]", "", self.text.lower()).replace(" ", "-")


@dataclass(frozen=True)
class Paragraph:
    """Plain text, with `code` and [links](#anchor)."""

    text: str


@dataclass(frozen=True)
class Code:
    """A command, or lines that a program prints."""

    text: str


@dataclass(frozen=True)
class Bullets:
    """A list."""

    items: Sequence[str]


@dataclass(frozen=True)
class Rows:
    """A table."""

    title: str
    head: Sequence[str]
    rows: Sequence[Sequence[str | Status]]
    """A status is drawn with its colour."""
    part: str = ""
    """The part whose printed numbers it has beside ours."""


@dataclass(frozen=True)
class Picture:
    """A plot."""

    name: str
    """Name of its file, without suffix."""
    title: str
    svg: bytes
    png: bytes
    is_wide: bool = False
    """True if it is as wide as a page, false if as a column."""


@dataclass(frozen=True)
class Pictures:
    """Plots side by side."""

    plots: Sequence[Picture]


Block = Heading | Paragraph | Code | Bullets | Rows | Pictures


@dataclass(frozen=True)
class Document:
    """The whole document."""

    title: str
    blocks: Sequence[Block]
    ledger: Sequence[Block] = ()
    """Blocks for readers who doubt or repeat; their headings are below one of their own."""

    @property
    def pictures(self) -> list[Picture]:
        """The plots of all blocks."""
        every = (*self.blocks, *self.ledger)
        return [plot for block in every if isinstance(block, Pictures) for plot in block.plots]

    @property
    def deeper_ledger(self) -> list[Block]:
        """The ledger with its headings one level down."""
        return [replace(one, level=one.level + 1) if isinstance(one, Heading) else one for one in self.ledger]

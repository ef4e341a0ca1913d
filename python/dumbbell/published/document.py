"""A text with tables and plots, which becomes a page or Markdown."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from dumbbell.published.model import Status


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
    """A command."""

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

    @property
    def pictures(self) -> list[Picture]:
        """The plots of all blocks."""
        return [plot for block in self.blocks if isinstance(block, Pictures) for plot in block.plots]

"""A document as a PDF of A4 pages, drawn by matplotlib as all figures are."""

from __future__ import annotations

import io
import re
import struct
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.resources import as_file, files
from itertools import zip_longest
from typing import Any, Final, cast

import matplotlib.image
import matplotlib.style
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.backends.backend_pdf import PdfPages
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties

from dumbbell.published.document import Block, Bullets, Code, Document, Heading, Paragraph, Picture, Pictures, Rows
from dumbbell.published.model import Status

_WIDE, _HIGH, _MARGIN = 8.27, 11.69, 0.8
"""A4 in inches, as all lengths here."""
_ROOM: Final = _WIDE - 2 * _MARGIN
_LINE: Final = 1.35
"""Height of a line as a multiple of its letters."""
_TEXT, _SMALL, _CELLS = 9.5, 8.0, 7.0
_SIZES: Final = {1: 15.0, 2: 12.5, 3: 10.5}
_GAP: Final = 0.08
_LEAST_CELL, _MOST_CELL = 0.35, 2.6
_COLUMN: Final = 3.2
_LINK: Final = re.compile(r"\[([^\[\]]+)\]\(#[^()]+\)")
_COLOURS: Final = {Status.HOLDS: "#16794c", Status.FAILS: "#c2321d"}


def pdf(document: Document) -> bytes:
    """The file's content; equal documents have equal bytes."""
    buffer = io.BytesIO()
    undated = {"Title": document.title, "CreationDate": None}
    with (
        as_file(files("dumbbell.report") / "paper.mplstyle") as style,
        matplotlib.style.context(style),
        PdfPages(buffer, metadata=undated) as pages,
    ):
        paper = _Paper(pages)
        paper.heading(document.title, 1)
        for block, after in zip_longest(document.blocks, document.blocks[1:]):
            paper.block(block, after)
        paper.close()
    return buffer.getvalue()


class _Paper:
    """Pages, filled from top to bottom."""

    def __init__(self, pages: PdfPages) -> None:
        self._pages, self._number = pages, 0
        self._begin()

    def _begin(self) -> None:
        self._number += 1
        self._fig, self._y = Figure(figsize=(_WIDE, _HIGH)), _HIGH - _MARGIN

    def close(self) -> None:
        """Write the page that is being filled."""
        self._put(str(self._number), _WIDE / 2, _MARGIN / 2, _SMALL, ha="center")
        cast(Any, self._pages).savefig(self._fig)

    def _need(self, height: float) -> None:
        """A new page, unless this one has so much room."""
        if self._y - height < _MARGIN:
            self.close()
            self._begin()

    def block(self, block: Block, after: Block | None) -> None:
        """Add a block, which another one follows."""
        match block:
            case Heading():
                first = after.plots[0] if isinstance(after, Pictures) and after.plots else None
                self.heading(block.text, block.level, 0 if first is None else _shape(first)[1] + 0.3)
            case Paragraph():
                self._text(_plain(block.text), _TEXT)
                self._y -= _GAP
            case Code():
                self._text(block.text, _SMALL, family="monospace")
                self._y -= _GAP
            case Bullets():
                for item in block.items:
                    self._text(_plain(item), _TEXT, indent=0.18, sign="•")
                self._y -= _GAP
            case Rows():
                self._table(block)
            case Pictures():
                for one in block.plots:
                    self._picture(one)

    def heading(self, text: str, level: int, below: float = 0.0) -> None:
        """Add a heading, which does not stand alone at the end of a page: what is below it has this height."""
        lines = len(_wrapped(text, _ROOM, _SIZES.get(level, _TEXT), weight="bold"))
        self._need(max(1.2, below + 3 * _GAP + lines * _SIZES.get(level, _TEXT) / 72 * _LINE))
        self._y -= 2 * _GAP
        self._text(text, _SIZES.get(level, _TEXT), weight="bold")
        self._y -= _GAP / 2

    def _text(self, text: str, size: float, indent: float = 0.0, sign: str = "", **font: str) -> None:
        for number, line in enumerate(_wrapped(text, _ROOM - indent, size, **font)):
            height = size / 72 * _LINE
            self._need(height)
            if sign and number == 0:
                self._put(sign, _MARGIN, self._y, size)
            self._put(line, _MARGIN + indent, self._y, size, **font)
            self._y -= height

    def _put(self, text: str, x: float, y: float, size: float, **look: str) -> None:
        style: dict[str, Any] = {"va": "top", "fontsize": size, "parse_math": False, **look}
        self._fig.text(x / _WIDE, y / _HIGH, text, **style)

    def _table(self, rows: Rows) -> None:
        if rows.title:
            self._need(0.6)
            self._text(rows.title, _SMALL, weight="bold")
        texts = [[_plain(str(cell)) for cell in row] for row in rows.rows]
        widths = _widths([list(rows.head), *texts])
        self._row([_plain(one) for one in rows.head], widths, weight="bold")
        self._rule(0.8)
        for row, cells in zip(rows.rows, texts, strict=True):
            colour = _COLOURS.get(row[0]) if isinstance(row[0], Status) else None
            self._row(cells, widths, first=colour)
        self._rule(0.8)
        self._y -= 2 * _GAP

    def _row(self, cells: Sequence[str], widths: Sequence[float], first: str | None = None, **font: str) -> None:
        wrapped = [_wrapped(cell, width - _GAP, _CELLS, **font) for cell, width in zip(cells, widths, strict=True)]
        height = _CELLS / 72 * _LINE
        # A cell of many lines goes on in pieces, each of which finds room on a page.
        for start in range(0, max(map(len, wrapped)), 40):
            piece = [lines[start : start + 40] for lines in wrapped]
            tall = height * max(map(len, piece)) + 0.03
            self._need(tall)
            x = _MARGIN
            for column, (lines, width) in enumerate(zip(piece, widths, strict=True)):
                look = {"color": first, "weight": "bold"} if first and column == 0 else font
                for number, line in enumerate(lines):
                    self._put(line, x, self._y - number * height, _CELLS, **look)
                x += width
            self._y -= tall

    def _rule(self, width: float) -> None:
        from matplotlib.lines import Line2D

        y = (self._y + 0.01) / _HIGH
        self._fig.add_artist(Line2D([_MARGIN / _WIDE, 1 - _MARGIN / _WIDE], [y, y], color="0.3", linewidth=width))
        self._y -= 0.04

    def _picture(self, picture: Picture) -> None:
        image, (wide, high) = matplotlib.image.imread(io.BytesIO(picture.png)), _shape(picture)
        self._need(high + 0.3)
        box = (_MARGIN / _WIDE, (self._y - high) / _HIGH, wide / _WIDE, high / _HIGH)
        axes = self._fig.add_axes(box)
        axes.imshow(image, aspect="auto", interpolation="none")
        axes.axis("off")
        self._y -= high + 0.03
        self._text(picture.title, _SMALL)
        self._y -= 2 * _GAP


def _shape(picture: Picture) -> tuple[float, float]:
    """Width and height of a picture, with which a heading of two lines finds room on a page."""
    columns, rows = struct.unpack(">II", picture.png[16:24])  # The header of a PNG.
    most = _HIGH - 2 * _MARGIN - 1.2
    wide = min(_ROOM if picture.is_wide else 1.4 * _COLUMN, most * columns / rows)
    return wide, wide * rows / columns


def _widths(texts: Sequence[Sequence[str]]) -> list[float]:
    """Widths of columns that fill the page's: by their texts, within bounds."""
    wanted = [
        min(max(_LEAST_CELL, *(_measured(row[i], _CELLS) + 2 * _GAP for row in texts)), _MOST_CELL)
        for i in range(len(texts[0]))
    ]
    if sum(wanted) <= _ROOM:
        return [*wanted[:-1], _ROOM - sum(wanted[:-1])]
    return [one * _ROOM / sum(wanted) for one in wanted]


def _plain(text: str) -> str:
    return _LINK.sub(r"\1", text).replace("`", "")


def _wrapped(text: str, room: float, size: float, **font: str) -> list[str]:
    """The text in lines that find room; a word that finds none is cut."""
    return [line for part in text.split("\n") for line in _lines(part, room, size, **font)]


def _lines(text: str, room: float, size: float, **font: str) -> Iterator[str]:
    line = ""
    for word in (piece for whole in text.split() for piece in _pieces(whole, room, size, **font)):
        both = f"{line} {word}" if line else word
        if line and _measured(both, size, **font) > room:
            yield line
            line = word
        else:
            line = both
    yield line


def _pieces(word: str, room: float, size: float, **font: str) -> Iterator[str]:
    while len(word) > 1 and _measured(word, size, **font) > room:
        most = max(1, int(len(word) * room / _measured(word, size, **font)))
        yield word[:most]
        word = word[most:]
    yield word


@cache
def _measured(text: str, size: float, **font: str) -> float:
    """The width of a line."""
    width: float = sum(_letter(one, size, **font) for one in text)
    return width


@cache
def _letter(letter: str, size: float, **font: str) -> float:
    properties = FontProperties(size=size, **font)  # type: ignore[arg-type]
    renderer = cast(Any, _canvas()).get_renderer()
    # The width of a space alone is not measured.
    both, around = (
        renderer.get_text_width_height_descent(text, properties, False)[0] for text in (f"n{letter}n", "nn")
    )
    return float(both - around) / _DPI


_DPI: Final = 200.0


@cache
def _canvas() -> FigureCanvasAgg:
    return FigureCanvasAgg(Figure(figsize=(1, 1), dpi=_DPI))

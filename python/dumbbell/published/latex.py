"""A document as LaTeX that stands alone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

from dumbbell.published.document import Block, Bullets, Code, Document, Heading, Paragraph, Pictures, Rows
from dumbbell.report.study.latex import escaped, table_line

_HEAD: Final = r"""\documentclass[10pt,a4paper]{article}
\usepackage[utf8]{inputenc}
\usepackage[T1]{fontenc}
\usepackage[margin=2.2cm]{geometry}
\usepackage{booktabs,graphicx,longtable,textcomp,array}
\begin{document}
\raggedright"""
_LINK: Final = re.compile(r"\[([^\[\]]+)\]\(#[^()]+\)")
_COMMANDS: Final = {1: "section*", 2: "section*", 3: "subsection*"}
_LEAST: Final = 6
"""Characters of a column's width."""
_MOST: Final = 45


def latex(document: Document, images: str) -> str:
    """The document, with plots at `images`/NAME.png. It needs booktabs, graphicx and longtable."""
    parts = [_HEAD, rf"\begin{{center}}\Large {_words(document.title)}\end{{center}}"]
    parts += ["\n".join(_lines(block, images)) for block in document.blocks]
    return "\n\n".join([*parts, r"\end{document}", ""])


def _lines(block: Block, images: str) -> Iterator[str]:
    match block:
        case Heading():
            yield rf"\{_COMMANDS.get(block.level, 'subsection*')}{{{_words(block.text)}}}"
        case Paragraph():
            yield _words(block.text)
        case Code():
            # A stranger's command could end the environment, and go on with orders to TeX.
            yield from (
                r"\begin{verbatim}",
                block.text.replace(r"\end{verbatim}", r"\end {verbatim}"),
                r"\end{verbatim}",
            )
        case Bullets():
            yield from (r"\begin{itemize}", *(rf"\item {{}}{_words(item)}" for item in block.items), r"\end{itemize}")
        case Rows():
            yield from _table(block)
        case Pictures():
            for plot in block.plots:
                width = "1" if plot.is_wide else "0.6"
                yield rf"\noindent\includegraphics[width={width}\linewidth]{{{images}/{plot.name}.png}}\\"
                yield rf"{{\small {_words(plot.title)}}}\par\medskip"


def _table(rows: Rows) -> Iterator[str]:
    """A table whose columns have shares of the page, by their texts."""
    texts = [list(map(str, row)) for row in (rows.head, *rows.rows)]
    widths = [min(max(_LEAST, *(len(row[i]) for row in texts)), _MOST) for i in range(len(rows.head))]
    room = 0.97 - 0.025 * len(widths)
    columns = "".join(rf"p{{{room * width / sum(widths):.3f}\linewidth}}" for width in widths)
    if rows.title:
        yield rf"\noindent\textbf{{{_words(rows.title)}}}"
        yield ""
    yield rf"{{\footnotesize\begin{{longtable}}{{{columns}}}"
    yield r"\toprule"
    yield table_line([*map(_words, texts[0])])
    yield r"\midrule\endhead"
    yield from (table_line([*map(_words, row)]) for row in texts[1:])
    yield r"\bottomrule"
    yield r"\end{longtable}}"


def _words(text: str) -> str:
    """Names between backticks are code; links within the document are their texts."""
    parts = _LINK.sub(r"\1", text).split("`")
    return "".join(rf"\texttt{{{escaped(part)}}}" if i % 2 else _plain(part) for i, part in enumerate(parts))


def _plain(part: str) -> str:
    # `escaped` joins words, and so takes the spaces at both ends.
    spaced = escaped(part)
    return (" " * part[:1].isspace()) + spaced + (" " * (part[-1:].isspace() and bool(spaced)))

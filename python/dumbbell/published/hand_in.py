"""A report of a reproduction to hand in: question, set-up, figures, numbers, what holds, limits, how to repeat it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final, Literal, get_args

from dumbbell.errors import InputError
from dumbbell.published.document import Block, Bullets, Code, Document, Heading, Paragraph, Pictures, Rows
from dumbbell.published.found import OURS, answer, judged
from dumbbell.published.judging import NOT_RUN
from dumbbell.published.model import Reproduction, Studies
from dumbbell.published.report import Done, done_part, pictures_of, runs_in_words, wrong_runs
from dumbbell.published.tables import tables
from dumbbell.report import words, write_file

Format = Literal["pdf", "tex", "md"]
FORMATS: Final[tuple[Format, ...]] = get_args(Format)
STEM: Final = "hand-in"
IMAGES: Final = "plots"


def write(
    study: Reproduction,
    studies: Studies,
    command: str,
    lacking: Sequence[str],
    format: str,
    output: Path,
    within: Path | None = None,
) -> list[Path]:
    """Write the report; of `tex` and `md` the plots stand beside it, in `plots`. Returns the files, the report first.

    `within`: as of `write_file`.

    Raises `InputError` if no part was run, there is no such format, or a file cannot be written.
    """
    if format not in FORMATS:
        raise InputError(f"no report of a reproduction as {format}", f"the formats are {', '.join(FORMATS)}")
    found = document(study, studies, command, lacking)
    if format == "pdf":
        from dumbbell.published.paper import pdf

        return [write_file(output, pdf(found), within)]
    if format == "md":
        from dumbbell.published.markdown import markdown

        text = markdown(found, IMAGES)
    else:
        from dumbbell.published.latex import latex

        text = latex(found, IMAGES)
    # LaTeX reads no SVG.
    images = [(one.name, one.svg, "svg") if format == "md" else (one.name, one.png, "png") for one in found.pictures]
    plots = [write_file(output.parent / IMAGES / f"{name}.{suffix}", image, within) for name, image, suffix in images]
    return [write_file(output, text.encode(), within), *plots]


def document(study: Reproduction, studies: Studies, command: str, lacking: Sequence[str]) -> Document:
    """The report of the parts that were run. Raises `InputError` if none was."""
    done = [done_part(study, part, studies[part.name]) for part in study.parts if part.name in studies]
    if not done:
        raise InputError(f"nothing to report of {study.key}", "no part was run", command)
    return Document(f"{study.key}: {study.title}", list(_blocks(study, studies, command, lacking, done)))


def _blocks(
    study: Reproduction, studies: Studies, command: str, lacking: Sequence[str], done: Sequence[Done]
) -> Iterator[Block]:
    found = judged(study, studies)
    yield Paragraph(f"A reproduction of {study.citation.rstrip('.')}.")
    yield Heading("Question")
    yield Paragraph(study.question or study.title)
    yield Heading("What holds")
    yield from answer(found)
    yield Heading("Set-up")
    yield Paragraph(runs_in_words(study, studies))
    yield Rows("", ("part", "", "engine", "cells", "runs"), [_set_up(one) for one in done])
    for one in done:
        if plots := pictures_of(study, one):
            yield Heading(f"Figures of part {one.part.name}: {one.part.title}")
            yield Pictures(plots)
    if numbers := [(one, found_tables) for one in done if (found_tables := list(tables(one.part, one.sides)))]:
        yield Heading("Numbers, printed and ours")
        for one, found_rows in numbers:
            yield from (Rows(f"{one.part.name}: {table.title}", table.head, table.rows) for table in found_rows)
    rows = [
        (one.judged.status, f"{one.text.removesuffix(OURS)}{_reading(one.finding.reading)}", one.numbers)
        for one in found
        if one.judged != NOT_RUN
    ]
    if rows:
        yield Heading("Findings with their numbers")
        yield Rows("", ("", "finding", "our numbers"), rows)
    if limits := list(_limits(study, studies, lacking, done)):
        yield Heading("Limits")
        yield Bullets(limits)
    yield Heading("How to repeat it")
    yield Code(command)
    yield Paragraph("Equal seeds give equal simulated runs. The command continues where it was stopped.")


def _set_up(done: Done) -> tuple[str, ...]:
    manifest = done.study.manifest
    cells, runs = words.count(len(manifest["cells"])), words.count(done.study.runs.height)
    return done.part.name, done.part.title, str(manifest["engine"]), cells, runs


def _reading(reading: str) -> str:
    return f" ({reading})" if reading else ""


def _limits(study: Reproduction, studies: Studies, lacking: Sequence[str], done: Sequence[Done]) -> Iterator[str]:
    yield from lacking
    for one in done:
        if said := wrong_runs(one.study).strip():
            yield f"Part {one.part.name}: {said}"
    missing = [part.name for part in study.parts if part.name not in studies]
    if missing:
        yield f"Not run: {words.listed(missing)}."
    yield from study.definitions
    yield from dict.fromkeys(note for one in done for note in one.part.notes)

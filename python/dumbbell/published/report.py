"""A published study and ours, side by side: a page, Markdown, and the plots."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from dumbbell.frozen import dataclass
from dumbbell.published.changes import changes
from dumbbell.published.curves import boxes_of, curves
from dumbbell.published.document import Block, Bullets, Code, Document, Heading, Paragraph, Picture, Pictures, Rows
from dumbbell.published.drawing import averages, boxes, lines, picture, rendered, steps
from dumbbell.published.figures import Figures
from dumbbell.published.found import JudgedFinding, answer, judged, shown
from dumbbell.published.long_tables import FILE as NUMBERS
from dumbbell.published.long_tables import without_long
from dumbbell.published.markdown import markdown
from dumbbell.published.model import Part, Plot, Reproduction, Studies
from dumbbell.published.naming import linked
from dumbbell.published.page import page
from dumbbell.published.recorded import whole
from dumbbell.published.running import Order, size
from dumbbell.published.sides import Side, nearness, sides
from dumbbell.published.tables import in_words, tables
from dumbbell.published.verdicts import verdicts
from dumbbell.report import words, write_file
from dumbbell.report.iperf import text as per_second
from dumbbell.statistics.metrics import values
from dumbbell.statistics.metrics.model import group_of
from dumbbell.studies.results import Study

IMAGES = "plots"
OPEN: Final = "Points that the text leaves open"
DIFFERENCES: Final = "What differs in the set-up"
"""Headings of what the study says of itself."""


def write(
    study: Reproduction,
    studies: Studies,
    place: Path,
    command: str,
    lacking: Sequence[str] = (),
    findings: Sequence[JudgedFinding] | None = None,
) -> list[Path]:
    """Write `report.html`, `report.md` and `plots/` to a folder; return the first two. Numbers that are more than a
    screen holds stand in `numbers.csv` beside `report.md`.

    Args:
        study: the published study.
        studies: its parts that were run.
        place: the folder.
        command: the commands that repeat them.
        lacking: what this machine lacks for which parts.
        findings: the outcomes, if they are known: judging reads runs with all their records.
    """
    found = document(study, studies, command, lacking, findings)
    for one in found.pictures:
        write_file(place / IMAGES / f"{one.name}.svg", one.svg, place)
        write_file(place / IMAGES / f"{one.name}.png", one.png, place)
    shorter, numbers = without_long(found)
    if numbers is not None:
        write_file(place / NUMBERS, numbers.encode(), place)
    return [
        write_file(place / "report.html", page(found).encode(), place),
        write_file(place / "report.md", markdown(shorter, IMAGES).encode(), place),
    ]


def document(
    study: Reproduction,
    studies: Studies,
    command: str,
    lacking: Sequence[str] = (),
    findings: Sequence[JudgedFinding] | None = None,
) -> Document:
    """Arguments as of `write`. Raises `InputError` if a study can't be read."""
    known = judged(study, studies) if findings is None else findings
    return Document(f"{study.key}: {study.title}", *_blocks(study, studies, command, lacking, known))


@dataclass(frozen=True)
class Done:
    """A part that was run."""

    part: Part
    study: Study
    figures: Figures
    sides: Sequence[Side]


def _blocks(
    study: Reproduction, studies: Studies, command: str, lacking: Sequence[str], findings: Sequence[JudgedFinding]
) -> tuple[list[Block], list[Block]]:
    """The answer with its figures, and the ledger."""
    done = [done_part(study, part, studies[part.name]) for part in study.parts if part.name in studies]
    drawn = {one.part.name: pictures_of(study, one) for one in done}
    main = [one for one in done if one.part.variant_of is None] or done
    page: list[Block] = [
        Paragraph(study.citation.rstrip(".") + "."),
        *([Paragraph(study.question)] if study.question else []),
    ]
    page += [Code(command), Paragraph(runs_in_words(study, studies))]
    if lacking:
        page.append(Bullets(lacking))
    page += [Heading("Answer"), *answer(findings)]
    if any(drawn[one.part.name] for one in main):
        page.append(Heading("Figures"))
    for one in main:
        if pictures := drawn[one.part.name]:
            page += [Heading(f"Figures of part {one.part.name}: {one.part.title}", 3), Pictures(pictures)]
    return page, list(_ledger(study, studies, findings, done, {one.part.name for one in main}, drawn))


def _ledger(
    study: Reproduction, studies: Studies, findings: Sequence[JudgedFinding], done: Sequence[Done],
    shown_above: Collection[str], drawn: Mapping[str, Sequence[Picture]],
) -> Iterator[Block]:  # fmt: skip
    anchors = {one.part.name: heading(one.part).anchor for one in done}
    if findings:
        yield Heading("Findings")
        yield from shown(findings)
    yield from _nearness(done)
    if study.definitions:
        yield Heading(OPEN)
        yield Bullets(study.definitions)
    if notes := list(dict.fromkeys(note for one in done for note in one.part.notes)):
        yield Heading(DIFFERENCES)
        yield Bullets([linked(note, anchors) for note in notes])
    for one in done:
        yield from _part(one, () if one.part.name in shown_above else drawn[one.part.name])
    missing = [part.name for part in study.parts if part.name not in studies]
    if missing:
        yield Heading("Not run")
        were = "were" if len(missing) > 1 else "was"
        yield Paragraph(f"{'Parts' if len(missing) > 1 else 'Part'} {words.listed(missing)} {were} not run.")


def done_part(study: Reproduction, part: Part, runs: Study) -> Done:
    """A part with its figures beside the printed ones."""
    figures = Figures(runs)
    return Done(part, runs, figures, sides(part.published, figures, study.confidence))


def _nearness(done: Sequence[Done]) -> Iterator[Block]:
    """The typical factor between ours and theirs, part by part, which shows the nearest variant."""
    rows, without = [], []
    for one in done:
        near = nearness(one.sides)
        if near.factor is not None:
            reading = f"a variant of {one.part.variant_of}" if one.part.variant_of else ""
            counted = f"{near.counted:,}" if near.counted == near.of else f"{near.counted:,} of {near.of:,}"
            rows.append((one.part.name, one.part.title, reading, counted, f"{near.factor:.2f}", *_of_changes(one)))
        without += [f"{one.part.name}: {said}" for said in map(in_words, near.without)]
    if rows or without:
        yield Heading("How close our numbers are")
    if rows:
        said = (
            "The factor between our numbers and theirs, either way: the geometric mean over a part's printed numbers."
        )
        head = ["part", "", "", "numbers", "factor"]
        if any(row[-1] for row in rows):
            said += (
                " The factor of changes compares, row by row, by how much a table's last column differs from its "
                "reference. The last column is the factor that we would get if nothing changed."
            )
            head += ["of changes", "if nothing changed"]
        yield Paragraph(said)
        yield Rows("", head, [row[: len(head)] for row in rows])
    if without:
        yield Paragraph("These numbers have no factor, and are left out:")
        yield Bullets(without)


def _of_changes(done: Done) -> tuple[str, str]:
    """How near changes are, and what no change would be; empty if the part's tables have none."""
    found = changes(done.part.tables, done.sides)
    return ("", "") if found is None else (f"{found.factor:.2f}", f"{found.printed:.2f}")


def runs_in_words(study: Reproduction, studies: Studies) -> str:
    """Number of parts and runs, engine, machine, dates and versions."""
    total = sum(one.runs.height for one in studies.values() if one.has_runs)
    said = [f"{len(studies)} of {words.count(len(study.parts), 'part')}, {words.count(total, 'run')}"]
    manifests = [one.manifest for one in studies.values()]
    if manifests:
        engines = sorted({str(one["engine"]) for one in manifests})
        said.append(f"engine {words.listed(engines)}")
        said.append(_machine(manifests[0].get("machine", {})))
        days = sorted({str(one["started_at"])[:10] for one in manifests})
        said.append(days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}")
        said.append(f"dumbbell {manifests[0].get('tool', {}).get('dumbbell', '')}".strip())
        said.append(_cpu_time([one.get("cost", {}) for one in manifests]))
    percent = f"{100 * study.confidence:g} %"
    return f"{', '.join(filter(None, said))}. Intervals in brackets: {percent} confidence (Student's t)."


def _cpu_time(costs: Sequence[Mapping[str, Any]]) -> str:
    """`44 CPU minutes`, `12 CPU seconds`; empty if it is of some of the runs only: the cost of a study that was
    continued is that of its last command."""
    if any(cost.get("found") or "cpu_s" not in cost for cost in costs):
        return ""
    seconds = sum(float(cost["cpu_s"]) for cost in costs)
    if seconds >= 120:
        return f"{seconds / 60:,.0f} CPU minutes"
    return f"{seconds:.0f} CPU seconds" if seconds >= 10 else f"{seconds:.2g} CPU seconds"


def _machine(machine: Mapping[str, Any]) -> str:
    """`2 cores of a virtual machine, Linux 6.18`."""
    if not machine.get("cores"):
        return ""
    kind = " of a virtual machine" if machine.get("hypervisor") else ""
    kernel = ".".join(str(machine.get("kernel", "")).split(".")[:2])
    return f"{words.count(machine['cores'], 'core')}{kind}" + (f", Linux {kernel}" if kernel else "")


def pictures_of(study: Reproduction, done: Done) -> list[Picture]:
    """The plots that there is something to draw of."""
    plots = (_picture(done.part, n, plot, done.figures, study) for n, plot in enumerate(done.part.plots, 1))
    return [plot for plot in plots if plot is not None]


def _part(done: Done, drawn: Sequence[Picture]) -> Iterator[Block]:
    part, found = done.part, done.study
    yield heading(part)
    said = f"{words.count(len(found.manifest['cells']), 'cell')}, {words.count(found.runs.height, 'run')}, "
    yield Paragraph(f"{said}engine {found.manifest['engine']}.{_left_out(done)}{wrong_runs(found)}")
    yield from (replace(rows, part=part.name) for rows in tables(part, done.sides))
    if drawn:
        yield Pictures(drawn)
    yield from _second_by_second(done)
    if part.evidence and found.has_runs and (told := part.evidence(found)):
        yield Paragraph(told)


def _second_by_second(done: Done) -> Iterator[Block]:
    for table in done.part.seconds:
        for cell in done.figures.cells(table.where):
            run = whole(done.study, cell)
            if run is not None:
                printed = per_second(run, table.first)
                yield Paragraph(f"{table.title} ({table.source}): the first {table.first} s and the sums of a run.")
                yield Code(printed.rstrip())


def heading(part: Part) -> Heading:
    """The heading of a part's section."""
    return Heading(f"{part.name}: {part.title}")


def _left_out(done: Done) -> str:
    """The size of the whole part, if fewer runs were made."""
    if not Path(done.part.scenario).exists():
        return ""
    whole = size(Order(done.part, str(done.study.manifest["engine"]), quick=False))
    if done.study.runs.height >= whole.runs:
        return ""
    cells, runs = words.count(whole.cells, "cell"), words.count(whole.runs, "run")
    return f" The whole part has {cells} and {runs}."


def wrong_runs(study: Study) -> str:
    """Numbers of failed, invalid and suspect runs."""
    said = verdicts(study).said_of_bad
    return f" Runs that are not valid: {said}." if said else ""


def _picture(part: Part, n: int, plot: Plot, figures: Figures, study: Reproduction) -> Picture | None:
    """`None` if there is nothing to draw."""
    name = f"{part.name}-{n}"
    match plot.kind:
        case "lines" | "bars":
            found = curves(plot, figures, part.published, study.confidence)
            # One value of the key makes no line.
            is_drawn = plot.kind == "bars" or any(max(len(one.at), len(one.published)) > 1 for one in found)
            return picture(name, plot, averages(found, plot)) if found and is_drawn else None
        case "boxes":
            every = boxes_of(plot, figures, part.published)
            return picture(name, plot, boxes(every)) if every else None
        case "cdf":
            samples = _samples(plot, figures)
            return picture(name, plot, steps(samples)) if samples else None
        case "series":
            from dumbbell.published.series import series

            shown = series(plot, figures)
            return picture(name, plot, lines(shown)) if shown else None
        case "columns":
            from dumbbell.published.columns import columns

            drawn = columns(plot, figures)
            return rendered(name, plot, drawn) if drawn else None


def _samples(plot: Plot, figures: Figures) -> list[tuple[str, Sequence[float]]]:
    """Values of all flows of an algorithm, over all runs of the cells."""
    rows = values(figures.study, plot.metric, "flow").rename({"of": "id"})
    flows = figures.study.flows
    rows = rows.join(flows.select("run", "id", "cc", group=group_of(flows)), on=["run", "id"])
    rows = rows.filter(rows["cell"].is_in(figures.cells(plot.where)))
    found: list[tuple[str, Sequence[float]]] = []
    for of in plot.of or tuple(rows["cc"].drop_nulls().unique().sort()):
        own = rows.filter((rows["cc"] == of) | (rows["group"] == of) | (rows["id"] == of))["value"]
        if len(own):
            found.append((of, (own / plot.x.factor).to_list()))
    return found

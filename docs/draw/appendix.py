"""Move what a report of a reproduction says of each finding and each part to CSV files beside its page."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from dumbbell.published.document import LEDGER, Block, Bullets, Document
from dumbbell.published.found import JudgedFinding, answer, elsewhere, matrix
from dumbbell.published.judging import NOT_RUN
from dumbbell.published.markdown import markdown
from dumbbell.published.model import Judged, Reproduction, Status
from dumbbell.published.naming import linked
from dumbbell.published.report import DIFFERENCES, OPEN, heading

FINDINGS = ("finding", "reading", "outcome", "ours", "our_runs", "where", "they_print", "rule", "elsewhere")
PARTS = ("part", "title", "variant_of", "numbers", "factor", "factor_of_changes", "if_nothing_changed", "notes")


def moved(report: str, study: Reproduction) -> tuple[str, dict[str, str]]:
    """The page of a report in Markdown, and the text of each CSV file by its name.

    The page keeps the answer, pictures, what the study leaves open and what differs in the set-up.
    """
    key = study.key
    front, _, ledger = report.partition(f"\n## {LEDGER}\n")
    sections = dict(_sections(ledger))
    outcomes = list(_outcomes(sections.pop("Findings", ""), study))
    close, parts, kept = sections.pop("How close our numbers are", ""), dict[str, dict[str, str]](), list[str]()
    for row in _rows(close)[1:]:
        parts[row[0]] = dict(zip(PARTS, row, strict=False))
        parts[row[0]]["variant_of"] = row[2].removeprefix("a variant of ")
    kept += [f"### {name}\n" for name in _texts(study, outcomes) if name != "Answer"]
    for head, text in sections.items():
        name, colon, title = head.partition(": ")
        if not colon:
            own = text.strip("\n")
            kept += [] if head in (OPEN, DIFFERENCES) else [f"### {head}\n\n{own}\n"]
            continue
        part = parts.setdefault(name, {"part": name, "title": title})
        said = [line for line in text.splitlines() if line and not line.startswith(("![", "Printed numbers and ours"))]
        without = f"- {name}: "
        said += [f"No factor: {line.removeprefix(without)}." for line in close.splitlines() if line.startswith(without)]
        part["notes"] = _plain(" ".join(said))
        if pictures := [line for line in text.splitlines() if line.startswith("![")]:
            kept.append(f"### {head}\n\n" + "\n".join(pictures) + "\n")
    numbers = f" [Each number]({key}.csv): theirs and ours." if f"({key}.csv)" in ledger else ""
    links = (
        f"[Each finding]({key}-findings.csv): our numbers and runs under each reading, where they say it, its rule, "
        f"and the outcomes of the same or a related claim elsewhere. [Each part]({key}-parts.csv): its runs, what else "
        f"they show, and how near our numbers are.{numbers}\n"
    )
    page, findings = again("\n".join([front, f"## {LEDGER}\n", links, *kept]).rstrip() + "\n", study, outcomes)
    listed = ([part.get(name, "") for name in PARTS] for part in parts.values())
    return page, {f"{key}-findings.csv": findings, f"{key}-parts.csv": _csv(PARTS, listed)}


Outcome = Mapping[str, str]
"""The first columns of a row of findings: finding, reading, outcome, ours, our_runs."""


def outcomes_in(findings: str) -> list[Outcome]:
    """The outcomes in a CSV file of findings."""
    return list(csv.DictReader(io.StringIO(findings)))


def again(page: str, study: Reproduction, outcomes: Sequence[Outcome]) -> tuple[str, str]:
    """The page with all that follows from the study and these outcomes written again, and the CSV file of findings."""
    for name, blocks in _texts(study, outcomes).items():
        page = _with_section(page, name, markdown(Document("", blocks), "").partition("\n\n")[2])
    return _with_live_links(page).rstrip() + "\n", _csv(FINDINGS, _findings(study, outcomes))


def _with_section(page: str, name: str, text: str) -> str:
    """The page with another text below a heading."""
    return re.sub(rf"(?m)^(#+ {re.escape(name)}\n)[\s\S]*?(?=^#|\Z)", lambda at: f"{at[1]}\n{text}\n", page)


def _texts(study: Reproduction, outcomes: Sequence[Outcome]) -> dict[str, list[Block]]:
    """The sections of a page that follow from the study and its outcomes, by heading."""
    findings = _judged(study, outcomes)
    found: dict[str, list[Block]] = {"Answer": list(answer(findings))}
    if any(one.finding.reading for one in findings):
        found["Findings"] = list(matrix(findings))
    if study.definitions:
        found[OPEN] = [Bullets(study.definitions)]
    anchors = {part.name: heading(part).anchor for part in study.parts}
    if notes := list(dict.fromkeys(note for part in study.parts for note in part.notes)):
        found[DIFFERENCES] = [Bullets([linked(note, anchors) for note in notes])]
    return found


def _judged(study: Reproduction, outcomes: Sequence[Outcome]) -> list[JudgedFinding]:
    known = {(row["finding"], row["reading"]): Judged(Status(row["outcome"]), row["ours"]) for row in outcomes}
    asked = [JudgedFinding(one, NOT_RUN, ()) for one in study.findings]
    found = [(one, known.get((one.text, one.finding.reading), NOT_RUN)) for one in asked]
    # Why a finding is not tested follows from the study.
    untested = Status.UNTESTED
    return [replace(one, judged=one.finding.judge({}) if of.status is untested else of) for one, of in found]


def _findings(study: Reproduction, outcomes: Sequence[Outcome]) -> Iterator[Sequence[str]]:
    findings = _judged(study, outcomes)
    for text in dict.fromkeys(one.text for one in findings):
        own = [one for one in findings if one.text == text]
        for one in [one for one in own if one.judged != NOT_RUN] or own[:1]:
            row = next((row for row in outcomes if (row["finding"], row["reading"]) == (text, one.finding.reading)), {})
            said = [text, one.finding.reading, str(one.judged.status), one.judged.numbers, row.get("our_runs", "")]
            about = one.finding
            yield *said, about.source, about.printed, about.rule, elsewhere(one, findings)


def _sections(ledger: str) -> Iterator[tuple[str, str]]:
    for section in ledger.split("\n### ")[1:]:
        head, _, text = section.partition("\n")
        yield head, text


def _outcomes(section: str, study: Reproduction) -> Iterator[Outcome]:
    blocks = [block for block in section.strip().split("\n\n") if block]
    rows = _rows(blocks[0])
    if rows[0][-1] == "our numbers":
        runs = {row[0]: row[4] for row in _rows(section)[len(rows) + 1 :]}
        for outcome, text, ours in rows[1:]:
            yield dict(zip(FINDINGS, (text, "", outcome, ours, runs.get(text, "")), strict=False))
        return
    every = dict.fromkeys(one.text for one in _judged(study, ()))
    texts = {str(number): text for number, text in enumerate(every, 1)}
    for at, block in enumerate(blocks):
        number = block.partition(". ")[0]
        if number in texts and at + 1 < len(blocks):
            for reading, outcome, ours, runs in _rows(blocks[at + 1])[1:]:
                yield dict(zip(FINDINGS, (texts[number], reading, outcome, ours, runs), strict=False))


def _rows(text: str) -> list[list[str]]:
    """Cells of all rows of tables, without the lines below their heads."""
    lines = [line for line in text.splitlines() if line.startswith("|") and not line.startswith("| ---")]
    cells = (re.split(r"(?<!\\)\|", line.strip()[1:-1]) for line in lines)
    return [[cell.strip().replace("\\|", "|") for cell in row] for row in cells]


def _plain(text: str) -> str:
    """The text without links into the page."""
    return re.sub(r"\[([^\]]+)\]\(#[^)]*\)", r"\1", text)


def _with_live_links(page: str) -> str:
    """The page without links to sections that it no longer has."""
    headings = re.findall(r"^#+ (.+)$", page, re.M)
    anchors = {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in headings}
    return re.sub(r"\[([^\]]+)\]\(#([^)]*)\)", lambda link: link[0] if link[2] in anchors else link[1], page)


def _csv(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(head)
    writer.writerows([_plain(cell) for cell in row] for row in rows)
    return out.getvalue()

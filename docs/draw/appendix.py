"""Move what a report of a reproduction says of each finding and each part to CSV files beside its page."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence

from dumbbell.published.document import LEDGER

FINDINGS = ("finding", "reading", "outcome", "ours", "our_runs", "where", "they_print", "rule", "what_would_change_it")
PARTS = ("part", "title", "variant_of", "numbers", "factor", "factor_of_changes", "if_nothing_changed", "notes")


def moved(report: str, study: str) -> tuple[str, dict[str, str]]:
    """The page of a report in Markdown, and the text of each CSV file by its name.

    The page keeps the answer, pictures, what the study leaves open and why ours may differ.
    """
    front, _, ledger = report.partition(f"\n## {LEDGER}\n")
    sections = dict(_sections(ledger))
    tables = {f"{study}-findings.csv": _csv(FINDINGS, _findings(sections.pop("Findings", "")))}
    close, parts, kept = sections.pop("How close our numbers are", ""), dict[str, dict[str, str]](), list[str]()
    for row in _rows(close)[1:]:
        parts[row[0]] = dict(zip(PARTS, row, strict=False))
        parts[row[0]]["variant_of"] = row[2].removeprefix("a variant of ")
    matrix = next(iter(re.findall(r"(?:^\|.*\n)+", ledger.split("\n### Findings\n")[-1], re.M)), "")
    if "| they found | our numbers |" not in matrix:
        kept.append(f"### Findings\n\n{matrix}")
    for heading, text in sections.items():
        name, colon, title = heading.partition(": ")
        if not colon:
            own = text.strip("\n")
            kept.append(f"### {heading}\n\n{own}\n")
            continue
        part = parts.setdefault(name, {"part": name, "title": title})
        said = [line for line in text.splitlines() if line and not line.startswith(("![", "Printed numbers and ours"))]
        without = f"- {name}: "
        said += [f"No factor: {line.removeprefix(without)}." for line in close.splitlines() if line.startswith(without)]
        part["notes"] = _plain(" ".join(said))
        if pictures := [line for line in text.splitlines() if line.startswith("![")]:
            kept.append(f"### {heading}\n\n" + "\n".join(pictures) + "\n")
    tables[f"{study}-parts.csv"] = _csv(PARTS, ([part.get(key, "") for key in PARTS] for part in parts.values()))
    numbers = f" [Each number]({study}.csv): theirs and ours." if f"({study}.csv)" in ledger else ""
    links = (
        f"[Each finding]({study}-findings.csv): our numbers and runs under each reading, where they say it, its rule, "
        f"and what would change the answer. [Each part]({study}-parts.csv): its runs, what else they show, and how "
        f"near our numbers are.{numbers}\n"
    )
    page = "\n".join([front, f"## {LEDGER}\n", links, *kept]).rstrip() + "\n"
    return _with_live_links(page), tables


def _sections(ledger: str) -> Iterator[tuple[str, str]]:
    for section in ledger.split("\n### ")[1:]:
        heading, _, text = section.partition("\n")
        yield heading, text


def _findings(section: str) -> Iterator[Sequence[str]]:
    blocks = [block for block in section.strip().split("\n\n") if block]
    rows = _rows(blocks[0])
    if rows[0][-1] == "our numbers":
        about = {row[0]: row[1:] for row in _rows(section)[len(rows) + 1 :]}
        for outcome, text, ours in rows[1:]:
            where, printed, rule, runs, turns = about.get(text, [""] * 5)
            yield text, "", outcome, ours, runs, where, printed, rule, turns
        return
    texts = {row[0]: row[1] for row in rows[1:]}
    for number, said in re.findall(r"^(\d+)\. (.*)$", section, re.M):
        text = texts[number]
        parts = re.split(r" (They print \(|Rule: |What would change the answer: )", said.removeprefix(f"{text}."))
        told = {key: value.removesuffix(".") for key, value in zip(parts[1::2], parts[2::2], strict=True)}
        where, _, printed = told.get("They print (", "").partition("): ")
        own = (where, printed, told.get("Rule: ", ""), told.get("What would change the answer: ", ""))
        at = next(i for i, block in enumerate(blocks) if block.startswith(f"{number}. "))
        numbers = _rows(blocks[at + 1])[1:] if at + 1 < len(blocks) else []
        for reading, outcome, ours, runs in numbers or [["", "not run", "", ""]]:
            yield text, reading, outcome, ours, runs, *own


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
    anchors = {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
    return re.sub(r"\[([^\]]+)\]\(#([^)]*)\)", lambda link: link[0] if link[2] in anchors else link[1], page)


def _csv(head: Sequence[str], rows: Iterator[Sequence[str]]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(head)
    writer.writerows([_plain(cell) for cell in row] for row in rows)
    return out.getvalue()

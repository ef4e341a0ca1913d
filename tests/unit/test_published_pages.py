"""Pages of results of the published studies: their findings are the studies' own, and trust.md counts them."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Final

import pytest

from dumbbell.published.document import LEDGER
from dumbbell.published.found import MIXED, OURS, PARTLY
from dumbbell.published.model import Status
from dumbbell.published.registry import KEYS, reproduction

DOCS: Final = Path(__file__).parents[2] / "docs" / "results"
MOST_WORDS: Final = 2500
STATUSES: Final = {one.value for one in Status}
NUMBER: Final = re.compile(r"(?<![\w.-])\d+(?:,\d{3})*(?:\.\d+)?(?![\w-])")
DERIVED: Final = {
    "buffa-2020": {"192"},  # A bound of its rule, 100 * 2.3 / 1.2.
    "rincao-2021": {"129,282", "1448"},  # Segments of a run by its bytes.
}
"""Numbers of three and more digits in explanations that come from no run."""
UNSHOWN: Final = {"rincao-2021": {"939", "1,204", "1,241", "1,500"}}
"""Numbers of runs in explanations that no table of the page has: single cells of the parts without HyStart."""


def rows(key: str) -> list[dict[str, str]]:
    """The rows of the file of findings beside a page."""
    with (DOCS / "studies" / f"{key}-findings.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def findings(key: str) -> Iterator[tuple[str, str, str]]:
    """Finding, reading and status, of each row of a page's file."""
    return ((row["finding"], row["reading"], row["outcome"]) for row in rows(key))


@pytest.mark.parametrize("key", KEYS)
def test_a_page_has_each_finding_of_its_study_as_the_study_has_it(key: str) -> None:
    study = reproduction(key)
    own = {(one.text + OURS * one.is_ours, one.reading) for one in study.findings}
    told = [(text, reading) for text, reading, status in findings(key) if status in STATUSES]
    assert set(told) <= own
    assert len(set(told)) == len(told)
    assert {text for text, _, _ in findings(key)} == {text for text, _ in own}
    for text, own_rows in groupby(rows(key), lambda row: row["finding"]):
        row, theirs = next(own_rows), [one for one in study.findings if one.text + OURS * one.is_ours == text]
        assert row["where"] in {one.source for one in theirs} | (
            {""} if not any(one.printed for one in theirs) else set()
        )
        assert all(one.rule in row["rule"] for one in theirs)
        said = {(one.printed, one.turns) for one in theirs}
        assert {(one["they_print"], one["what_would_change_it"]) for one in (row, *own_rows)} <= said


@pytest.mark.parametrize("key", KEYS)
def test_a_row_says_of_its_finding_what_the_study_says(key: str) -> None:
    study = {(one.text + OURS * one.is_ours, one.reading): one for one in reproduction(key).findings}
    for row in rows(key):
        own = study[row["finding"], row["reading"]]
        assert (row["they_print"], row["what_would_change_it"]) == (own.printed, own.turns)


def significant(number: str) -> int:
    """The digits of a number, without zeros before the first other digit."""
    return len(re.sub(r"[.,]", "", number).lstrip("0"))


@pytest.mark.parametrize("key", KEYS)
def test_numbers_of_explanations_are_in_tables(key: str) -> None:
    """A number of three and more digits in "what would change it" is one of the page and its files, rounded."""
    files = [DOCS / "studies" / f"{key}{end}" for end in (".md", ".csv", "-parts.csv")]
    texts = [file.read_text(encoding="utf-8") for file in files if file.exists()]
    texts += [f"{row['ours']} {row['they_print']}" for row in rows(key)]
    shown = {float(one.replace(",", "")) for one in re.findall(r"\d+(?:,\d{3})*(?:\.\d+)?", " ".join(texts))}
    said = {one.turns for one in reproduction(key).findings}
    told = {one for text in said for one in NUMBER.findall(text) if significant(one) >= 3}
    assert told
    lacking = {
        one
        for one in told
        if not any(round(value, len(one.partition(".")[2])) == float(one.replace(",", "")) for value in shown)
    }
    assert lacking <= DERIVED.get(key, set()) | UNSHOWN.get(key, set())


@pytest.mark.parametrize("key", KEYS)
def test_a_page_begins_with_its_answer_and_is_short_before_its_ledger(key: str) -> None:
    """The answer says of each finding of theirs what the ledger says under all readings."""
    front, ledger = (DOCS / "studies" / f"{key}.md").read_text(encoding="utf-8").split(f"\n## {LEDGER}\n")
    assert len(front.split()) <= MOST_WORDS
    assert len(re.sub(r"^(\||!\[).*", "", ledger, flags=re.M).split()) <= MOST_WORDS, "tables are files beside it"
    assert re.findall(r"^## (.+)$", front, re.M)[:2] == ["Answer", "Figures"]
    assert all(f"({key}-{name}.csv)" in ledger for name in ("findings", "parts"))
    told: dict[str, set[str]] = {}
    for text, _, status in findings(key):
        if not text.endswith(OURS) and status in STATUSES:
            told.setdefault(text, set()).add(status)
    rows = [line[2:-2].split(" | ", 1) for line in front.split("\n## Figures")[0].splitlines() if line.startswith("| ")]
    said = {text: status for status, text in rows[2:]}
    decided = {"holds", "doesn't hold"}
    expected = {
        text: MIXED if found >= decided else " or ".join(sorted(found, reverse=True)) for text, found in told.items()
    }
    assert set(PARTLY.values()) == {f"{one} or can't be told" for one in decided}
    assert said == {text: one for text, one in expected.items() if one in {*decided, *PARTLY.values(), MIXED}}


def counted(key: str) -> str:
    """The row of a study in trust.md: their findings by status, and ours that hold."""
    theirs = Counter(status for text, _, status in findings(key) if not text.endswith(OURS))
    ours = [status for text, _, status in findings(key) if text.endswith(OURS) and status in STATUSES]
    cells = [str(theirs[one.value]) for one in Status]
    cells.append(f"{ours.count(Status.HOLDS.value)} of {len(ours)}" if ours else "none")
    return f"| [{key}](studies/{key}.md) | {' | '.join(cells)} |"


def test_trust_counts_their_findings_and_ours_apart() -> None:
    trust = (DOCS / "trust.md").read_text(encoding="utf-8")
    assert [line for line in trust.splitlines() if line.startswith("| [") and "](studies/" in line] == [
        counted(key) for key in sorted(KEYS)
    ]
    assert "| study | holds | doesn't hold | can't be told | not tested | ours that hold |" in trust


@pytest.mark.parametrize("key", KEYS)
def test_what_they_say_has_a_place(key: str) -> None:
    """A table, a figure, a text: the words of a place, and not of a subject."""
    place = re.compile(r"table|figure|text|title|slide|plot|graph|iperf|Jain|no page|no plot")
    for one in reproduction(key).findings:
        assert place.search(one.source), one.source


@pytest.mark.parametrize("key", KEYS)
def test_a_count_in_what_would_change_an_answer_stands_in_the_tables(key: str) -> None:
    """`1,204` segments: a reader must find each such number on the page, or in a file beside it."""
    count = re.compile(r"(?<![\d,.])\d{1,3}(?:,\d{3})+(?![\d,]*\d)")
    beside = [DOCS / "studies" / name for name in (f"{key}.md", f"{key}-parts.csv", f"{key}.csv")]
    shown = " ".join(one.read_text(encoding="utf-8") for one in beside if one.exists())
    shown += " ".join(value for row in rows(key) for name, value in row.items() if name != "what_would_change_it")
    said = {number for row in rows(key) for number in count.findall(row["what_would_change_it"])}
    assert said <= set(count.findall(shown))

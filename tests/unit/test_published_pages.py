"""Pages of results of the published studies: their findings are the studies' own, and trust.md counts them."""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from runpy import run_path
from typing import Final

import pytest

from dumbbell.published.document import LEDGER
from dumbbell.published.found import OURS
from dumbbell.published.judging import NOT_RUN
from dumbbell.published.model import Status
from dumbbell.published.registry import KEYS, reproduction

DOCS: Final = Path(__file__).parents[2] / "docs" / "results"
MOST_WORDS: Final = 2500
STATUSES: Final = {one.value for one in Status}
OUTCOME: Final = re.compile(r"\d \[|\b[Ff]indings? \d|\b(?:holds|doesn't hold|can't be told)\b")
"""An interval, a finding by its number, or a status."""


def rows(key: str) -> list[dict[str, str]]:
    """The rows of the file of findings beside a page."""
    with (DOCS / "studies" / f"{key}-findings.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def findings(key: str) -> Iterator[tuple[str, str, str]]:
    """Finding, reading and status, of each row of a page's file."""
    return ((row["finding"], row["reading"], row["outcome"]) for row in rows(key))


@pytest.mark.parametrize("key", KEYS)
def test_a_page_says_what_follows_from_its_study_and_outcomes(key: str) -> None:
    """`python docs/draw/studies.py STUDY --texts` writes the page and the file of findings."""
    drawn = run_path(str(DOCS.parent / "draw" / "appendix.py"))
    files = (DOCS / "studies" / f"{key}{end}" for end in (".md", "-findings.csv"))
    page, findings = (file.read_text(encoding="utf-8") for file in files)
    assert (page, findings) == drawn["again"](page, reproduction(key), drawn["outcomes_in"](findings))


@pytest.mark.parametrize("key", KEYS)
def test_each_finding_of_a_study_has_an_outcome_on_its_page(key: str) -> None:
    run = {row["finding"] for row in rows(key) if row["ours"] != NOT_RUN.numbers}
    assert run == {one.text + OURS * one.is_ours for one in reproduction(key).findings}


@pytest.mark.parametrize("key", KEYS)
def test_texts_of_a_study_tell_its_set_up_and_no_outcome(key: str) -> None:
    """Outcomes stand in tables alone, with which no text can disagree then."""
    study = reproduction(key)
    texts = {*study.definitions, *(note for part in study.parts for note in part.notes)}
    assert {text: found[0] for text in texts if (found := OUTCOME.search(text))} == {}


@pytest.mark.parametrize("key", KEYS)
def test_a_page_begins_with_its_answer_and_is_short_before_its_ledger(key: str) -> None:
    front, ledger = (DOCS / "studies" / f"{key}.md").read_text(encoding="utf-8").split(f"\n## {LEDGER}\n")
    assert len(front.split()) <= MOST_WORDS
    assert len(re.sub(r"^(\||!\[).*", "", ledger, flags=re.M).split()) <= MOST_WORDS, "tables are files beside it"
    assert re.findall(r"^## (.+)$", front, re.M)[:2] == ["Answer", "Figures"]
    assert all(f"({key}-{name}.csv)" in ledger for name in ("findings", "parts"))


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

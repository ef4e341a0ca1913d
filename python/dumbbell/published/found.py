"""The outcomes of a study's findings, and how a page shows them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from dumbbell.frozen import dataclass
from dumbbell.published.document import Block, Paragraph, Rows
from dumbbell.published.judging import NOT_RUN
from dumbbell.published.model import Finding, Judged, Reproduction, Status, Studies
from dumbbell.published.verdicts import Rest, judge
from dumbbell.report import words

OURS: Final = " (ours, not theirs)"


@dataclass(frozen=True)
class JudgedFinding:
    """The outcome of a finding."""

    finding: Finding
    judged: Judged
    rests: Sequence[Rest]
    """The parts that it rests on."""

    @property
    def text(self) -> str:
        """The finding, marked if the study does not make it."""
        return self.finding.text + OURS * self.finding.is_ours

    @property
    def runs(self) -> str:
        """Numbers of valid, suspect and invalid runs that it rests on; empty if all were valid."""
        return " ".join(filter(None, (one.doubts for one in self.rests)))

    @property
    def counts(self) -> str:
        """The runs that it rests on, by verdict."""
        return "; ".join(rest.counts for rest in self.rests)

    @property
    def numbers(self) -> str:
        """The numbers behind it, and doubts about its runs."""
        said = self.judged.numbers
        return f"{said.rstrip('.')}. {self.runs}" if self.runs else said


def judged(study: Reproduction, studies: Studies) -> list[JudgedFinding]:
    """Each finding with its outcome."""
    return [JudgedFinding(finding, *judge(finding, studies)) for finding in study.findings]


MIXED: Final = "depends on the reading"
"""The outcome of a finding that holds under a reading and doesn't under another."""
PARTLY: Final = {one: f"{one.value} or {Status.UNKNOWN.value}" for one in (Status.HOLDS, Status.FAILS)}
"""The outcome of a finding that some readings decide, all of them alike, and others don't."""


def answer(findings: Sequence[JudgedFinding]) -> Iterator[Block]:
    """Say in a sentence and a table which findings hold; findings that the runs don't tell are counted only."""
    theirs = [one for one in findings if not one.finding.is_ours]
    texts = list(dict.fromkeys(one.finding.text for one in theirs))
    told = {text: _outcome([one for one in theirs if one.finding.text == text]) for text in texts}
    counts = Counter(str(one) for one in told.values())
    kinds = [Status.HOLDS.value, Status.FAILS.value, *PARTLY.values(), MIXED, Status.UNKNOWN.value]
    said = [f"{n} {kind if n == 1 else _COUNTED.get(kind, kind)}" for kind in kinds if (n := counts[kind])]
    untested = counts[Status.UNTESTED.value] + counts[NOT_RUN_YET]
    said += [f"{untested} not tested here"] if untested else []
    if not texts:
        yield Paragraph("No finding of the study is judged: it has no claims.")
        return
    yield Paragraph(f"Of {words.count(len(texts), 'finding')} of the study: {words.listed(said)}.")
    rows = [(one, text) for text, one in told.items() if str(one) in kinds[:-1]]
    if rows:
        yield Rows("", ("", "they found"), sorted(rows, key=lambda row: kinds.index(str(row[0]))))


NOT_RUN_YET: Final = "not run"
_COUNTED: Final = {
    Status.HOLDS.value: "hold",
    Status.FAILS.value: "do not hold",
    PARTLY[Status.HOLDS]: "hold or can't be told",
    PARTLY[Status.FAILS]: "do not hold or can't be told",
    MIXED: "depend on the reading",
}


def _outcome(readings: Sequence[JudgedFinding]) -> Status | str:
    """The status of a finding under all readings of the text that were run."""
    found = {one.judged.status for one in readings if one.judged != NOT_RUN}
    if not found:
        return NOT_RUN_YET
    if len(found) == 1:
        return found.pop()
    decided = found & PARTLY.keys()
    return MIXED if len(decided) > 1 else PARTLY[decided.pop()] if decided else Status.UNKNOWN


def shown(findings: Sequence[JudgedFinding]) -> Iterator[Block]:
    """The findings, what they print of each, our runs by verdict, and where else the same claim is judged."""
    if any(one.finding.reading for one in findings):
        yield from matrix(findings)
        yield from _by_reading(findings)
        return
    yield Rows("", ("", "they found", "our numbers"), [(one.judged.status, one.text, one.numbers) for one in findings])
    if any(one.finding.printed for one in findings):
        yield Paragraph(
            "Behind each finding: what they print, the rule that judges it, our runs by verdict, and where else the "
            "same claim is judged."
        )
        rows = [
            (one.text, one.finding.source, one.finding.printed, one.finding.rule, one.counts, elsewhere(one, findings))
            for one in findings
        ]
        yield Rows("", ("finding", "where", "they print", "rule", "our runs", "elsewhere"), rows)


NOWHERE: Final = "nowhere else"
"""Told of a finding whose claim no other row judges."""


def elsewhere(finding: JudgedFinding, findings: Sequence[JudgedFinding]) -> str:
    """The outcomes of the same claim in other rows: `script: holds; finding 27 (a minute): can't be told`."""
    others = [one for one in findings if one.text == finding.text and one is not finding and one.judged != NOT_RUN]
    said = [f"{one.finding.reading}: {one.judged.status.value}" for one in others]
    return "; ".join([*said, *_in_other_words(finding, findings)]) or NOWHERE


def _in_other_words(finding: JudgedFinding, findings: Sequence[JudgedFinding]) -> Iterator[str]:
    """The outcomes of findings of other texts that are about the same."""
    numbers = {text: number for number, text in enumerate(dict.fromkeys(one.text for one in findings), 1)}
    for one in findings:
        if one.text != finding.text and one.finding.is_like(finding.finding) and one.judged != NOT_RUN:
            reading = f" ({one.finding.reading})" if one.finding.reading else ""
            yield f"finding {numbers[one.text]}{reading}: {one.judged.status.value}"


def matrix(findings: Sequence[JudgedFinding]) -> Iterator[Rows]:
    """A table of all answers, by finding and reading. A reading of which nothing was run is left out."""
    run = [one for one in findings if one.judged != NOT_RUN]
    readings = list(dict.fromkeys(one.finding.reading for one in run))
    claims = {one.text: one.finding.text for one in findings}
    answers = {(one.text, one.finding.reading): one.judged.status for one in run}
    rows: list[list[str | Status]] = []
    for text, claim in claims.items():
        is_again = claim in list(claims.values())[: len(rows)]
        told = (answers.get((text, reading), words.UNKNOWN) for reading in readings)
        rows.append([str(len(rows) + 1), f"the same{OURS}" if is_again else text, *told])
    yield Rows("", ("", "they found", *readings), rows)


def _by_reading(findings: Sequence[JudgedFinding]) -> Iterator[Block]:
    """Each finding with its numbers. What was not run is left out."""
    for i, text in enumerate(dict.fromkeys(one.text for one in findings), 1):
        own = [one for one in findings if one.text == text]
        yield Paragraph(_paragraph(i, own, list(_in_other_words(own[0], findings))))
        numbers = [
            (one.finding.reading, one.judged.status, one.judged.numbers, one.counts)
            for one in own
            if one.judged != NOT_RUN
        ]
        if numbers:
            yield Rows("", ("reading", "", "our numbers", "our runs"), numbers)


def _paragraph(number: int, own: Sequence[JudgedFinding], others: Sequence[str]) -> str:
    """The text about a finding, once. Readings that need another rule have theirs beside it."""
    finding, said = own[0].finding, [f"{number}. {own[0].text}."]
    if finding.printed:
        said.append(f"They print ({finding.source}): {finding.printed}.")
    if finding.rule:
        readings: dict[str, list[str]] = {}
        for one in own:
            readings.setdefault(one.finding.rule, []).append(one.finding.reading)
        rules = [rule + (f" ({', '.join(of)})" if len(readings) > 1 else "") for rule, of in readings.items()]
        said.append(f"Rule: {'; '.join(rules)}.")
    if others:
        said.append(f"Judged elsewhere, too: {'; '.join(others)}.")
    return " ".join(said)

"""Differences of set-up: each names a part that has theirs, which the page links to, or says that it was not tested."""

from __future__ import annotations

import re
from typing import Final

import pytest

from dumbbell.published.document import Bullets, Document, Heading
from dumbbell.published.markdown import markdown
from dumbbell.published.naming import linked, named
from dumbbell.published.page import page
from dumbbell.published.registry import KEYS, reproduction

LIKE_A_NAME: Final = re.compile(r"(?<![\w.-])(?:\d+-[a-z][\w-]*|-[a-z][\w-]*)|(?<=[Pp]art )[\w-]*[\d-][\w-]*")
"""Texts that must be a part's name: `2-none`, `-mininet`, and `4` or `udp-bursts` after "part"."""

NAMES = ("1", "2-none", "table", "table-window", "1-mininet")


@pytest.mark.parametrize("key", KEYS)
def test_each_difference_names_a_part_or_was_not_tested(key: str) -> None:
    study = reproduction(key)
    names = [part.name for part in study.parts]
    for said in {note for part in study.parts for note in part.notes}:
        assert "not tested" in said or any(named(said, names)), said


@pytest.mark.parametrize("key", KEYS)
def test_texts_name_no_part_that_the_study_lacks(key: str) -> None:
    study = reproduction(key)
    names = [part.name for part in study.parts]
    texts = {note for part in study.parts for note in part.notes} | set(study.definitions)
    texts |= {one.text for one in study.findings}
    for said in texts:
        for name in LIKE_A_NAME.findall(said):
            assert name in names or (name[0] == "-" and any(one.endswith(name) for one in names)), (name, said)


@pytest.mark.parametrize("key", KEYS)
def test_each_finding_says_what_is_printed(key: str) -> None:
    study = reproduction(key)
    assert all(one.printed for one in study.findings)
    assert len({(one.text, one.reading) for one in study.findings}) == len(study.findings)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("the table above (part table)", ["table"]),
        ("parts table, 1 and 2-none tell, of 1 run", ["table", "1", "2-none"]),
        ("Part 1 has it (2-none, not 3-none)", ["1", "2-none"]),
        ("a part of 1, or 1 of 2", []),
        ("the parts -mininet, but no -window", ["1-mininet"]),
        ("part table-windows", []),
    ],
)
def test_which_parts_a_text_names(text: str, found: list[str]) -> None:
    assert [part for _, part in named(text, NAMES)] == found


def test_a_named_part_is_a_link_to_its_heading() -> None:
    heading = Heading("2-none: 10 Mbit/s, 5 % (loss)")
    assert heading.anchor == "2-none-10-mbits-5--loss"
    note = linked("It takes `parts`: part 2-none [1, 2].", {"2-none": heading.anchor})
    assert note == "It takes `parts`: part [2-none](#2-none-10-mbits-5--loss) [1, 2]."
    document = Document("t", [Bullets([note]), heading])
    assert f"- {note}\n" in markdown(document, "plots")
    html = page(document)
    assert '<li>It takes <code>parts</code>: part <a href="#2-none-10-mbits-5--loss">2-none</a> [1, 2].</li>' in html
    assert '<h2 id="2-none-10-mbits-5--loss">' in html

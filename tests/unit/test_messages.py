"""What the program says, sentence by sentence: counts, values that are refused, and hints that do not mislead."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from dumbbell.captures import warnings
from dumbbell.cli import invoke
from dumbbell.cli.study import _redone
from dumbbell.counts import by_number, count, listed, ordinal


def test_counts_agree_with_their_nouns() -> None:
    assert [count(n, "run") for n in (0, 1, 2, 1204)] == ["0 runs", "1 run", "2 runs", "1,204 runs"]
    assert [count(n, "reply", "replies") for n in (1, 2)] == ["1 reply", "2 replies"]
    assert count(12345) == "12,345"
    assert [by_number(n, "is", "are") for n in (0, 1, 2)] == ["are", "is", "are"]
    numbers = (1, 2, 3, 4, 11, 12, 13, 21, 102)
    assert [ordinal(n) for n in numbers] == [
        "1st",
        "2nd",
        "3rd",
        "4th",
        "11th",
        "12th",
        "13th",
        "21st",
        "102nd",
        "111th",
    ]
    assert [listed("abc"[:n], "or") for n in range(4)] == ["", "a", "a or b", "a, b or c"]


@pytest.mark.parametrize(
    ("attempts", "cured", "said"),
    [
        (1, 1, "Repeated 1 disturbed run; it is now valid."),
        (2, 2, "Repeated 2 disturbed runs; both are now valid."),
        (9, 9, "Repeated 9 disturbed runs; all are now valid."),
        (3, 1, "Repeated disturbed runs in 3 attempts; 1 run is now valid."),
        (3, 0, "Repeated disturbed runs in 3 attempts; no run is now valid."),
    ],
)
def test_disturbed_runs(attempts: int, cured: int, said: str) -> None:
    assert _redone(attempts, cured) == said


@pytest.mark.parametrize(
    ("notes", "sums", "said"),
    [
        ({"damages": 1}, {}, "The file is damaged in one place; reading continued after it."),
        ({"damages": 3}, {}, "The file is damaged in 3 places; reading continued after each."),
        (
            {},
            {"unseen_bytes": 1},
            "The capture lacks packets: 1 byte was acknowledged but not captured. Loss counts are upper bounds.",
        ),
        ({}, {"one_sided": 1}, "Packets of one direction only: 1 connection."),
        ({}, {"capture_duplicates": 1}, "1 packet was captured twice and counts once."),
        ({}, {"capture_duplicates": 2}, "2 packets were captured twice and count once."),
        ({"capture_drops": 1}, {}, "The capturing program dropped 1 packet, as the file says."),
        (
            {"backward_steps": 1, "largest_backward_step_ns": 2_000_000},
            {},
            "The clock went backwards 1 time, by at most 2.000 ms.",
        ),
        ({"unknown_links": [(147, 1)]}, {}, "Not read: 1 packet of link type 147, which dumbbell does not know."),
    ],
)
def test_what_limits_a_capture(notes: dict[str, Any], sums: dict[str, int], said: str) -> None:
    every = Counter[str](notes)

    def total(table: str, *columns: str) -> tuple[int, ...]:
        return tuple(sums.get(column, 0) for column in columns)

    summary = {"notes": {"unknown_links": [], **dict.fromkeys(_NOTES, 0), **every}, "evicted": 0}
    assert warnings.of(summary, total) == [said]


_NOTES = ("capture_drops", "damages", "cut_files", "headless_frames", "backward_steps")


REFUSED = [
    ("report x --confidence abc", "--confidence must be 90, 95 or 99\n  given: abc\nhint: omit it for 95\n"),
    ("compare x y --confidence 42", "--confidence must be 90, 95 or 99\n  given: 42\n"),
    ("run one.toml --repeat abc", "--repeat must be a whole number\n  given: abc\nhint: dumbbell run --help"),
    ("run one.toml --repeat 1.5", "--repeat must be a whole number\n  given: 1.5\n"),
    ("run one.toml --jobs 0", "--jobs must be at least 1\n  given: 0\n"),
    ("ui --port 65536", "--port must be at most 65535\n  given: 65536\n"),
    ("lab capture h1 --seconds soon", "--seconds must be a number\n  given: soon\n"),
    ("pcap x --at nowhere", "--at must be sender, receiver or middle\n  given: nowhere\n"),
    ("pcap x --interval 0ms", '--interval must be greater than zero\n  given: 0ms\nhint: --interval "100 ms"\n'),
    ("pcap x --interval soon", "--interval soon is not a time\n"),
]


@pytest.mark.parametrize(("line", "said"), REFUSED)
def test_an_option_with_another_value(line: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(line.split()) == 2
    assert capsys.readouterr().err.startswith(f"error: {said}")


def test_a_name_with_a_space(capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["plan", "bbr-vs-cubic", "--set", "name=my run"]) == 2
    assert capsys.readouterr().err == (
        "error: --set name=my run: invalid name\n"
        "  expected at most 64 letters, digits, `.`, `_` and `-`, a letter or digit first; no spaces\n"
        'hint: write name = "my-run"\n'
    )

"""Rules of claims: each form holds on some figures, fails on the opposite ones, and is known on neither else."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping
from typing import Final

import pytest

from dumbbell.errors import InputError
from dumbbell.published.judge import Judge, one_side
from dumbbell.published.judging import all_of
from dumbbell.published.model import Finding, Status
from dumbbell.published.registry import KEYS, reproduction
from dumbbell.published.rules import Figure, rule
from dumbbell.statistics.intervals import Interval

SPREAD: Final = 1e-6
H, F, U = Status.HOLDS, Status.FAILS, Status.UNKNOWN


def figure(value: float, half: float = 0.1, n: int = 3) -> Figure:
    """A mean with its interval, and its runs."""
    samples = {(0, seed): value * (1 + half * (seed - 1) / max(abs(value), 1)) for seed in range(n)}
    return Figure(Interval(value, value - half, value + half, n), samples)


def judged(text: str, **values: Figure) -> Status:
    (status,) = rule(text, 0.95).judge(lambda name, member: values[f"{name}_{member}" if member else name])
    return status


@pytest.mark.parametrize(
    ("text", "holds", "fails", "unknown"),
    [
        ("a > 5", {"a": 6}, {"a": 4}, {"a": 5}),
        ("a < 5", {"a": 4}, {"a": 6}, {"a": 5}),
        ("5 > a", {"a": 4}, {"a": 6}, {"a": 5}),
        ("2 < a < 5", {"a": 3}, {"a": 6}, {"a": 2}),
        ("a > b", {"a": 6, "b": 4}, {"a": 4, "b": 6}, {"a": 5, "b": 5}),
        ("a < b", {"a": 4, "b": 6}, {"a": 6, "b": 4}, {"a": 5, "b": 5}),
        ("a > b > c", {"a": 6, "b": 5, "c": 4}, {"a": 6, "b": 4, "c": 5}, {"a": 6, "b": 5, "c": 5}),
        ("a > 10 * b", {"a": 60, "b": 4}, {"a": 20, "b": 4}, {"a": 40, "b": 4}),
        ("a - 40 > 10 * (b - 40)", {"a": 90, "b": 42}, {"a": 50, "b": 42}, {"a": 60, "b": 42}),
        ("0.5 < a / b < 2", {"a": 5, "b": 4}, {"a": 9, "b": 4}, {"a": 8, "b": 4}),
        ("a / b > 74.1 / 52.1", {"a": 6, "b": 4}, {"a": 4, "b": 6}, {"a": 74.1, "b": 52.1}),
        ("a - b > 0", {"a": 6, "b": 5}, {"a": 5, "b": 6}, {"a": 5, "b": 5}),
        ('a.b > a["b"]', None, None, {"a_b": 5}),
    ],
)
def test_each_form_of_a_rule_fails_on_the_opposite_figures(
    text: str, holds: Mapping[str, float] | None, fails: Mapping[str, float] | None, unknown: Mapping[str, float]
) -> None:
    for values, status in ((holds, H), (fails, F), (unknown, U)):
        if values is not None:
            assert judged(text, **{name: figure(value) for name, value in values.items()}) is status


def test_a_single_run_and_a_missing_one_tell_nothing() -> None:
    assert judged("a > 5", a=Figure(Interval(9, None, None, 1))) is U
    assert judged("a > b", a=Figure(None), b=figure(4)) is U
    assert judged("a / b > 1", a=figure(9), b=Figure(None)) is U


def test_comparisons_are_joined_by_and() -> None:
    found = rule("a > 5 and a < b", 0.95).judge(lambda name, _: figure({"a": 6, "b": 4}[name]))
    assert found == [H, F]


@pytest.mark.parametrize(
    "text",
    [
        "", "a", "a >", "a >= 5", "a == b", "1 < 2", "a or b", "a > b or a < 5", "not a > b", "f(a) > 5", "a ** 9 > 5",
        "a * 2 > b", "-1 * a > b", "5 - a > 0", "a / 5 > 1", "a.b.c > 1", "a[0] > 1", "a > 1 / 0", "a > 9e999",
        "a > 'b'", "a > True", "__import__('os').system('true') > 0", "(" * 400 + "a", "a > " + "9" * 450,
        "a > 1" * 200,
        "a\0 > 1", "-" * 490 + "1 < a", "a < " + "-" * 480 + "b", "[a] > [1]", "a if b else c", "lambda: a > 1",
    ],
)  # fmt: skip
def test_what_is_no_rule_is_refused(text: str) -> None:
    with pytest.raises(InputError, match="is not a rule"):
        rule(text, 0.95)


@pytest.mark.parametrize(("statuses", "status"), [([H, H], H), ([F, F], H), ([F, U, H], F), ([F, U], U)])
def test_who_has_more_is_the_same_only_if_it_surely_is(statuses: list[Status], status: Status) -> None:
    assert one_side(statuses) is status


CLAIMS = [
    pytest.param(finding, id=f"{key} {finding.text[:40]} {finding.reading}")
    for key in KEYS
    for finding in reproduction(key).findings
    if isinstance(finding.judge, Judge)
]


DRAWS: Final = 20_000


@pytest.mark.parametrize("finding", CLAIMS)
def test_each_claim_can_hold_and_can_fail(finding: Finding) -> None:
    """Figures are drawn about the rules' own bounds until each comparison has shown both answers, and all together,
    too: rules that contradict each other could never hold."""
    assert isinstance(finding.judge, Judge)
    rules = finding.judge.rules
    texts = [one.text for one in rules]
    numbers = [float(number) for text in texts for number in re.findall(r"(?<![\w\"])\d+(?:\.\d+)?(?:e\d+)?", text)]
    bounds = [number for number in numbers if number] or [1.0]
    names = {name for one in rules for name in one.names()}
    draw = random.Random(1)
    seen: list[set[Status]] = [set() for one in rules for _ in one.comparisons]
    together: set[Status] = set()
    for _ in range(DRAWS):
        drawn = {
            name: figure(draw.choice(bounds) * draw.choice((-1, 1)) ** draw.randrange(3) * 4 ** draw.uniform(-2, 2),
                         SPREAD)
            for name in names
        }  # fmt: skip
        statuses = [status for one in rules for status in one.judge(lambda *name, drawn=drawn: drawn[name])]
        for found, status in zip(seen, statuses, strict=True):
            found.add(status)
        together.add(all_of(statuses))
        if all({H, F} <= found for found in [*seen, together]):
            break
    assert all({H, F} <= found for found in seen), texts
    assert {H, F} <= together, texts
    assert finding.rule

"""`docs/reference/links.md`: each example can be planned, and has its picture and what draws it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import dumbbell

DOCS = Path(__file__).parents[2] / "docs"
sys.path.insert(0, str(DOCS / "draw"))

import links  # noqa: E402
from panels import PANELS  # noqa: E402

BASE, EXAMPLES = links.examples()


def test_every_example_is_drawn() -> None:
    assert len(EXAMPLES) > 30
    assert set(EXAMPLES) == set(PANELS)


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_has_a_plan_and_a_picture(name: str) -> None:
    plan = dumbbell.expand(dumbbell.load(links.with_files(links.merged(BASE, EXAMPLES[name]))))
    assert plan.links[0].name == "bottleneck"
    assert (links.PICTURES / f"{name}.png").stat().st_size > 1000

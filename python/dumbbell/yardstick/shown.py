"""Scores as tables of text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from dumbbell.table import Table
from dumbbell.yardstick.score import CaseScore, Score, worst_first

SHOWN: Final = 15
"""Networks that the console shows; the page has all."""


def groups(scores: Sequence[Score]) -> Table:
    """The score of each group of networks, and of all together at the end."""
    first = scores[0]
    networks = {name: sum(one.case.group.name == name for one in first.cases) for name in first.groups}
    about = {one.case.group.name: one.case.group.description for one in first.cases}
    rows = [
        [name, *(number(one.groups[name]) for one in scores), str(count), about[name]]
        for name, count in networks.items()
    ]
    rows.append(["all", *(number(one.score) for one in scores), str(len(first.cases)), "Mean of the groups"])
    return Table("Scores, 0 to 1", ["group", *(one.subject.label for one in scores), "networks", ""], rows)


def cases(scores: Sequence[Score], most: int | None = None) -> Table:
    """The first `most` networks of `worst_first`; all by default."""
    rows = [
        [row[0].case.name, *(number(one.score) for one in row), reason(row[0])] for row in worst_first(scores)[:most]
    ]
    title = "Worst networks" if len(scores) == 1 else f"Furthest behind {scores[1].subject.label}"
    return Table(title, ["network", *(one.subject.label for one in scores), "worst metric"], rows)


def reason(score: CaseScore) -> str:
    """Why a network has no figures, or the worst of them."""
    return "; ".join(filter(None, [score.problem, score.worst]))


def number(score: float) -> str:
    """A score for readers."""
    return f"{score:.3f}"

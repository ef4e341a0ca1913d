"""Scores as a page: a bar for each group of networks, and all networks, the worst first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from string import Template
from typing import Final

from dumbbell.command import command
from dumbbell.counts import count
from dumbbell.report.render.html import read
from dumbbell.report.render.markup import Html, digest, el, join
from dumbbell.yardstick.metrics import METRICS
from dumbbell.yardstick.score import CaseScore, Score, worst_first
from dumbbell.yardstick.shown import number

_STYLE: Final = """
meter { width: 160px; height: 10px; margin-right: 8px; vertical-align: baseline; }
.prose td { white-space: normal; }
"""


def page(scores: Sequence[Score], named: str) -> str:
    """The page. `named`: the algorithm as the command line names it."""
    first, labels = scores[0], [one.subject.label for one in scores]
    rows = worst_first(scores)
    return Template(read("page.html")).substitute(
        digest=digest(""),
        title=join(f"{first.subject.label}: {number(first.score)}"),
        style=read("assets/report.css") + _STYLE,
        verdict=Html(""),
        name=join(f"{first.subject.label} scores {number(first.score)}"),
        facts=el("p", f"{count(len(first.cases), 'network')}, each score from 0 to 1."),
        main=join(
            el("h2", "Groups of networks"),
            _table(["group", *labels, "networks"], _groups(scores)),
            el("h2", "Networks, the worst first" if len(scores) == 1 else f"Furthest behind {labels[1]}"),
            _table(["network", *labels, *(metric.name for metric in METRICS), ""], map(_case, rows)),
            el("p", "Run one by itself: ", el("code", f"{command('cc', 'score', named)} --case NAME -o case.toml")),
            el("h2", "Metrics"),
            _table(
                ["metric", "value", "score"],
                ((el("th", one.name), el("td", one.what), el("td", one.why)) for one in METRICS),
                "prose",
            ),
        ),
        footer="This file needs no network.",
        series="{}",
        script="",
    )


def _groups(scores: Sequence[Score]) -> Iterator[tuple[Html, ...]]:
    first = scores[0]
    for name in first.groups:
        networks = sum(one.case.group.name == name for one in first.cases)
        yield el("th", name), *(_bar(one.groups[name]) for one in scores), el("td", str(networks))
    yield el("th", "all"), *(_bar(one.score) for one in scores), el("td", str(len(first.cases)))


def _bar(score: float) -> Html:
    return el("td", el("meter", value=f"{score:.4f}"), number(score))


def _case(row: Sequence[CaseScore]) -> tuple[Html, ...]:
    own = row[0]
    figures = (own.measured.get(metric.name) for metric in METRICS)
    return (
        el("th", own.case.name),
        *(_bar(one.score) for one in row),
        *(el("td", "" if one is None else f"{one.value:.3g}", class_="n") for one in figures),
        el("td", own.problem or ""),
    )


def _table(columns: Sequence[str], rows: Iterator[tuple[Html, ...]], kind: str = "wide") -> Html:
    head = el("thead", el("tr", *(el("th", column) for column in columns)))
    return el("div", el("table", head, el("tbody", *(el("tr", *row) for row in rows))), class_=kind)

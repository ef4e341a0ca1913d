"""The result for one scenario, as a page like a report: targets, quantities, and both engines' curves."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from dumbbell.agree import shown
from dumbbell.agree.overlay import overlay
from dumbbell.agree.study import Outcome
from dumbbell.agree.table import figures_table, write
from dumbbell.agree.targets import Judged, Status, judge, overall
from dumbbell.records import Run
from dumbbell.report import words, write_file
from dumbbell.report.facts import facts
from dumbbell.report.model import Plots
from dumbbell.report.render import figures, html, sections
from dumbbell.report.render.markup import Html, el, join
from dumbbell.report.render.payload import payload

STEM: Final = "agreement"

_CLASS: Final = {Status.INSIDE: "valid", Status.UNDECIDED: "suspect", Status.OUTSIDE: "invalid"}
"""Status -> the verdict whose colour it has in a report."""


def write_files(outcome: Outcome, formats: Sequence[str] = ("html", "svg")) -> list[Path]:
    """Write `agreement.html`, `.svg`, `.csv` and `.parquet` to the subject's directory; return their paths.

    The curves are those of the first repetition; without one there is nothing to draw, and only the tables are written.
    """
    directory = outcome.subject.directory
    tables = write(figures_table(outcome.comparison), directory, STEM)
    if not outcome.pairs or not formats:
        return tables
    first = outcome.pairs[0]
    run = Run(first.first)
    plots = overlay(outcome.comparison.engines, run, Run(first.second))
    drawn = []
    for format in formats:
        drawn.append(directory / f"{STEM}.{format}")
        is_page = format == "html"
        content = _page(outcome, run, plots).encode() if is_page else figures.render(figures.figure(plots), format)
        write_file(drawn[-1], content, directory)
    return [*drawn, *tables]


def _page(outcome: Outcome, run: Run, plots: Plots) -> str:
    judged = judge(outcome.comparison)
    both = " and ".join(outcome.comparison.engines)
    title = f"Under {both}"
    quantities = _table(title, shown.columns(outcome.comparison), shown.quantities(outcome.comparison))
    return html.document(
        title=f"{run.name}: {overall(judged)}",
        verdict=_verdict(judged, outcome),
        name=f"{run.name}: {both}",
        facts=sections.facts(run, facts(run)),
        main=html.of_run(
            tables=join(_refused(outcome), el("h2", title), quantities),
            missing=sections.missing(plots.missing),
            checks=_targets(judged),
            scenario=sections.scenario(run),
            machine=sections.machine(run),
            command=_runs(outcome),
        ),
        footer=f"{outcome.comparison.repetitions} repetitions. This file needs no network.",
        series=payload(plots),
    )


def _verdict(judged: Sequence[Judged], outcome: Outcome) -> Html:
    status = overall(judged)
    said = f"{sum(one.status is Status.INSIDE for one in judged)} of {words.count(len(judged), 'target')} met, "
    said += words.count(outcome.comparison.repetitions, "repetition")
    listed = [
        el("li", el("b", one.target), f": {one.measured}, allowed {one.allowed}.")
        for one in judged
        if one.status is not Status.INSIDE
    ]
    body = el("ul", *listed) if listed else Html("")
    head = el("p", el("strong", status.value), " ", el("span", said))
    return el("div", head, body, class_=f"verdict {_CLASS[status]}", role="status")


def _refused(outcome: Outcome) -> Html:
    return el("ul", (el("li", one) for one in outcome.refused), class_="missing") if outcome.refused else Html("")


def _targets(judged: Sequence[Judged]) -> Html:
    rows = (
        (el("span", one.status.value, class_=f"status {_CLASS[one.status]}"), one.target, one.measured, one.allowed)
        for one in judged
    )
    return join(el("h2", "Targets"), _table("Targets", ("", "Target", "Measured", "Allowed"), rows))


def _runs(outcome: Outcome) -> Html:
    one, other = outcome.comparison.engines
    listed = (
        el("li", f"seed {pair.seed}: {pair.first.name} ({one}), {pair.second.name} ({other})") for pair in outcome.pairs
    )
    return join(el("h2", "Runs beside this page"), el("ul", listed))


def _table(label: str, names: Sequence[str], rows: Iterable[Sequence[str]]) -> Html:
    head = el("thead", el("tr", *(el("th", name, scope="col") for name in names)))
    body = el("tbody", *(el("tr", *(el("td", cell) for cell in row)) for row in rows))
    table = el("table", head, body, aria_label=label)
    return el("div", table, class_="wide fit", tabindex="0", role="region", aria_label=label)

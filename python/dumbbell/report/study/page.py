"""The study's report as one HTML file: what was varied, plots, tables, and every run behind them."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final

from dumbbell.command import command
from dumbbell.report import words
from dumbbell.report.render import html
from dumbbell.report.render.markup import Html, el, join
from dumbbell.report.render.sections import fact, highlighted, missing
from dumbbell.report.study import OVER_TIME
from dumbbell.report.study.export import caption
from dumbbell.report.study.grid import Column, Grid, grids
from dumbbell.report.study.kinds import is_of_pairs, name_of, shown
from dumbbell.report.study.model import StudyPlots
from dumbbell.report.study.payload import payload
from dumbbell.statistics.contrasts import Contrast
from dumbbell.statistics.verdicts import Answer

MOST_MATRICES: Final = 3
"""Matrices of algorithms on the page; figures have all."""
MOST_TABLES: Final = 40
"""Tables that the page lists. Of more, a table shows those that the reader chooses; CSV and LaTeX have all."""
_NO_SCRIPT: Final = "The plots need JavaScript. dumbbell report STUDY --format svg writes them as figures."
_OPENS: Final = (
    "Every point and every number of the tables opens the list of its runs, with the verdict and the command for each."
)


def page(plots: StudyPlots, pictures: Sequence[StudyPlots] = (), over_time: bytes | None = None) -> str:
    """`pictures`: the plots that are described; without any, a study of pairs shows its first matrices. `over_time`:
    SVG of runs over time, above them.

    Raises `DumbbellError` if the front end was not built.
    """
    series, notes = payload(plots)
    tables, left_out = _tables(plots)
    scenario = el("section", el("h2", "Scenario"), el("pre", highlighted(plots.scenario)))
    return html.document(
        title=f"{plots.name}: {words.count(plots.usable.height, 'run')}",
        verdict=_verdict(plots),
        name=plots.name,
        facts=_facts(plots),
        main=join(
            _varied(plots),
            missing((*plots.notes, *notes, *left_out)),
            el("noscript", el("p", _NO_SCRIPT, class_="missing")),
            _pictures(plots, pictures, over_time),
            el("div", id="study"),
            el("h2", "Tables"),
            tables,
            el("div", scenario, el("section", el("h2", "Runs"), _runs(plots)), class_="columns"),
        ),
        footer=f"Study in {plots.directory}. This file needs no network.",
        series=series,
        program="study",
    )


def _pictures(plots: StudyPlots, described: Sequence[StudyPlots], over_time: bytes | None) -> Html:
    """The same pictures as `--format svg` writes."""
    every = [(one, panel) for one in described for panel in shown(one)]
    if not every and is_of_pairs(plots):
        every = [(plots, panel) for panel in shown(plots)[:MOST_MATRICES]]
    first = [] if over_time is None else [(OVER_TIME, over_time)]
    if not every and not first:
        return Html("")
    # matplotlib is slow to import, and most pages need none.
    from dumbbell.report.study.figures import drawn

    made = [*first, *((name_of(one, panel), drawn(one, panel, "svg")) for one, panel in every)]
    return join(el("h2", "Pictures"), el("div", (_picture(name, svg) for name, svg in made), class_="pictures"))


def _picture(name: str, svg: bytes) -> Html:
    at = "data:image/svg+xml;base64," + b64encode(svg).decode()
    save = el("a", f"{name}.svg", href=at, download=f"{name}.svg")
    return el("figure", el("img", src=at, alt=name.replace("_", " ")), el("figcaption", save))


def _verdict(plots: StudyPlots) -> Html:
    """The first lines: how far the runs can be trusted, what is missing, and whether expectations hold."""
    found, of = plots.verdicts, int(plots.manifest.get("runs", plots.runs.height))
    missing = of - plots.runs.height
    told = f"{words.count(of, 'run')}: {found}" + (f", {missing:,} not finished" if missing > 0 else "")
    expected = plots.manifest.get("expectations", [])
    fails = [one for one in expected if one["answer"] == Answer.FAILS]
    undecided = [one for one in expected if one["answer"] == Answer.UNDECIDED]
    word, kind = found.worst, found.worst
    if missing > 0:
        word, kind = f"{found.worst}, incomplete", max(kind, "suspect", key=_BADNESS.index)
    if fails or undecided:
        kind = "invalid" if fails else max(kind, "suspect", key=_BADNESS.index)
    said = [
        f"{n:,} of {words.count(len(expected), 'expectation')} {what}"
        for n, what in ((len(fails), "failed"), (len(undecided), "undecided"))
        if n
    ]
    said = said or ([f"{words.count(len(expected), 'expectation')} held"] if expected else [])
    head = el("p", el("strong", word), " ", el("span", "; ".join([told, *said])))
    lines = (
        el("li", el("b", one["expectation"]), f": {one['answer']}: ", el("span", one["why"]))
        for one in (*fails, *undecided)
    )
    return el("div", head, el("ul", *lines) if fails or undecided else "", class_=f"verdict {kind}", role="status")


_BADNESS: Final = ("valid", "suspect", "invalid")


def _facts(plots: StudyPlots) -> Html:
    manifest = plots.manifest
    counts = plots.usable.group_by("cell").len()["len"].to_list()
    least, most = min(counts), max(counts)
    repetitions = f"{least:,}" if least == most else f"{least:,} to {most:,}"
    later = f"up to {manifest['starts_ns'] / 1e6:g} ms later by it" if manifest.get("starts_ns") else ""
    how = "Student's t" if plots.method == "t" else "bootstrap, BCa"
    facts = [
        fact("Cells", f"{plots.cells:,}", "combinations of values"),
        fact("Runs of each", repetitions, "each with a seed of its own" + (f"; flows start {later}" if later else "")),
        fact("Intervals", plots.percent, how),
        fact(
            "Engine", str(manifest.get("engine", words.UNKNOWN)), str((manifest.get("tool") or {}).get("dumbbell", ""))
        ),
    ]
    try:
        at = datetime.fromisoformat(str(manifest.get("started_at")))
        again = manifest.get("continued_at")
        then = f"; continued {_day(datetime.fromisoformat(str(again)))}" if again else ""
        facts.append(fact("Started", _day(at), f"{at:%H:%M:%S %Z}".strip() + then))
    except ValueError:
        pass
    return el("dl", facts, class_="facts")


def _day(at: datetime) -> str:
    return f"{at.day} {at:%b %Y}"


def _varied(plots: StudyPlots) -> Html:
    if not plots.axes:
        return Html("")
    rows = [[el("code", axis.key), el("span", ", ".join(axis.names))] for axis in plots.axes]
    table = _grid("What was varied", ["Key", "Values"], (el("tr", *(el("td", cell) for cell in row)) for row in rows))
    return join(el("h2", "What was varied"), table)


def _tables(plots: StudyPlots) -> tuple[Html, tuple[str, ...]]:
    """One for each metric, folded but the first; and what is left out."""
    made = [(index, grid) for index, panel in enumerate(plots.panels) for grid in grids(plots, panel)]
    shown = made[:MOST_TABLES]
    hidden = len(made) - len(shown)
    said = (
        f"{len(shown)} of {words.count(len(made), 'table')} are listed; the one below them shows any metric for the "
        "keys that you choose."
    )
    parts = [
        el(
            "details",
            el("summary", caption(grid, "in italics")),
            _table(index, grid),
            **({"open": ""} if place == 0 else {}),
        )
        for place, (index, grid) in enumerate(shown)
    ]
    return join(parts, el("div", id="any-table") if hidden else ""), (said,) if hidden else ()


def _table(panel: int, grid: Grid) -> Html:
    columns = grid.columns
    rows = (
        el(
            "tr",
            el("th", grid.x.tick(row) if grid.x else "", scope="row"),
            *(_entry(panel, grid, row, column) for column in columns),
        )
        for row in grid.rows
    )
    return _grid(grid.panel.title, [grid.x.title if grid.x else "", *(column.label for column in columns)], rows)


def _grid(label: str, names: Sequence[str], rows: Iterable[Html]) -> Html:
    head = el("thead", el("tr", *(el("th", name, scope="col") for name in names)))
    table = el("table", head, el("tbody", *rows), aria_label=label)
    return el("div", table, class_="wide fit", tabindex="0", role="region", aria_label=label)


def _entry(panel: int, grid: Grid, row: int, column: Column) -> Html:
    entry, plots = grid.entry(row, column), grid.plots
    if entry is None:
        return el("td", words.UNKNOWN, class_="n")
    mean, *interval = grid.interval_texts(entry)
    match interval:
        case [half]:
            within = f" ± {half}"
        case [low, high]:
            within = f" [{low}, {high}]"
        case _:
            within = ", one run"
    doubted = plots.suspect.get(entry.cell, 0)
    doubt = el("small", f"{doubted:,} of {plots.counts[entry.cell]:,} suspect", class_="doubt") if doubted else ""
    opens = {"data_panel": str(panel), "data_cell": str(entry.cell), "data_of": column.of}
    button = el("button", mean, type="button", class_="point", **opens)
    return el("td", button, el("small", within), doubt, _change(grid.change(row, column)))


def _change(change: Contrast | None) -> Html:
    """Relative to the reference; the pointer's rest tells interval, method and effect sizes."""
    relative = None if change is None else change.relative
    if change is None or relative is None:
        return Html("")
    told = (
        []
        if relative.low is None or relative.high is None
        else [f"{100 * relative.low:+.1f} to {100 * relative.high:+.1f} %"]
    )
    told.append(f"{change.by} by seed" if change.method == "paired" else change.by)
    told += [] if change.hedges_g is None else [f"Hedges' g {change.hedges_g:.2g}"]
    told.append(f"Cliff's δ {change.cliffs_delta:.2g}")
    shown = "change" if change.is_clear else "change unclear"
    return el("small", f"{100 * relative.value:+.1f} %", class_=shown, title=", ".join(told))


def _runs(plots: StudyPlots) -> Html:
    query = command("query", plots.directory, "select run, run_id, seed, error from runs")
    return join(el("p", _OPENS), el("p", "Or ask in SQL:"), el("pre", query))

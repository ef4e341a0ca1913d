"""Checks of a study that need its cells. No run starts before all checks hold."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from dumbbell.hints import nearest
from dumbbell.scenario.model import Scenario
from dumbbell.scenario.source import Finding, Key, dotted, show
from dumbbell.scenario.study import CASE, Expectation, Sweep
from dumbbell.studies import measures
from dumbbell.studies.cells import KEYS, Cell, keys, written
from dumbbell.studies.expectations import is_meant
from dumbbell.studies.planning import Planned
from dumbbell.units import QuantityError

if TYPE_CHECKING:
    from dumbbell.statistics.metrics.model import Metric

NOT_VARIED: Final = {
    "seed": ("a seed makes a repetition, not a cell", "repeat a cell with other seeds: repeat = 10"),
    "name": ("the study's name is its runs' name", 'give cells names by [[sweep.cases]] with name = "..."'),
    **dict.fromkeys(KEYS, ("it is the study's, not a cell's", "")),
}
"""Keys that can't differ between cells."""

MOST_LISTED: Final = 12
"""The most names in an error; many connections have thousands."""


def check(scenario: Scenario, cells: Sequence[Cell]) -> Iterator[Finding]:
    """All problems of a well-formed study."""
    for key in keys(cells):
        if (found := NOT_VARIED.get(key.split(".")[0])) and (key.split(".")[0] == key or key.split(".")[0] in KEYS):
            yield Finding(("sweep", key), found[0], "a key of the network, the flows or the hosts", found[1])
    yield from _twice(scenario.sweep)
    if scenario.repeat.least > scenario.repeat.most:
        yield Finding(("repeat", "least"), "more than most", f"at most {scenario.repeat.most}")
    for i in range(len(scenario.expect)):
        yield from _where(("expect", i, "where"), scenario, i, cells)
    yield from _places(scenario, cells)


def _places(scenario: Scenario, cells: Sequence[Cell]) -> Iterator[Finding]:
    """Keys of plots that the study does not vary. A key that was set outside the file may be gone."""
    varied = keys(cells)
    known = {*varied, *(key.rpartition(".")[2] for key in varied), "none", "algorithm"}
    columns = scenario.report.columns
    if columns is not None and not scenario.source.overrides and columns not in known - {"none"}:
        hint = nearest(columns, known)
        yield Finding(("report", "columns"), f"{columns} is not varied", f"one of {', '.join(varied)}", hint)
    for i, plot in enumerate(scenario.report.plots if not scenario.source.overrides else ()):
        places = [("across", plot.across), ("curves", plot.curves), *(("panels", key) for key in plot.panels)]
        for place, key in (*places, *(("where", key) for key in plot.where)):
            if key is not None and key not in known:
                hint = nearest(key, known)
                yield Finding(
                    ("report", "plots", i, place), f"{key} is not varied", f"one of {', '.join(varied)}", hint
                )


def unused(scenario: Scenario, cells: Sequence[Cell]) -> list[str]:
    """Values of `--set` that every cell replaces, as they were written."""
    given = scenario.source.overrides.items()
    return [text for key, text in given if text.startswith("--set ") and all(dotted(key) in cell for cell in cells)]


def _twice(sweep: Sweep) -> Iterator[Finding]:
    """Values of a key that are listed twice: their cells would be the same runs."""
    for key, listed in sweep.lists.items():
        written = [show(value) for value in listed]
        for i, text in enumerate(written):
            if text in written[:i]:
                yield Finding(("sweep", key, i), "listed twice", "each value once", "repeat = 2 runs each cell twice")
                break


def check_metrics(scenario: Scenario) -> Iterator[Finding]:
    """Problems with the metrics that repetitions and expectations name."""
    if scenario.repeat.until is not None:
        yield from _metric(("repeat", "of"), scenario.repeat.of, None)
    for i, expected in enumerate(scenario.expect):
        at: Key = ("expect", i)
        wrong = list(_metric((*at, "metric"), expected.metric, expected.of))
        yield from wrong or _bounds(at, expected)
    for i, plot in enumerate(scenario.report.plots):
        yield from _known(("report", "plots", i, "metric"), plot.metric)


def _known(at: Key, name: str) -> Iterator[Finding]:
    # Importing it takes a while, and then planning can't use several processes.
    from dumbbell.statistics.metrics import METRICS

    if name not in METRICS:
        yield Finding(at, "unknown metric", f"one of {', '.join(METRICS)}", nearest(name, METRICS))


def _metric(at: Key, name: str, of: str | None) -> Iterator[Finding]:
    from dumbbell.statistics.metrics import METRICS

    metric = METRICS.get(name)
    if metric is None:
        yield from _known(at, name)
    elif of is not None and metric.scopes == (measures.RUN,):
        yield Finding((*at[:-1], "of"), f"{name} describes the whole run", "no `of`", "omit of")
    elif of is None and measures.needs_of(metric):
        yield Finding(at, f"{name} describes some flows", "an algorithm, a group or a flow", 'add of = "cubic"')


def _bounds(at: Key, expected: Expectation) -> Iterator[Finding]:
    from dumbbell.statistics.metrics import METRICS

    found: list[float | None] = []
    places: tuple[Key, Key] = (("within", 0), ("within", 1)) if expected.within is not None else (("min",), ("max",))
    for place, bound in zip(places, expected.bounds, strict=True):
        try:
            found.append(measures.read(METRICS[expected.metric], bound))
        except QuantityError as error:
            yield Finding((*at, *place), error.wrong, error.expected, error.hint)
    low, high = found if len(found) == 2 else (None, None)
    if low is not None and high is not None and low > high:
        hint = "exchange them" if expected.within is not None else "exchange min and max"
        yield Finding(
            (*at, *places[1]), "below the lower bound: no value is within", f"at least {expected.bounds[0]}", hint
        )


def check_names(scenario: Scenario, cells: Sequence[Cell], plans: Sequence[Planned]) -> Iterator[Finding]:
    """Problems with `of`: names that a cell of the expectation lacks, which would leave the expectation undecided.

    A key that was set outside the file may have replaced the name.
    """
    from dumbbell.statistics.metrics import METRICS

    for i, expected in enumerate(scenario.expect):
        metric = METRICS.get(expected.metric)
        if metric is None or expected.of is None or not measures.kinds(metric):
            continue
        if any(_may_rename(metric, key) for key in scenario.source.overrides):
            continue
        having = {cell: _has(plans[cell], metric, expected.of) for cell in _meant(expected, cells)}
        if not all(having.values()):
            yield _no_such(("expect", i, "of"), metric, expected.of, having, cells, plans)


def _meant(expected: Expectation, cells: Sequence[Cell]) -> Iterator[int]:
    return (cell for cell, values in enumerate(cells) if is_meant(expected, values))


def _no_such(
    at: Key, metric: Metric, name: str, having: Mapping[int, bool], cells: Sequence[Cell], plans: Sequence[Planned]
) -> Finding:
    """The problem of an expectation that some of its cells can't decide: a mistyped name, or `where` is missing."""
    *others, last = measures.kinds(metric)
    wrong = f"no such {', '.join(others)} or {last}" if others else f"no such {last}"
    without = next(cell for cell, has in having.items() if not has)
    within = next((cell for cell, has in having.items() if has), None)
    if within is None:
        found = measures.names(metric, plans[without].read())
        return Finding(at, wrong, f"one of {_listed(found)}", nearest(name, found))
    differing = {key: value for key, value in cells[within].items() if cells[without].get(key) != value}
    hint = f"say in which cells, such as where = {show(differing)}"
    return Finding(at, f"{wrong} in the cell {written(cells[without])}", "only cells that have it", hint)


def _may_rename(metric: Metric, override: Key) -> bool:
    """True if a key that was set outside the file decides which links or flows exist."""
    key = str(override[1] if override[0] == "sweep" and len(override) > 1 else override[0])
    makers = ("topology", "events") if measures.LINK in measures.kinds(metric) else ("flows",)
    return key.split(".")[0] in (*makers, "zip", "cases")


def _has(planned: Planned, metric: Metric, name: str) -> bool:
    return any(name in measures.names(metric, plan) for plan in planned.read_all())


def _listed(names: Sequence[str]) -> str:
    more = f", ... ({len(names):,} in all)" if len(names) > MOST_LISTED else ""
    return ", ".join(names[:MOST_LISTED]) + more


def _where(at: Key, scenario: Scenario, i: int, cells: Sequence[Cell]) -> Iterator[Finding]:
    """Problems with a cell that does not exist. A value that --vary has replaced is no problem."""
    for key, wanted in scenario.expect[i].where.items():
        if key not in keys(cells):
            hint = f"varied are {', '.join(keys(cells))}" if keys(cells) else "nothing is varied here: omit where"
            yield Finding(
                (*at, key), "not varied", "a key of [sweep]" + (f", or {CASE}" if CASE in keys(cells) else ""), hint
            )
        elif ("sweep", key) not in scenario.source.overrides:
            values = [cell[key] for cell in cells if key in cell]
            missing = [one for one in (wanted if isinstance(wanted, list) else [wanted]) if one not in values]
            if missing and wanted not in values:
                wrong = f"no cell has {show(missing[0])}"
                yield Finding((*at, key), wrong, f"one of {', '.join(dict.fromkeys(map(str, values)))}", "")

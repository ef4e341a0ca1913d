"""What takes the cells of a study to judge. Nothing is started before all of it is right."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from typing import Final

from dumbbell.scenario.model import Scenario
from dumbbell.scenario.source import Finding, Key
from dumbbell.scenario.study import CASE, Expectation
from dumbbell.studies import measures
from dumbbell.studies.cells import KEYS, Cell, keys

NOT_VARIED: Final = {
    "seed": ("a seed makes a repetition, not a cell", "repeat a cell with other seeds: repeat = 10"),
    "name": ("the study's name is its runs' name", 'give cells names by [[sweep.cases]] with name = "..."'),
    **dict.fromkeys(KEYS, ("it is the study's, not a cell's", "")),
}
"""Keys that can't differ between cells."""


def check(scenario: Scenario, cells: Sequence[Cell]) -> Iterator[Finding]:
    """All that is wrong with a well-formed study."""
    for key in keys(cells):
        if (found := NOT_VARIED.get(key.split(".")[0])) and (key.split(".")[0] == key or key.split(".")[0] in KEYS):
            yield Finding(("sweep", key), found[0], "a key of the network, the flows or the hosts", found[1])
    if scenario.repeat.least > scenario.repeat.most:
        yield Finding(("repeat", "least"), "more than most", f"at most {scenario.repeat.most}")
    for i in range(len(scenario.expect)):
        yield from _where(("expect", i, "where"), scenario, i, cells)


def check_metrics(scenario: Scenario) -> Iterator[Finding]:
    """Those that repetitions and expectations are about."""
    if scenario.repeat.until is not None:
        yield from _metric(("repeat", "of"), scenario.repeat.of, None)
    for i, expected in enumerate(scenario.expect):
        at: Key = ("expect", i)
        wrong = list(_metric((*at, "metric"), expected.metric, expected.of))
        yield from wrong or _bounds(at, expected)


def _metric(at: Key, name: str, of: str | None) -> Iterator[Finding]:
    # Importing it takes a while, and then planning can't use several processes.
    from dumbbell.statistics.metrics import METRICS

    metric = METRICS.get(name)
    if metric is None:
        close = difflib.get_close_matches(name, METRICS, n=1)
        hint = f"did you mean {close[0]}?" if close else ""
        yield Finding(at, "unknown metric", f"one of {', '.join(METRICS)}", hint)
    elif of is not None and metric.scopes == (measures.RUN,):
        yield Finding((*at[:-1], "of"), f"{name} is of the whole run", "no `of`", "leave of out")
    elif of is None and measures.needs_of(metric):
        yield Finding(at, f"{name} is of some flows", "an algorithm, a group or a flow", 'add of = "cubic"')


def _bounds(at: Key, expected: Expectation) -> Iterator[Finding]:
    from dumbbell.statistics.metrics import METRICS

    for bound in expected.bounds:
        try:
            measures.read(METRICS[expected.metric], bound)
        except ValueError as error:
            yield Finding(at, str(error), f"a number, or a text with a unit of {expected.metric}")


def _where(at: Key, scenario: Scenario, i: int, cells: Sequence[Cell]) -> Iterator[Finding]:
    """A cell that the file has not. What --vary has replaced may well be gone."""
    for key, wanted in scenario.expect[i].where.items():
        if key not in keys(cells):
            hint = f"varied are {', '.join(keys(cells))}" if keys(cells) else "nothing is varied here: leave where out"
            yield Finding(
                (*at, key), "not varied", "a key of [sweep]" + (f", or {CASE}" if CASE in keys(cells) else ""), hint
            )
        elif ("sweep", key) not in scenario.source.overrides:
            values = [cell[key] for cell in cells if key in cell]
            missing = [one for one in (wanted if isinstance(wanted, list) else [wanted]) if one not in values]
            if missing and wanted not in values:
                yield Finding((*at, key), "no such cell", f"one of {', '.join(dict.fromkeys(map(str, values)))}", "")

"""Meaning of a text, and what is wrong with it: in the words of the command line, from the same code."""

from __future__ import annotations

import math
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import field, replace
from pathlib import Path
from typing import Final

from dumbbell.engines.missing import missing
from dumbbell.engines.registry import DEFAULT, engine
from dumbbell.errors import DumbbellError, InputError, ScenarioError
from dumbbell.frozen import dataclass
from dumbbell.labs.build import LabScenario
from dumbbell.plan.expand import expand
from dumbbell.scenario.file.loading import Draft, checked, not_toml
from dumbbell.scenario.file.toml import TOMLDecodeError
from dumbbell.scenario.model import Scenario
from dumbbell.scenario.understood import Understood
from dumbbell.server.drawing import draw, plain
from dumbbell.server.messages import Drawing, Problem
from dumbbell.server.problems import problem, problems
from dumbbell.server.reading import values
from dumbbell.server.ways import led
from dumbbell.studies.cells import is_study
from dumbbell.studies.programs import programs

MOST_CELLS: Final = 100_000
"""Cells that are looked at before a run: more would keep the page waiting."""


@dataclass(frozen=True)
class Checked:
    """Result of checking a text."""

    problems: list[Problem] = field(default_factory=list)
    lacks: list[Problem] = field(default_factory=list)
    drawing: Drawing | None = None
    """`None`: it says nothing that could be drawn."""
    duration_s: float | None = None
    study_runs: int | None = None
    programs: tuple[str, ...] | None = None
    """Programs that a run or a lab of it starts on this machine; `None`: nobody knows, as it means nothing."""
    data: Mapping[str, object] | None = None
    """Values of the text, as JSON; `None`: it is no TOML."""
    scenario: Scenario | None = field(default=None, repr=False)
    """`None`: there are problems."""


def check(text: str, path: Path, name: str = "", understood: Understood | None = None) -> Checked:
    """Check a text as the content of a scenario's file.

    Args:
        text: of the scenario.
        path: of its file, from whose folder other files are found.
        name: what errors call it, as the command line does; without one, the file's name.
        understood: tables of this file's earlier texts.
    """
    name = name or path.name
    try:
        data = dict(values(text))
    except TOMLDecodeError as error:
        return Checked([problem(not_toml(name, text, str(error)))])
    draft = Draft(name, text, data, path.parent, {})
    found: list[Problem] = []
    scenario: Scenario | None = None
    try:
        scenario = checked(draft, understood=understood)
    except DumbbellError as error:
        found = problems(error, data)
    except RecursionError:
        found = [Problem(what=f"{name}: nested too deeply")]
    return Checked(
        found,
        [],
        draw(data, path.parent, scenario, found, None if scenario is not None else _network(draft, understood)),
        None if scenario is None else float(scenario.duration) / 1e9,
        _runs(draft, scenario),
        _programs(draft, scenario, understood),
        plain(data),
        scenario,
    )


def looked_further(known: Checked, may_start: bool) -> Checked:
    """The same with what shows only in the plan, and with what this machine lacks. That takes longer in large networks:
    each router has a route to each subnet.

    Args:
        known: of the text.
        may_start: true if its programs may be compiled, loaded and read by other programs.
    """
    scenario = known.scenario
    if scenario is None:
        return known
    data = scenario.source.data
    try:
        plan = expand(scenario)
    except DumbbellError as error:
        return replace(known, problems=problems(error, data))
    if known.drawing is not None:
        known = replace(known, drawing=led(known.drawing, plan))
    try:
        return replace(known, lacks=[problem(one, data) for one in missing(engine(DEFAULT), scenario, plan, may_start)])
    except InputError as error:
        return replace(known, lacks=problems(error, data))


_TRAFFIC: Final = ("duration", "flows", "events")
"""Keys that the addresses of a network do not depend on."""


def _network(draft: Draft, understood: Understood | None) -> Scenario | None:
    """The network of a text that has no traffic yet, or none without problems; `None` if the network has some, too."""
    with suppress(DumbbellError, RecursionError):
        rest = {key: value for key, value in draft.data.items() if key not in _TRAFFIC}
        return checked(replace(draft, data=rest), LabScenario, understood)
    return None


def _programs(draft: Draft, scenario: Scenario | None, understood: Understood | None) -> tuple[str, ...] | None:
    with suppress(DumbbellError, RecursionError):
        if scenario is None and not draft.data.get("flows"):
            scenario = checked(draft, LabScenario, understood)  # A lab needs no flows.
        return None if scenario is None else programs(draft, scenario)
    return None


def _runs(draft: Draft, scenario: Scenario | None) -> int | None:
    """The least number of runs of a study; `None` for a single run."""
    if scenario is None or not is_study(draft):
        return None
    if (number := math.prod(len(axis) for axis in scenario.sweep.axes)) > MOST_CELLS:
        return scenario.repeat.least * number
    from dumbbell.studies.prepared import prepared

    try:
        base, cells = prepared(draft)
    except (DumbbellError, ScenarioError):
        return None
    return base.repeat.least * len(cells)

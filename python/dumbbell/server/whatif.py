"""Plans for "What if", of a scenario with other values, which the page simulates by itself.

The planner is the command line's: a slider's value is an override as after `--set`, and what comes back is what
`dumbbell run --engine simulate` would carry out. So a saved scenario gives exactly what was seen.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from fastapi import APIRouter, Request
from starlette.concurrency import run_in_threadpool

from dumbbell.engines.registry import engine, first
from dumbbell.errors import InputError, ScenarioError
from dumbbell.pipeline.planned import planned
from dumbbell.plan import wire
from dumbbell.plan.types import ObjectSource, Plan
from dumbbell.scenario import load
from dumbbell.scenario.file.loading import Draft as Values
from dumbbell.scenario.file.loading import read
from dumbbell.scenario.model import Scenario
from dumbbell.scenario.source import Key
from dumbbell.server import run_places
from dumbbell.server.documents import Documents
from dumbbell.server.draft import Draft
from dumbbell.server.files import create
from dumbbell.server.http_messages import FileEntry
from dumbbell.server.knobs import knobs
from dumbbell.server.legend import of_plan
from dumbbell.server.whatif_messages import Knobs, PlanAsked, Planned, SaveAsked

_FRAME_BITS: Final = 12_112
"""Bits of a full packet."""
MOST_ROWS: Final = 5_000_000
"""Samples of flows and links: a page's curves take about 100 bytes for each."""


def router(root: Path) -> APIRouter:
    """The routes of the workspace `root`."""
    made = APIRouter(prefix="/api/whatif")

    @made.get("/knobs")
    async def all_knobs(path: str, request: Request) -> Knobs:
        """The values of a scenario that can be turned."""
        await _documents(request).settle(path)
        return await run_in_threadpool(_knobs, root, path)

    @made.post("/plan")
    async def plan(asked: PlanAsked, request: Request) -> Planned:
        """The plan of a scenario with other values. What is wrong with them is answered as the command line says it."""
        await _documents(request).settle(asked.path)
        return await run_in_threadpool(_planned, root, asked)

    @made.post("/save")
    async def save(asked: SaveAsked, request: Request) -> FileEntry:
        """Write a copy of a scenario with other values; comments and order stay."""
        documents = _documents(request)
        await documents.settle(asked.path)
        return await run_in_threadpool(_saved, documents, root, asked)

    return made


def of_scenario(scenario: Scenario) -> Planned:
    """The plan of a scenario. Raises `DumbbellError` if it can't be simulated."""
    simulator = engine(first(lambda known: known.models_tcp))
    plan = planned(simulator, scenario)
    for one in plan.algorithms:
        if isinstance(one.source, ObjectSource):  # The check would compile it, and nobody has agreed to that.
            why, hint = "it is a BPF program, and the page has no compiler", "run it with the engine simulate"
            raise InputError(f"the congestion control {one.label} cannot be simulated here", why, hint)
    rows = plan.duration_ns // plan.record.sample_interval_ns * (len(plan.flows) + len(plan.links))
    if rows > MOST_ROWS:
        why = f"it has {rows:,} samples of flows and links, and a page has room for {MOST_ROWS:,}"
        raise InputError("the run is too long to be drawn here", why, "set a longer record.sample_interval")
    text = wire.text(plan)
    if problems := simulator.check(scenario, plan):
        raise ScenarioError(problems)
    return Planned(plan=text, legend=of_plan(plan), packets=_packets(plan))


def _documents(request: Request) -> Documents:
    documents: Documents = request.app.state.documents
    return documents


def _knobs(root: Path, path: str) -> Knobs:
    file = run_places.scenario(root, path)
    scenario = _as_in(root, file, [])
    found = knobs(scenario.source.data, float(scenario.duration) / 1e9)
    return Knobs(name=scenario.name, knobs=found)


def _planned(root: Path, asked: PlanAsked) -> Planned:
    return of_scenario(_as_in(root, run_places.scenario(root, asked.path), asked.overrides))


def _as_in(root: Path, file: Path, overrides: list[str]) -> Scenario:
    """A scenario; what is wrong with it is said as a command line in the workspace says it."""
    try:
        return load(file, overrides)
    except ScenarioError as error:
        raise run_places.as_in(root, error) from None


def _saved(documents: Documents, root: Path, asked: SaveAsked) -> FileEntry:
    file = run_places.scenario(root, asked.path)
    now = read(file, asked.overrides)
    return create(documents, asked.to, changed(now.text, now), file)


def changed(text: str, now: Values) -> str:
    """The text of a scenario with the values that were set outside it; comments and order stay."""
    draft = Draft(text)
    for way in now.places:
        draft.set(way, _at(now.data, way))
    return draft.finished()


def _at(held: Any, way: Key) -> Any:
    for part in way:
        held = held[part]
    return held


def _packets(plan: Plan) -> float:
    """Most packets that the links which limit flows can carry: each crosses one of them, and its ACK comes back."""
    rates = [link.rate_bps for link in plan.links if link.rate_bps is not None]
    fastest = max(rates, default=0)
    return 1.5 * fastest * (plan.duration_ns / 1e9) / _FRAME_BITS

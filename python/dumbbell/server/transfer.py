"""Networks of other tools, in and out, and plans of texts. Nothing here writes a file."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from fastapi import APIRouter, Query, Request
from starlette.concurrency import run_in_threadpool

from dumbbell import inputs
from dumbbell.command import command
from dumbbell.engines.missing import missing
from dumbbell.engines.registry import DEFAULT, engine, option
from dumbbell.errors import DumbbellError, InputError, ScenarioError
from dumbbell.labs.build import of_draft
from dumbbell.labs.exports import FORMATS
from dumbbell.labs.imports import plannable, unconfigured, with_daemons
from dumbbell.plan.expand import expand
from dumbbell.plan.view import tables
from dumbbell.plan.wire import document
from dumbbell.scenario.file.foreign import containerlab, kathara, miniedit
from dumbbell.scenario.file.foreign.frr import beside as files_beside
from dumbbell.scenario.file.foreign.frr import none
from dumbbell.scenario.file.loading import Draft, checked, not_toml
from dumbbell.scenario.file.overrides import apply
from dumbbell.scenario.file.toml import TOMLDecodeError, parse
from dumbbell.scenario.resolve import resolve
from dumbbell.scenario.source import show
from dumbbell.server.disk import read as read_files
from dumbbell.server.documents import Documents
from dumbbell.server.http_messages import Exported, Import, Imported, Planned, PlanRequest, PlanTable
from dumbbell.server.messages import Layout, Point, Problem
from dumbbell.server.problems import problem, problems
from dumbbell.server.workspace import SCENARIO, Workspace
from dumbbell.studies.programs import programs

LARGEST: Final = 8_000_000
"""Bytes of a file that is imported from the workspace."""
BY_ENDING: Final = {".mn": "mn", ".yml": "containerlab", ".yaml": "containerlab", ".conf": "kathara", ".toml": "toml"}
MARGIN: Final = 60
"""Pixels from the edge of MiniEdit's canvas to the first node, if it would lie beyond it."""
router = APIRouter(prefix="/api")


@router.post("/import")
def import_(request: Request, asked: Import) -> Imported:
    """A scenario of another tool's network. No command of the file is run."""
    workspace: Workspace = request.app.state.workspace
    file = workspace.path(asked.path) if asked.path is not None else None
    text, beside = asked.text, file.parent if file is not None else None
    if text is None:
        if file is None:
            raise InputError("nothing to import", "neither a text nor a path")
        if file.is_dir() and (file / "lab.conf").is_file():
            file, beside = file / "lab.conf", file
        text = inputs.read_named(file, LARGEST, file.name)
    base = Path(asked.name).name
    kind = BY_ENDING.get(Path(base).suffix, "mn") if asked.format == "auto" else asked.format
    stem = beside.name if kind == "kathara" and beside is not None else base.partition(".")[0]
    name = re.sub(r"[^A-Za-z0-9._-]", "-", stem).lstrip("._-")[:64] or "imported"
    free = _free(workspace, name)
    if kind == "toml":
        try:
            parse(text)
        except TOMLDecodeError as error:
            raise InputError(not_toml(name, text, str(error)).what) from None
        return Imported(name=free, text=text, layout=None, notes=[], unconfigured=[])
    read, told = _read(kind, text, name, beside, workspace.root)
    without = unconfigured(read)
    made, notes = plannable((with_daemons(read) if asked.routers == "frr" else read, told), workspace.root)
    laid = places(text) if kind == "mn" else None
    return Imported(name=free, text=made, layout=laid, notes=notes, unconfigured=without)


def _read(kind: str, text: str, name: str, beside: Path | None, root: Path) -> tuple[str, list[str]]:
    """A scenario of another tool's network as its reader makes it, and its notes."""
    match kind:
        case "mn":
            return miniedit.scenario(text, name)
        case "containerlab":
            return containerlab.scenario(text, name, none if beside is None else files_beside(beside, root))
        case "kathara":
            if beside is None:
                return kathara.scenario(text, name, lambda _: None)
            return kathara.of_folder(text, name, beside, root)
        case "mahimahi":
            raise InputError(
                "a trace is not a network",
                "it is the rate of a link",
                'put it beside the scenario: rate = { trace = "FILE" }',
            )
        case _:
            raise InputError(f"no format {kind}", f"expected one of {', '.join(BY_ENDING.values())}")


def _free(workspace: Workspace, name: str) -> str:
    """The path of a new scenario that is not taken."""
    number, path = 1, f"{name}{SCENARIO}"
    while (workspace.root / path).exists():
        number += 1
        path = f"{name}-{number}{SCENARIO}"
    return path


def places(text: str) -> Layout | None:
    """Where MiniEdit draws the nodes; `None` if the file does not say it."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return None
    found: dict[str, Point] = {}
    for kind, letter in (("hosts", "h"), ("switches", "s")):
        listed = data.get(kind) if isinstance(data, dict) else None
        for one in listed if isinstance(listed, list) else []:
            # A node without a place, or with none that a drawing has, is laid out as others are.
            with suppress(ValueError, TypeError, AttributeError, LookupError, OverflowError):
                name = str((one.get("opts") or {}).get("hostname") or f"{letter}{one.get('number', '')}")
                found[name] = Point(x=round(float(one["x"])), y=round(float(one["y"])))
    return Layout(nodes=found) if found else None


@router.get("/export")
async def export(
    request: Request,
    path: str,
    form: Annotated[Literal["miniedit", "containerlab", "python", "toml"], Query(alias="as")] = "miniedit",
) -> Exported:
    """A scenario's network as a file of another program, or its text. The page itself makes SVG and PNG."""
    documents: Documents = request.app.state.documents
    await documents.settle(path)
    file = documents.workspace.writable(path)
    return await run_in_threadpool(_exported, file, form)


def _exported(file: Path, form: str) -> Exported:
    found = read_files(file)
    if found.text is None:
        raise InputError(f"there is no {file.name}")
    stem = file.name.removesuffix(SCENARIO)
    if form == "toml":
        return Exported(name=file.name, text=found.text, notes=[])
    try:
        data = parse(found.text)
    except TOMLDecodeError as error:
        raise ScenarioError([not_toml(file.name, found.text, str(error))]) from None
    scenario = of_draft(Draft(file.name, found.text, data, file.parent, {}))
    chosen = FORMATS[form]
    made, notes = chosen.write(scenario)
    if form == "miniedit":
        made = placed(made, found.parsed_layout)
    return Exported(name=f"{stem}{chosen.end}", text=made, notes=notes)


def placed(text: str, layout: Layout) -> str:
    """A file of MiniEdit whose nodes stand as they are drawn here, moved so that all are on its canvas."""
    if not layout.nodes:
        return text
    found = json.loads(text)
    left, top = (min(getattr(at, axis) for at in layout.nodes.values()) for axis in "xy")
    right, down = (MARGIN - least if least < 0 else 0 for least in (left, top))
    for one in (*found["hosts"], *found["switches"]):
        at = layout.nodes.get(one["opts"]["hostname"])
        if at is not None:
            one["x"], one["y"] = f"{at.x + right}.0", f"{at.y + down}.0"
    return json.dumps(found, indent=4, sort_keys=True) + "\n"


@router.post("/plan")
def plan(request: Request, asked: PlanRequest) -> Planned:
    """The plan of a text or a file, with other values, or all that is wrong with it."""
    workspace: Workspace = request.app.state.workspace
    file = workspace.writable(asked.path) if asked.path is not None else workspace.root / "scenario.toml"
    text = asked.text if asked.text is not None else inputs.read_named(file, LARGEST, file.name)
    chosen = engine(asked.engine or DEFAULT)
    sets = [word for key, value in asked.overrides.items() for word in ("--set", f"{key}={_shown(value)}")]
    name = asked.path or file.name
    told = command("run", asked.path or "scenario.toml", *sets, *option(chosen.capabilities.name))
    try:
        data = parse(text)
    except TOMLDecodeError as error:
        return _not_planned([problem(not_toml(name, text, str(error)))], told)
    try:
        given = apply(data, asked.overrides, name)
        draft = Draft(name, text, data, file.parent, given)
        scenario = checked(draft)
        found = chosen.capabilities.settle(expand(scenario), scenario)
        documents: Documents = request.app.state.documents
        may_start = documents.agreement.has(programs(draft, scenario))
        lacks = [problem(one, data) for one in missing(chosen, scenario, found, may_start)]
    except DumbbellError as error:
        return _not_planned(problems(error, data), told)
    shown = [
        PlanTable(title=table.title, columns=table.columns, rows=table.rows)
        for table in tables(found, resolve(scenario).network.rtts)
    ]
    written: Mapping[str, object] = document(found)
    return Planned(plan=dict(written), problems=[], lacks=lacks, tables=shown, command=told)


def _shown(value: Any) -> str:
    return value if isinstance(value, str) else show(value)


def _not_planned(problems: list[Problem], command: str) -> Planned:
    return Planned(plan=None, problems=problems, lacks=[], tables=[], command=command)

"""Configurations of routers as files beside their scenario: shown, checked by FRR, written.

Nothing here starts a daemon. A configuration that was written is asked about before the next run or lab, as is any
other file that a scenario starts.
"""

from __future__ import annotations

from pathlib import Path, PurePosixPath

from fastapi import APIRouter, Request
from starlette.concurrency import run_in_threadpool

from dumbbell import outputs
from dumbbell.engines.realm.routing import routers
from dumbbell.errors import DumbbellError, InputError, ScenarioError
from dumbbell.labs.build import LabScenario
from dumbbell.labs.configurations import free_file
from dumbbell.plan.expand import expand
from dumbbell.routing import frr
from dumbbell.scenario.file.loading import checked, read
from dumbbell.scenario.topology.nodes import Router
from dumbbell.server import messages as m
from dumbbell.server import run_places
from dumbbell.server.documents import Documents
from dumbbell.server.http_messages import CheckConfiguration, Configuration, ConfigurationCheck, SaveConfiguration
from dumbbell.server.workspace import Workspace

router = APIRouter(prefix="/api/configuration")


@router.get("")
async def show(request: Request, path: str, router: str) -> Configuration:
    """The configuration with which a router's daemons start."""
    documents: Documents = request.app.state.documents
    await documents.settle(path)
    return await run_in_threadpool(_show, documents.workspace, path, router)


@router.post("/check")
def check(asked: CheckConfiguration) -> ConfigurationCheck:
    """FRR's own check of a text, which carries out nothing."""
    return _check(asked.router, asked.text)


@router.post("")
async def save(request: Request, asked: SaveConfiguration) -> ConfigurationCheck:
    """Write a configuration beside its scenario, which names the file from then on."""
    documents: Documents = request.app.state.documents
    await documents.settle(asked.path)
    now = await run_in_threadpool(_show, documents.workspace, asked.path, asked.router)
    file = await run_in_threadpool(_write, documents.workspace, asked, now)
    if not now.is_written:
        node: m.Key = ["topology", "nodes", asked.router]
        named: list[m.Edit] = [m.Unset(key=[*node, "bare"]), m.Set(key=[*node, "frr"], value=now.file)]
        label = f"configuration of {asked.router}"
        try:
            await documents.change(asked.path, m.Batch(commands=named, label=label), "configuration")
        except DumbbellError:
            file.unlink()
            raise
    return await run_in_threadpool(_check, asked.router, asked.text)


def _show(workspace: Workspace, path: str, name: str) -> Configuration:
    """Raises `InputError` if the scenario has no such router of its own."""
    file = workspace.writable(path)
    try:
        draft = read(file)
        scenario = checked(draft, LabScenario)
    except ScenarioError as error:
        raise run_places.as_in(workspace.root, error) from None
    node = scenario.topology.drawing.nodes.get(name)
    if not isinstance(node, Router):
        raise InputError(f"{path} has no router {name}", "only routers have configurations", "choose a router")
    if name not in draft.data["topology"].get("nodes", {}):
        why = "the router is one of a preset or a file"
        raise InputError(f"no configuration of {name} can be written", why, 'choose "Make it free" first')
    if node.frr is not None:
        return Configuration(file=node.frr.name, text=node.frr.text, is_written=True)
    routing = routers(expand(scenario)).get(name)
    return Configuration(file=free_file(file, name).name, text=routing.config if routing else "", is_written=False)


def _write(workspace: Workspace, asked: SaveConfiguration, now: Configuration) -> Path:
    """Returns the file.

    Raises:
        InputError: it lies outside of the workspace, or it is there although the scenario does not name it.
    """
    file = workspace.path(str(PurePosixPath(asked.path).parent / now.file))
    text = asked.text if asked.text.endswith("\n") else f"{asked.text}\n"
    if now.is_written:
        outputs.write(file, text)
    else:
        outputs.write_new(file, text)
    return file


def _check(name: str, text: str) -> ConfigurationCheck:
    if frr.lacking(()):
        return ConfigurationCheck(is_checked=False, line=None, said=f"This machine cannot check it: {frr.PACKAGE}.")
    complaint = next(iter(frr.complaints({name: text})), None)
    if complaint is None:
        return ConfigurationCheck(is_checked=True, line=None, said="")
    said = f"FRR does not understand `{complaint.text}`: {complaint.said}"
    return ConfigurationCheck(is_checked=True, line=complaint.line, said=said)

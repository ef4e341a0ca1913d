"""Facts that the page asks once: versions, engines, the schema, what this machine can do."""

from __future__ import annotations

import os

from fastapi import APIRouter, Request

import dumbbell
from dumbbell.cc.bundled import BUNDLED
from dumbbell.doctor import Level, examine
from dumbbell.engines import registry
from dumbbell.plan import algorithms
from dumbbell.records.manifest import core_version
from dumbbell.scenario.file.schema import json_schema
from dumbbell.server import assets
from dumbbell.server.http_messages import About, Check, Engine

router = APIRouter(prefix="/api")


@router.get("/about")
def about(request: Request) -> About:
    """Versions, engines, algorithms."""
    return About(
        version=dumbbell.__version__,
        core=core_version() or "missing",
        assets=assets.version(),
        workspace=str(request.app.state.workspace.root),
        engines=[_engine(name) for name in registry.names()],
        algorithms=list(dict.fromkeys([*BUNDLED, *algorithms.available()])),
        root=os.geteuid() == 0,
    )


def _engine(name: str) -> Engine:
    real_time = registry.capabilities(name).real_time
    return Engine(name=name, description=registry.phrase(name), real_time=real_time)


@router.get("/schema")
def schema() -> dict[str, object]:
    """The JSON Schema of scenarios, from which forms are made."""
    return json_schema()


@router.get("/doctor")
def doctor() -> list[Check]:
    """Checks what this machine can do, and how to get more. A small lab is built as a test, which takes a second."""
    return [
        Check(name=one.name, state=str(one.level), text=one.detail, fix="" if one.level is Level.OK else one.fix)
        for one in examine()
    ]

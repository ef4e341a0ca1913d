"""The plan of a run on disk."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from pydantic import ValidationError

from dumbbell.documents import content, damaged
from dumbbell.errors import Damaged
from dumbbell.plan import wire
from dumbbell.plan.network import network
from dumbbell.plan.types import Plan

_HINT: Final = "another version wrote it, or it is damaged; repeat the run"


def read_plan(path: Path) -> Plan:
    """The plan in a file. Raises `DumbbellError` unless it is one that an engine would carry out."""
    try:
        plan = wire.read(content(path))
    except ValidationError as error:
        raise damaged(path, error, _HINT) from error
    try:
        network(plan)
    except RuntimeError as error:
        raise Damaged(f"{path} cannot be read", str(error), _HINT) from error
    return plan

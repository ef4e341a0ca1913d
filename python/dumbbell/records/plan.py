"""The plan of a run on disk."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from pydantic import ValidationError

from dumbbell.core import core
from dumbbell.documents import MOST_VALUES_OF_PLAN, check_values, content, damaged
from dumbbell.errors import Damaged
from dumbbell.outputs import write
from dumbbell.plan import wire
from dumbbell.plan.types import Plan
from dumbbell.records.files import MOST_INDENTED, write_json

_HINT: Final = "another version wrote it, or it is damaged; repeat the run"


def write_plan(path: Path, plan: Plan) -> None:
    """Write `plan` so that a reader sees the former content or all of the new one."""
    text = wire.text(plan)
    if len(text) > MOST_INDENTED:
        write(path, text + "\n")
    else:
        write_json(path, wire.document(plan))


def read_plan(path: Path, written: Plan | None = None) -> Plan:
    """The plan in a file. Raises `DumbbellError` unless it is one that an engine would carry out.

    `written`: the plan that the file had first. If it still has it and is large, that is not parsed again.
    """
    found = content(path)
    if written is not None and found == f"{wire.text(written)}\n".encode():
        return written
    check_values(path, found, MOST_VALUES_OF_PLAN)
    try:
        # What is no plan is refused by the core, in little memory: pydantic's errors have copies of all of it.
        core.network(found.decode())
        return wire.read(found)
    except ValidationError as error:
        raise damaged(path, error, _HINT) from error
    except (RuntimeError, UnicodeDecodeError) as error:
        raise Damaged(f"{path} cannot be read", str(error), _HINT) from error

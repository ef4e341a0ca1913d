"""Programs that a scenario starts on this machine, ways that it opens, and a guard: none to which its user has not
agreed.

The guard looks at what runs, not at files that were read before: they may have changed since.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import Any, Final

from pydantic import BaseModel

from dumbbell.errors import InputError
from dumbbell.scenario.table import OPENS, STARTED
from dumbbell.scenario.traces import File
from dumbbell.scenario.traffic.algorithms import ProgramFile

DIGEST: Final = ", SHA-256 "
"""Between a file's name and its digest."""
VARIABLE: Final = "DUMBBELL_AGREED"
"""Environment variable with the descriptor from which a command reads the programs that it may start."""

_agreed: ContextVar[frozenset[str] | None] = ContextVar("agreed", default=None)


def with_digest(name: str, text: str) -> str:
    """A file that is started: its name, and the digest of its content."""
    return f"{name}{DIGEST}{hashlib.sha256(text.encode()).hexdigest()}"


def started(value: Any, name: str = "") -> Iterator[str]:
    """The programs in a table and in its tables: command lines, and files with the digest of their content; and the way
    that a lab has to this machine's network.

    Args:
        value: the table.
        name: its name in the table around it.
    """
    if isinstance(value, ProgramFile):
        yield f"{value.name}{DIGEST}{value.program.sha256}"
    elif isinstance(value, BaseModel):
        own, opens = starting(type(value)), opening(type(value))
        for key, part in value:
            if key in own:
                yield from _shown(part)
            elif key in opens:
                yield from [way_outside(name)] if part else []
            elif _has_parts(part):
                yield from started(part)
    elif isinstance(value, Mapping):
        for key, part in value.items():
            if _has_parts(part):
                yield from started(part, str(key))
    elif isinstance(value, list | tuple):
        for part in value:
            if _has_parts(part):
                yield from started(part)


def way_outside(node: str) -> str:
    """The sentence to which a user agrees whose lab leads to this machine's network."""
    return f"this lab reaches this machine's network through {node}"


def _has_parts(value: object) -> bool:
    """Returns true if a value of its type may hold something that is started: most of a large network are numbers."""
    if (found := _known.get(type(value))) is None:
        found = _known[type(value)] = isinstance(value, ProgramFile | BaseModel | Mapping | list | tuple)
    return found


_known: Final[dict[type, bool]] = {}


@cache
def starting(table: type[BaseModel]) -> frozenset[str]:
    """The fields of a table that hold what is started."""
    return frozenset(name for name, field in table.model_fields.items() if STARTED in field.metadata)


@cache
def opening(table: type[BaseModel]) -> frozenset[str]:
    """The fields of a table that open a way to this machine's network."""
    return frozenset(name for name, field in table.model_fields.items() if OPENS in field.metadata)


def _shown(value: str | File | None) -> Iterator[str]:
    if isinstance(value, File):
        yield with_digest(value.name, value.text)
    elif value is not None:
        # A command that looks like a file would pass for one, and for other commands with this end. No file that is
        # started begins with this byte, so none passes for a command with its content.
        digest = hashlib.sha256(b"\xff" + value.encode()).hexdigest()
        yield f"{value}{DIGEST}{digest}" if DIGEST in value else value


@contextmanager
def only(programs: Iterable[str] | None) -> Iterator[None]:
    """While it lasts, no scenario of this context may start other programs; `None`: any may."""
    token = _agreed.set(None if programs is None else frozenset(map(_content, programs)))
    try:
        yield
    finally:
        _agreed.reset(token)


def handed(programs: Iterable[str]) -> int:
    """A descriptor that tells a command, by `VARIABLE`, the programs that it may start."""
    found = os.memfd_create("agreed")
    with open(found, "wb", closefd=False) as file:
        file.write(json.dumps(list(programs)).encode())
    os.lseek(found, 0, os.SEEK_SET)
    return found


def has_agreed(text: str) -> bool:
    """Returns true if somebody has asked, and the user has agreed to this text."""
    agreed = _asked()
    return agreed is not None and _content(text) in agreed


def refuse_others(scenario: BaseModel, name: str) -> None:
    """Raise `InputError` if a scenario starts what was not agreed to, where somebody asks for that."""
    agreed = _asked()
    if agreed is None:
        return
    for program in started(scenario):
        if _content(program) not in agreed:
            what = f"{name} has changed: it starts another program"
            raise InputError(what, program, "look at it, and start it again")


def _asked() -> frozenset[str] | None:
    agreed = _agreed.get()
    return _of_environment() if agreed is None else agreed


@cache
def _of_environment() -> frozenset[str] | None:
    # What the command starts itself, such as a user's shell in a lab, may start what it likes.
    given = os.environ.pop(VARIABLE, None)
    if given is None:
        return None
    with open(int(given), "rb") as file:
        return frozenset(map(_content, json.loads(file.read())))


def _content(program: str) -> str:
    """A program without its file's name, which is another one in the folder of a study."""
    _, sign, rest = program.rpartition(DIGEST)
    return sign + rest

"""The program of QUIC flows and other builds of it, and the stacks that each has."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from dumbbell.command import command, quoted
from dumbbell.quic import sources

NAME: Final = "dumbbell-quic"
VARIABLE: Final = "DUMBBELL_QUIC"
"""Environment variable with the path of another build of the program. The crate `traffic` reads it."""
_TIMEOUT_S: Final = 30.0


class Unusable(Exception):
    """The program of a path cannot be used; the text says why."""


def to_get() -> str:
    """How to get the program."""
    if sources.in_checkout():
        return "run: make quic"
    return f"install its wheel: {quoted(sys.executable)} -m pip install --force-reinstall dumbbell_quic-*.whl"


def to_build(stack: str, build: str) -> str:
    """How to get a build of the program."""
    name = [] if build == "branch" else ["--name", build]
    return f"run: {command('quic', 'build', stack, 'FOLDER', *name)}, with the folder of your tree of {stack}"


def program(build: str = "") -> str | None:
    """Path of the program: the variable's, or beside Python, which sudo keeps off the PATH, or on the PATH.

    Another build of it lies beside it, with its name at the end: `dumbbell-quic-branch`.
    """
    beside = Path(sys.executable).with_name(NAME)
    path = os.environ.get(VARIABLE) or (str(beside) if beside.is_file() else shutil.which(NAME))
    return path if path is None or not build else f"{path}-{build}"


def stacks(path: str) -> Mapping[str, tuple[str, ...]]:
    """The stacks of a program with their congestion controls. Raises `Unusable`."""
    try:
        done = subprocess.run([path, "stacks"], capture_output=True, text=True, timeout=_TIMEOUT_S, check=False)
    except FileNotFoundError:
        raise Unusable(f"there is no {path}") from None
    except OSError as error:
        raise Unusable(f"{path} does not start: {error.strerror}") from error
    except subprocess.TimeoutExpired:
        raise Unusable(f"{path} has not listed its stacks in {_TIMEOUT_S:.0f} s") from None
    except UnicodeDecodeError:
        raise Unusable(f"{path} is no {NAME}: `{path} stacks` prints no text") from None
    if done.returncode < 0:
        raise Unusable(f"`{path} stacks` was killed by signal {-done.returncode}")
    if done.returncode:
        raise Unusable(f"`{path} stacks` failed: {done.stderr.strip() or f'exit code {done.returncode}'}")
    try:
        return {one["name"]: tuple(map(str, one["algorithms"])) for one in json.loads(done.stdout)}
    except (ValueError, KeyError, TypeError):
        said = done.stdout.strip().splitlines()
        shown = f"it prints {said[0][:60]!r}" if said else "it prints nothing"
        raise Unusable(f"{path} is no {NAME}: `{path} stacks` lists stacks as JSON, and {shown}") from None

"""Files are read by `dumbbell.inputs`: a new place that opens one by itself is noticed here."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import dumbbell

PACKAGE: Final = Path(dumbbell.__file__).parent
ALLOWED: Final = {
    "below.py": "what opens",
    "caller.py": "gives files to the caller of sudo",
    "inputs.py": "what reads",
    "outputs.py": "what writes",
    "captures/identify/decide.py": "comes with dumbbell",
    "cc/compile.py": "a folder of its own, made anew",
    "cc/headers.py": "what comes with dumbbell, from a folder of its own, made anew",
    "cc/new.py": "comes with dumbbell",
    "cli/output.py": "standard output",
    "engines": "/proc, /sys, and folders of runs that this process writes",
    "execute/cluster": "archives of its own, between machines of one user",
    "scenario/file/started.py": "a descriptor that the parent process has made",
    "gym/export.py": "comes with dumbbell",
    "kernels": "the user's cache, source trees that are being compiled, and what comes with dumbbell",
    "labs": "the user's runtime directory, which no other user can enter",
    "machine.py": "/proc and /lib/modules",
    "plan/algorithms.py": "copies in the run that this process writes",
    "published/page.py": "comes with dumbbell",
    "quic/build.py": "comes with dumbbell, or was built just now",
    "records/directory.py": "locks",
    "records/files.py": "locks, and syncing of what was written",
    "records/progress.py": "writes into the run of this process",
    "report/render/html.py": "comes with dumbbell",
    "scenario/bundled/__init__.py": "comes with dumbbell",
    "scenario/traffic/kinds/rpc.py": "comes with dumbbell",
    "server/agreement.py": "what the user agreed to",
    "server/assets.py": "comes with dumbbell",
    "server/fits.py": "writes into a temporary folder",
    "server/live.py": "below a directory that was looked at, without links",
    "server/place.py": "the user's runtime directory, and /proc",
    "server/templates.py": "comes with dumbbell",
    "studies/directory.py": "locks",
}
"""Modules and packages that open files by themselves, and why they may."""
NAMES: Final = frozenset(["read_text", "read_bytes", "open"])
OTHERS: Final = frozenset(["inputs", "Live", "lists", "webbrowser", "terminals", "study"])
"""Names with a method like that which open no file by themselves."""


def places() -> Iterator[str]:
    """The modules that open files by themselves, relative to the package."""
    for file in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and _opens(node.func) and not _is_given(node):
                yield file.relative_to(PACKAGE).as_posix()


def _opens(called: ast.expr) -> bool:
    if isinstance(called, ast.Name):
        return called.id == "open"
    if not isinstance(called, ast.Attribute) or called.attr not in NAMES:
        return False
    return not (isinstance(called.value, ast.Name) and called.value.id in OTHERS)


def _is_given(call: ast.Call) -> bool:
    """True for `open(inputs.opened(...))`, and the like of `below`: the descriptor is of the one opener."""
    first = call.args[0] if call.args else None
    return isinstance(first, ast.Call) and ast.unparse(first.func).startswith(("inputs.", "below."))


def test_files_are_read_in_one_place() -> None:
    found = {place for place in places() if not place.startswith(("report/assets/", "server/page/"))}
    unknown = [one for one in found if not any(one == name or one.startswith(f"{name}/") for name in ALLOWED)]
    assert not unknown, "read by dumbbell.inputs, or say in ALLOWED why not"
    gone = [name for name in ALLOWED if not any(one == name or one.startswith(f"{name}/") for one in found)]
    assert not gone

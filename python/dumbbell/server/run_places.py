"""The directories of runs in a workspace, by the ids that browsers use: their names in `runs`.

A run that goes on has the name `.partial-NAME-RUNID-PID`, and another once it has ended: an id of the first kind is
then that of what became of it.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from fastapi import HTTPException

from dumbbell.errors import InputError
from dumbbell.records.directory import PARTIAL, RUNS
from dumbbell.records.kept import state
from dumbbell.server.messages import Problem
from dumbbell.server.run_messages import Reason, RunState, Status

SANDBOXED: Final = {
    "Content-Security-Policy": "sandbox allow-scripts allow-downloads; default-src 'none'; script-src 'unsafe-inline'; "
    "style-src 'unsafe-inline'; img-src data: blob:; font-src data:; form-action 'none'; base-uri 'none'",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
}
"""Headers of a run's files, which may be a stranger's: a page among them has an origin of its own, no cookie and no
network."""
_PARTIAL: Final = re.compile(re.escape(PARTIAL) + r"(?P<stem>.+)-(?P<pid>\d+)")
_NAME: Final = re.compile(r"[A-Za-z0-9._-]{1,255}")


def scenario(root: Path, name: str) -> Path:
    """The scenario that a path relative to the workspace names. Raises `InputError` if it cannot be one."""
    path = (root / name).resolve()
    if not path.is_relative_to(root.resolve()) or path.suffix != ".toml":
        raise InputError(f"no scenario {name}", "it must be a TOML file in the workspace", "choose one of its files")
    return path


def argument(name: str) -> str:
    """A file's name as an argument: one that begins with a dash is no option."""
    return f"./{name}" if name.startswith("-") else name


def partial(stem: str, pid: int) -> str:
    """The id of a run that process `pid` writes."""
    return f"{PARTIAL}{stem}-{pid}"


def pid_of(run: str) -> int | None:
    """The process that writes a run which goes on."""
    match = _PARTIAL.fullmatch(run)
    return int(match["pid"]) if match else None


def find(root: Path, run: str) -> Path:
    """The directory of a run, or of what became of it. Raises 404."""
    folder = root / RUNS
    checked(run)
    if (folder / run).is_dir():
        return folder / run
    if match := _PARTIAL.fullmatch(run):
        stem = match["stem"]
        ended = [path for path in folder.glob(f"{stem}*") if path.name == stem or path.name[len(stem)] == "."]
        if ended:
            return max(ended, key=lambda path: (path / "scenario.toml").stat().st_mtime_ns)
    raise absent("run", run)


def checked(name: str) -> None:
    """Raise 404 for what cannot be a directory's name."""
    if not _NAME.fullmatch(name) or name in (".", ".."):
        raise absent("run", name)


def absent(kind: str, name: str) -> HTTPException:
    """The answer if there is no such thing."""
    problem = Problem(what=f"no {kind} {name}", why="it is not in this workspace", hint="it may have been removed")
    return HTTPException(404, detail=problem.model_dump())


def standing(path: Path) -> RunState:
    """Where a run stands, from its files."""
    manifest, summary, verdict = state(path)
    has_verdict = verdict in ("valid", "suspect", "invalid")
    status: Status = "complete" if has_verdict else verdict if verdict in _ENDS else "failed"  # type: ignore[assignment]
    return RunState(
        status=status,
        id=path.name,
        verdict=verdict if has_verdict else summary.get("verdict"),
        reasons=[Reason(**{key: str(one[key]) for key in Reason.model_fields}) for one in summary.get("reasons", ())],
        problem=manifest.get("reason"),
        report=(path / "report.html").exists(),
    )


_ENDS: Final = ("running", "failed", "interrupted", "killed")

"""The directories of runs in a workspace, by the ids that browsers use: their names in `runs`.

A run that goes on has the name `.partial-NAME-RUNID-PID`, and another once it has ended: an id of the first kind is
then that of what became of it.
"""

from __future__ import annotations

import os
import re
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Final

from fastapi import HTTPException
from fastapi.responses import FileResponse
from starlette.types import Receive, Scope, Send

from dumbbell import inputs
from dumbbell.below import Below, confined
from dumbbell.errors import InputError, ScenarioError
from dumbbell.names import shortened
from dumbbell.records.directory import PARTIAL, RUNS
from dumbbell.records.kept import state
from dumbbell.server.messages import Problem
from dumbbell.server.run_messages import Reason, RunState, Status

SANDBOXED: Final = {
    "Content-Security-Policy": "sandbox",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
}
"""Headers of a run's files, which may be a stranger's. The guard completes the policy."""
_PARTIAL: Final = re.compile(re.escape(PARTIAL) + r"(?P<stem>.+)-(?P<pid>\d+)")
_NAME: Final = re.compile(r"[A-Za-z0-9._-]{1,255}")


def scenario(root: Path, name: str) -> Path:
    """The scenario that a path relative to the workspace names. Raises `InputError` if it cannot be one."""
    with suppress(OSError, RuntimeError, ValueError):  # ValueError: a null byte or a lone surrogate
        path = (root / name).resolve()
        if path.is_relative_to(root.resolve()) and path.suffix == ".toml":
            return path
    what = f"no scenario {shortened(name)}"
    raise InputError(what, "it must be a TOML file in the workspace", "choose one of its files")


def as_in(root: Path, error: ScenarioError) -> ScenarioError:
    """An error as a command line in the workspace says it: files have the names that users know."""
    return ScenarioError([replace(one, what=one.what.replace(f"{root}/", "")) for one in error.problems])


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
        return sound(root, folder / run)
    if match := _PARTIAL.fullmatch(run):
        stem = match["stem"]
        ended = [path for path in folder.glob(f"{stem}*") if path.name == stem or path.name[len(stem)] == "."]
        if ended:
            return sound(root, max(ended, key=lambda path: (path / "scenario.toml").stat().st_mtime_ns))
    raise absent("run", run)


def checked(name: str) -> None:
    """Raise 404 for what cannot be a directory's name."""
    if not _NAME.fullmatch(name) or name in (".", ".."):
        raise absent("run", name)


def sound(root: Path, path: Path) -> Path:
    """The directory of a run or a study, if it and what is in it lie in the workspace. Raises `InputError`.

    What reads its tables opens them by itself, and would follow a link, or wait for a pipe.
    """
    try:
        with confined(Below(root)):
            inputs.check_files(path)
    except OSError as error:
        what, hint = f"cannot open {path.name}", "remove that, or move the directory into the workspace"
        raise InputError(what, error.strerror or str(error), hint) from None
    return path


def check_writable(root: Path, *folders: str | Path) -> None:
    """Raise `InputError` if a folder into which a command would write is a link out of the workspace."""
    below = Below(root)
    for one in folders:
        if not below.has(root / one):
            why, hint = (
                "it is a link out of the workspace",
                "replace it by a folder, or use a terminal",
            )
            raise InputError(f"cannot write into {one}", why, hint)


def absent(kind: str, name: str) -> HTTPException:
    """The answer if there is no such thing."""
    what, why = f"no {kind} {shortened(name)}", "it is not in this workspace"
    return HTTPException(404, detail=Problem(what=what, why=why, hint="it may have been removed").model_dump())


class GivenFile(FileResponse):
    """A file of a run, below the workspace, as it is sent: what was opened, whatever becomes of its name."""

    def __init__(self, path: Path, media_type: str, name: str | None = None) -> None:
        """`name` is that under which a browser keeps it. Raises 404 if there is no such file."""
        try:
            self._descriptor = inputs.opened(path)
        except OSError:
            raise absent("file", path.name) from None
        super().__init__(
            f"/proc/self/fd/{self._descriptor}",
            stat_result=os.fstat(self._descriptor),
            media_type=media_type,
            headers=SANDBOXED,
            filename=name,
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send it, and close it."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            os.close(self._descriptor)


def standing(path: Path) -> RunState:
    """Where a run stands, from its files."""
    run = state(path)
    manifest, summary, verdict = run.manifest, run.summary, run.verdict
    has_verdict = verdict in ("valid", "suspect", "invalid")
    status: Status = "complete" if has_verdict else verdict if verdict in _ENDS else "failed"  # type: ignore[assignment]
    return RunState(
        status=status,
        id=path.name,
        verdict=verdict if has_verdict else summary.get("verdict"),
        reasons=[Reason(**{key: one[key] for key in Reason.model_fields}) for one in summary.get("reasons", ())],
        problem=run.problem or manifest.get("reason"),
        report=(path / "report.html").exists(),
    )


_ENDS: Final = ("running", "failed", "interrupted", "killed")

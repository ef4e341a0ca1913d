"""The runs in a folder: what each is, tags that users give them, and removing what nobody needs."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from itertools import zip_longest
from pathlib import Path
from typing import Any, Final

from dumbbell import below, names
from dumbbell.command import quoted
from dumbbell.core import core
from dumbbell.errors import Damaged, DumbbellError, InputError, unwritable
from dumbbell.frozen import dataclass
from dumbbell.records import model
from dumbbell.records.directory import PARTIAL
from dumbbell.records.files import is_locked, write_json
from dumbbell.records.index import UNKNOWN, Index, Known, Stamp

_EARLIER: Final = re.compile(r".+-[0-9a-f]{12}\.[0-9]+")
_FAILED: Final = re.compile(r".+\.failed-[0-9]+")


@dataclass(frozen=True)
class Kept:
    """A run's directory."""

    path: Path
    name: str
    """The scenario's name; the directory's if no manifest says it."""
    started_at: str
    """ISO 8601, UTC; empty if unknown."""
    verdict: str
    """`valid`, `suspect` or `invalid`; without one, `failed`, `interrupted`, `running`, `killed` or `damaged`."""
    overrides: tuple[str, ...]
    tags: tuple[str, ...]
    size: int
    """Bytes of all its files."""
    problem: str = ""
    """Which file is damaged, why, and what to do; empty if none is."""

    @property
    def is_running(self) -> bool:
        """True if a command writes it now."""
        return self.verdict == "running"

    @property
    def is_left_over(self) -> bool:
        """True if it failed, was killed, or is an earlier run of a plan that was run again."""
        return is_left_over(self.path.name, self.verdict)


def is_left_over(name: str, verdict: str) -> bool:
    """Returns `Kept.is_left_over`, by the name of a run's directory and its verdict."""
    return verdict != "running" and bool(
        name.startswith(PARTIAL) or _FAILED.fullmatch(name) or _EARLIER.fullmatch(name)
    )


def kept(root: Path) -> list[Kept]:
    """The runs in `root`, the latest first."""
    index = Index(root)
    known = {name: index.known(name) for name in _names(root)}
    runs = [_kept(root / name, one) for name, one in known.items() if one is not None]
    with documents(root, [name for name, one in known.items() if one is None]) as found:
        for path, one in found:
            runs.append(_kept(path, index.add(path.name, one[3], _read(path, one))))
    index.write()
    return sorted(runs, key=lambda one: (one.started_at, one.path.name), reverse=True)


Documents = tuple[bytes | None, bytes | None, int, Stamp, bytes | None]
"""A run's manifest and summary, `None` for one that is to be opened by itself, bytes of its files, its stamp, and its
scenario, likewise."""
_UNREAD: Final[Documents] = (None, None, 0, UNKNOWN, None)


@contextmanager
def documents(root: Path, names: Sequence[str]) -> Iterator[Iterator[tuple[Path, Documents]]]:
    """The documents of runs in `root`. A thread reads the next ones while the caller looks at these.

    It is a context, so that the thread ends where the caller leaves. A generator that is left half-way is closed
    wherever garbage is collected, perhaps in a thread that just starts and holds the lock for which the wait is.
    """
    parts = [names[at : at + _AT_ONCE] for at in range(0, len(names), _AT_ONCE)]
    try:
        folder = below.folder(root)
    except OSError:  # It was removed, or replaced.
        yield ((root / name, _UNREAD) for name in names)
        return
    try:
        with ThreadPoolExecutor(1) as thread:
            yield _read_ahead(thread, root, folder, parts)
    finally:
        os.close(folder)


def _read_ahead(
    thread: ThreadPoolExecutor, root: Path, folder: int, parts: Sequence[Sequence[str]]
) -> Iterator[tuple[Path, Documents]]:
    ahead = [thread.submit(core.read_runs, folder, part) for part in parts[:1]]
    for part, following in zip_longest(parts, parts[1:]):
        found = ahead.pop().result()
        if following is not None:
            ahead.append(thread.submit(core.read_runs, folder, following))
        yield from zip(map(root.joinpath, part), found, strict=True)


_AT_ONCE: Final = 512


def _names(root: Path) -> list[str]:
    """The names of the runs in `root`, of which there may be many: each is looked at once."""
    with suppress(OSError), os.scandir(root) as entries:
        return [one.name for one in entries if _is_run(one)]
    return []


def find(root: Path, named: Sequence[str]) -> list[Kept]:
    """The runs that are meant: by a directory, its name in `root`, or a tag. Raises `InputError` for any other name."""
    runs = kept(root)
    return list({one.path: one for name in named for one in _meant(runs, root, name)}.values())


def _meant(runs: Sequence[Kept], root: Path, name: str) -> Iterator[Kept]:
    meant = [one for one in runs if name == one.path.name or name in one.tags or Path(name) == one.path]
    if not meant:
        if "/" in name and _is_run(Path(name)):
            meant = [look(Path(name))]
        else:
            raise InputError(f"no run {name!r} in {root}", "expected a directory or a tag", "dumbbell runs list")
    yield from meant


def tag(path: Path, tags: Sequence[str], remove: bool = False) -> None:
    """Add tags to the manifest of a run, or remove them. Raises `InputError` for one that is no name."""
    for one in tags:
        names.checked("tag", one)
    manifest = model.manifest(path)
    there = [one for one in manifest.get("tags", []) if one not in tags]
    try:
        write_json(path / model.MANIFEST, manifest | {"tags": there if remove else [*there, *tags]})
    except ValueError as error:  # A key of another version has a number that JSON cannot hold.
        raise Damaged(f"{path / model.MANIFEST} cannot be written", str(error), "remove the run") from error


def remove(run: Kept) -> None:
    """Remove a run's directory. Raises `InputError` if a command writes it."""
    if run.is_running:
        raise InputError(f"{run.path} is being written", "a command works on it", "wait for it, or stop it")
    if run.path.is_symlink():
        hint = f"rm {quoted(str(run.path))} removes the link"
        raise InputError(f"{run.path} is a link", "what it leads to is not removed", hint)
    try:
        shutil.rmtree(run.path)
    except OSError as error:
        raise unwritable(run.path, error, hint="what is left can be removed again") from error


def _is_run(path: Path | os.DirEntry[str]) -> bool:
    if path.name.startswith("."):
        return path.name.startswith(PARTIAL) and path.is_dir()
    return path.is_dir() and any(os.path.lexists(os.path.join(path, name)) for name in _OF_RUNS)


_OF_RUNS: Final = (model.MANIFEST, model.SUMMARY, "plan.json")
"""Files by which a directory is known as a run's, also if one of them is gone."""


@dataclass(frozen=True)
class State:
    """State of a run, by its manifest and summary."""

    manifest: Mapping[str, Any]
    """Empty if it is damaged."""
    summary: Mapping[str, Any]
    """Empty if there is none, or it is damaged."""
    verdict: str
    """Verdict, as in `Kept`."""
    problem: str
    """Problem, as in `Kept`."""


def state(path: Path, known: Documents = _UNREAD) -> State:
    """The state of a run, which may be damaged: it is listed, too, so that it can be removed.

    `known` are documents that were read before.
    """
    manifest: Mapping[str, Any] = {}
    summary: Mapping[str, Any] = {}
    problems: list[DumbbellError] = []
    try:
        manifest = model.manifest(path, known[0])
        if "status" not in manifest:
            problems.append(Damaged(f"{path / model.MANIFEST} cannot be read", "it lacks status", model.REMOVE))
    except DumbbellError as error:
        problems.append(error)
    status = str(manifest.get("status", DAMAGED))
    if status == "running" and known[0] is not None:  # It may have ended since.
        return state(path)
    if status == "complete" or (path / model.SUMMARY).exists():
        try:
            summary = model.summary(path, known[1])
        except DumbbellError as error:
            problems.append(error)
    if status == "running" or (status == "complete" and path.name.startswith(PARTIAL)):
        # The name is given last: whoever was killed before that has not ended.
        status = "running" if is_locked(path / "lock") else "killed"
    if status == "complete":
        status = summary.get("verdict", DAMAGED)
    return State(manifest, summary, status, "; ".join(problem.line for problem in problems))


DAMAGED: Final = "damaged"
"""The verdict of a run whose manifest or summary cannot be read."""


def look(path: Path) -> Kept:
    """The run in a directory."""
    with documents(path.parent, [path.name]) as found:
        return next(_kept(run, _read(run, one)) for run, one in found)


def _kept(path: Path, run: Known) -> Kept:
    return Kept(path, run.name, run.started_at, run.verdict, run.overrides, run.tags, run.size, run.problem)


def _read(path: Path, known: Documents) -> Known:
    found = state(path, known)
    return Known(
        name=str(found.manifest.get("name", path.name)),
        started_at=str(found.manifest.get("started_at", "")),
        verdict=found.verdict,
        overrides=tuple(found.manifest.get("overrides") or ()),
        tags=tuple(found.manifest.get("tags", ())),
        size=known[2],
        problem=found.problem,
    )

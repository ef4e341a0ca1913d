"""The directories of runs. Measurements are never overwritten or deleted.

    runs/<name>-<run_id>/              the latest complete run of this plan
    runs/<name>-<run_id>.1/ .2/ ...    earlier complete runs of the same plan, oldest first
    runs/<name>-<run_id>.failed-1/ ... runs that failed or were interrupted, with what they measured until then
    runs/.partial-<name>-<run_id>-<pid>/   being written now; its file `lock` is locked by whoever writes

A run gets its final name by one rename once everything in it is on disk, so a half-written run is never read as a run.
A `.partial-` directory that nobody locks was left by a killed command: the next run in the same place files it as
failed.
"""

from __future__ import annotations

import fcntl
import glob
import os
import re
import shutil
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from typing import Final

from dumbbell import names, outputs
from dumbbell.caller import give
from dumbbell.errors import DumbbellError, InputError, unwritable
from dumbbell.hints import nearest
from dumbbell.records.files import YOUNG_S, is_locked, lock, read_json, sync, sync_tree, write_json

RUNS: Final = "runs"
"""The folder of runs: here, or in a study."""
PARTIAL: Final = ".partial-"
_LOCK: Final = ".lock"
_PARTIAL_NAME = re.compile(re.escape(PARTIAL) + r"(?P<stem>.+)-\d+")


class RunDirectory:
    """A run directory while it is written. Made by `begin`; ended by `complete` or `fail`, exactly once."""

    def __init__(self, root: Path, stem: str, path: Path, lock: int) -> None:
        """Only `begin` calls this."""
        self.root = root
        self.stem = stem
        self.path = path
        self.lock = lock
        """Descriptor of the locked file, for child processes that write here: the lock lasts as long as they do."""

    @classmethod
    def begin(cls, root: Path, name: str, run_id: str) -> RunDirectory:
        """Make and lock the directory for a run of plan `run_id`. Files what killed commands left behind as failed."""
        stem = f"{names.checked('run', name)}-{run_id}"
        path = root / f"{PARTIAL}{stem}-{os.getpid()}"
        try:
            outputs.make_folder(root)
            with _root_lock(root):
                _file_stale(root)
                # Each at once: if this is killed, the caller's next run files it.
                path.mkdir()
                give(path)
                try:
                    (path / "logs").mkdir()
                    give(path / "logs")
                    lock = os.open(path / "lock", os.O_RDWR | os.O_CREAT, 0o644)
                    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except OSError:
                    shutil.rmtree(path, ignore_errors=True)
                    raise
                give(root / _LOCK)
                give(path / "lock")
        except OSError as error:
            raise unwritable(f"runs to {root}", error) from error
        outputs.sync_later(path)
        return cls(root, stem, path, lock)

    @classmethod
    def taken_over(cls, path: Path, release: Callable[[], None]) -> RunDirectory:
        """The directory that `begin` has made, whose lock other processes hold until `release` has returned."""
        match = _PARTIAL_NAME.fullmatch(path.name)
        assert match is not None, "begin has made it"
        with _root_lock(path.parent):  # Nobody takes it for one that was left.
            release()
            lock = os.open(path / "lock", os.O_RDWR)
            fcntl.flock(lock, fcntl.LOCK_EX)
        return cls(path.parent, match["stem"], path, lock)

    def complete(self) -> Path:
        """Give the run its final name; an earlier run of the same plan moves to `.1`, `.2`, ..."""
        sync_tree(self.path)
        outputs.sync_at_once(self.path)
        with _root_lock(self.root):
            final = self.root / self.stem
            # Before the earlier run loses its name: the disk may fail for good here.
            self._unlock()
            if final.exists():
                # Parts of a report whose command was killed: nobody may write there again.
                outputs.remove_parts(final, YOUNG_S)
                final.rename(_next_free(self.root, f"{self.stem}."))
            try:
                return self._settle(final)
            except OSError:
                _restore(self.root, self.stem)
                raise

    def fail(self, status: str, reason: str) -> Path:
        """Keep what was measured as `.failed-N`; `status` (`failed`, `interrupted`) and `reason` go to its manifest.

        Returns its path. On a full disk the manifest may stay as it was, and the directory where it was.
        """
        outputs.sync_at_once(self.path)
        with suppress(OSError):
            _mark(self.path, status, reason)
        with suppress(OSError):
            _remove_cut_tables(self.path)
        outputs.remove_parts(self.path)
        with suppress(OSError), _root_lock(self.root):
            self._unlock()
            self._settle(_next_free(self.root, f"{self.stem}.failed-"))
        return self.path

    def _unlock(self) -> None:
        # Whoever looks for the lock meanwhile waits for that of the root.
        (self.path / "lock").unlink(missing_ok=True)

    def _settle(self, final: Path) -> Path:
        # Nothing may fail once the run has its name.
        self.path.rename(final)
        self.path = final
        with suppress(OSError):
            sync(self.root)
        os.close(self.lock)
        give(final)
        return final


def _remove_cut_tables(folder: Path) -> None:
    """Removes tables whose writer was killed: without their footer nobody can read them."""
    for table in folder.glob("*.parquet"):
        with table.open("rb") as file:
            file.seek(max(table.stat().st_size - len(_MAGIC), 0))
            is_whole = file.read() == _MAGIC
        if not is_whole:
            table.unlink()


_MAGIC: Final = b"PAR1"
"""The end of each Parquet file."""


def adopt(folder: Path, stem: str) -> Path:
    """Give a run that was made elsewhere its name among others; `folder` lies two below where these are.

    The name of `folder` tells how the run ended: it is complete under its plan's name `stem`, failed under any other.
    """
    root = folder.parents[1]
    sync_tree(folder)
    with _root_lock(root):
        final = root / stem
        if folder.name != stem:
            final = _next_free(root, f"{stem}.failed-")
        elif final.exists():
            final.rename(_next_free(root, f"{stem}."))
        folder.rename(final)
        give(final)
        with suppress(OSError):
            sync(root)
    return final


def put_back(root: Path, stem: str) -> None:
    """Give the run of a plan that was complete before the latest one its name again; the latest takes its number."""
    with _root_lock(root):
        before = _earlier(root, stem)
        if before is None:
            return
        final, aside = root / stem, root / f".aside-{stem}"
        final.rename(aside)
        before.rename(final)
        aside.rename(before)
        sync(root)


def _earlier(root: Path, stem: str) -> Path | None:
    """The run of a plan that was complete before the latest one."""
    earlier = [path for path in root.glob(f"{glob.escape(stem)}.*") if path.name[len(stem) + 1 :].isdecimal()]
    return max(earlier, key=lambda path: int(path.name[len(stem) + 1 :]), default=None)


def _restore(root: Path, stem: str) -> None:
    """Give the earlier run of a plan its name again if the run that was to have it came to nothing."""
    before = _earlier(root, stem)
    if before is not None and not (root / stem).exists():
        before.rename(root / stem)


def attempts(root: Path, stem: str) -> dict[str, int]:
    """The number of other runs of this plan in `root`: `failed` ones, and complete ones `excluded` as invalid."""
    failed = sum(1 for _ in root.glob(f"{glob.escape(stem)}.failed-*"))
    excluded = 0
    for path in (root / stem, *root.glob(f"{glob.escape(stem)}.[0-9]*")):
        with suppress(DumbbellError):  # It has no summary, or one that cannot be read.
            excluded += read_json(path / "summary.json").get("verdict") == "invalid"
    return {"failed": failed, "excluded": excluded}


def find(run: str, root: Path = Path(RUNS)) -> Path:
    """The directory that `run` names: itself, or else the latest finished run of the scenario `run` in `root`."""
    if Path(run).is_dir() or "/" in run:
        return Path(run)
    finished = re.compile(re.escape(run) + r"-[0-9a-f]{12}")
    found = [path for path in root.glob("*") if finished.fullmatch(path.name) and (path / "summary.json").exists()]
    if not found:
        why = f"there is no such directory, and {root} holds no finished run of a scenario with this name"
        raise InputError(f"no run at {run}", why, name_hint(run, root))
    # Written last of a run's own files. Reports are written later, and again.
    return max(found, key=lambda path: (path / "manifest.json").stat().st_mtime_ns)


def name_hint(name: str, *roots: Path) -> str:
    """A hint that names runs or studies in `roots`: the one that was probably meant, or the first ones."""
    known = sorted({path.name[:-13] for root in roots for path in root.glob(f"*-{'[0-9a-f]' * 12}")})
    listed = f"{', '.join(known[:6])}{', ...' if len(known) > 6 else ''}"
    return nearest(name, known, f"known here: {listed}") if known else "dumbbell run SCENARIO makes one"


def _file_stale(root: Path) -> None:
    for path in sorted(root.glob(f"{PARTIAL}*")):
        match = _PARTIAL_NAME.fullmatch(path.name)
        # A link may lead to files that no command has left.
        if match is None or path.is_symlink() or not path.is_dir() or is_locked(path / "lock"):
            continue
        _mark(path, "failed", "the command was killed during the run")
        outputs.remove_parts(path)
        (path / "lock").unlink(missing_ok=True)
        path.rename(_next_free(root, f"{match['stem']}.failed-"))
        _restore(root, match["stem"])


def _mark(path: Path, status: str, reason: str) -> None:
    manifest_path = path / "manifest.json"
    manifest: dict[str, object] = {}
    with suppress(DumbbellError):  # It is missing, or a full disk has cut it short.
        manifest = read_json(manifest_path)
    write_json(manifest_path, manifest | {"status": status, "reason": reason})


def _next_free(root: Path, prefix: str) -> Path:
    number = 1
    while (root / f"{prefix}{number}").exists():
        number += 1
    return root / f"{prefix}{number}"


def _root_lock(root: Path) -> AbstractContextManager[None]:
    """Commands that share a directory of runs take turns at naming them."""
    return lock(root / _LOCK)

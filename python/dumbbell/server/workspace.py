"""The workspace: the folder whose scenarios, runs and studies the application shows. Nothing outside it is touched.

What the application itself keeps is in its folder `.dumbbell`: `edits` (texts that are not in the file yet, and what
can be undone), `trash` (deleted files).
"""

from __future__ import annotations

import os
import re
import secrets
import stat
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final, Literal

from dumbbell import inputs, outputs
from dumbbell.below import Below
from dumbbell.errors import InputError
from dumbbell.names import shortened
from dumbbell.server.http_messages import FileEntry

OWN: Final = ".dumbbell"
"""The application's folder in the workspace."""
SCENARIO: Final = ".toml"
LAYOUT: Final = ".layout.json"
WRITABLE: Final = (SCENARIO, LAYOUT)
"""The ends of names of files that the application writes."""
LARGEST: Final = 2_000_000
"""Characters of a scenario that can be edited."""
MOST_ENTRIES: Final = 2_000
"""The most entries of a folder that are listed."""
LONGEST: Final = 200
"""Bytes of a name: names of its layout, and of what is in the trash, are longer."""
LONGEST_PATH: Final = 1_000
"""Bytes of a path in the workspace."""
_PART: Final = re.compile(r"[^\x00-\x1f\x7f/\\]+")

Kind = Literal["folder", "scenario", "run", "study", "file"]


class Workspace:
    """A folder, and the paths in it."""

    def __init__(self, root: Path) -> None:
        """Raises `InputError` if it is no folder."""
        if not root.is_dir():
            raise InputError(f"{root} is not a folder", "", "name the folder that holds your scenarios")
        self.root = root.resolve()
        self.own = self.root / OWN
        self.below = Below(self.root)

    def path(self, relative: str) -> Path:
        """The path of a file or folder in the workspace, symbolic links followed. It need not exist.

        Raises:
            InputError: it would lie outside, or in the application's own folder, or its name is no name.
        """
        parts = [part for part in relative.split("/") if part not in ("", ".")]
        if relative.startswith("/") or ".." in parts or not _is_path(parts):
            why = f"expected a relative path without .., of names with at most {LONGEST} bytes"
            raise InputError(f"{shortened(relative)} is not a path in the workspace", why)
        try:
            found = self.root.joinpath(*parts).resolve()
        except (OSError, RuntimeError) as error:
            raise InputError(f"{relative!r} leads nowhere", str(error)) from None
        if not found.is_relative_to(self.root) or found.is_relative_to(self.own):
            raise InputError(f"{relative!r} lies outside the workspace", str(self.root), "move the file into it")
        return found

    def writable(self, relative: str) -> Path:
        """The path of a scenario, for writing. Raises `InputError`."""
        found = self.path(relative)
        if not found.name.endswith(WRITABLE) or not found.name.removesuffix(SCENARIO):
            raise InputError(f"{relative} is not a scenario", "its name does not end in .toml", "name it mine.toml")
        return found

    def relative(self, path: Path) -> str:
        """The path as messages have it."""
        return "" if path == self.root else path.relative_to(self.root).as_posix()

    def entries(self, folder: str) -> list[FileEntry]:
        """Lists a folder, folders first; hidden files and layouts are not shown. Raises `InputError`."""
        at = self.path(folder)
        try:
            with os.scandir(at) as entries:
                shown = [one for one in entries if not (one.name.startswith(".") or one.name.endswith(LAYOUT))]
        except OSError as error:
            raise InputError(f"cannot list {folder or 'the workspace'}", error.strerror or str(error)) from None
        # There may be 100,000: only those that are listed are looked at closely.
        shown.sort(key=lambda one: (not _is_plain_folder(one), one.name.lower()))
        found: list[FileEntry] = []
        for entry in shown:
            with suppress(OSError, InputError):
                found.append(self.entry(at / entry.name))
            if len(found) == MOST_ENTRIES:
                break
        return found

    def entry(self, path: Path) -> FileEntry:
        """A row of the list. Raises `OSError` if there is no such file, `InputError` if it lies outside."""
        self.path(self.relative(path))
        status = path.stat()
        kind: Kind = "file"
        if is_folder := stat.S_ISDIR(status.st_mode):
            kind = "run" if (path / "manifest.json").exists() or (path / "plan.json").exists() else "folder"
            kind = "study" if (path / "study.toml").exists() else kind
        elif path.name.endswith(SCENARIO):
            kind = "scenario"
        return FileEntry(
            path=self.relative(path),
            name=path.name,
            kind=kind,
            bytes=None if is_folder else status.st_size,
            modified=status.st_mtime,
            title=_title(path) if kind == "scenario" else "",
        )

    def trash(self, path: Path) -> Path:
        """Move a file to the trash. Returns where it is now."""
        kept = self.own / "trash" / f"{time.strftime('%Y%m%d-%H%M%S')}-{secrets.token_hex(3)}-{path.name}"
        outputs.make_folder(kept.parent)
        os.rename(path, kept)
        return kept


def _is_path(parts: Sequence[str]) -> bool:
    """True if these are names that files can have, and messages too."""
    try:
        lengths = [len(part.encode()) for part in parts]
    except UnicodeEncodeError:
        return False
    return all(map(_PART.fullmatch, parts)) and max(lengths, default=0) <= LONGEST and sum(lengths) <= LONGEST_PATH


def _is_plain_folder(entry: os.DirEntry[str]) -> bool:
    """True for a folder that holds no run and no study."""
    try:
        return entry.is_dir() and not any(os.path.exists(f"{entry.path}/{name}") for name in _OF_RECORDS)
    except (OSError, ValueError):
        return False


_OF_RECORDS: Final = ("manifest.json", "plan.json", "study.toml")


def layout_of(scenario: Path) -> Path:
    """The file with the positions of a scenario's nodes: `mine.layout.json` beside `mine.toml`."""
    return scenario.with_name(scenario.name.removesuffix(SCENARIO) + LAYOUT)


_DESCRIPTION: Final = re.compile(rb'^description\s*=\s*"((?:[^"\\]|\\.)*)"', re.MULTILINE)


def _title(path: Path) -> str:
    """A scenario's description, from the first bytes of its file."""
    with suppress(OSError), open(inputs.opened(path), "rb") as file:
        found = _DESCRIPTION.search(file.read(4096))
        return found[1].decode("utf-8", "replace") if found else ""
    return ""

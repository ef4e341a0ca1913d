"""Journals of documents, so that no acknowledged change is lost: each change of a document is appended to a journal
before its author hears of it.

A journal is a file of JSON lines below `.dumbbell/edits`. It also holds what can be undone. It outlives a server that
is killed; what was not yet synced to disk when the machine itself stops is lost.

    {"path": ...}                                          the document
    {"do": "push", "text", "layout", "label", "revision"}  a new state; what could be made again is gone
    {"do": "top", ...}                                     the same, in place of the present state
    {"do": "at", "index", "revision"}                      undo and redo
    {"do": "disk", "text", "layout"}                       the digests of the files that were written or seen last
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Final

from pydantic_core import from_json

from dumbbell import inputs, outputs
from dumbbell.server.layout import read as read_layout
from dumbbell.server.layout import write as write_layout
from dumbbell.server.messages import Layout

DEPTH: Final = 200
"""The most states that can be undone."""
LARGEST: Final = 8 << 20
"""Bytes of a journal from which on it is written anew when it is twice as large as what it holds."""
_MOST: Final = 128 << 20
"""Bytes of a journal that is read: more than one that dumbbell wrote has."""
_FIRST: Final = 64 << 10
"""Bytes in which a journal's first line ends: no path is as long."""


@dataclass(frozen=True)
class State:
    """A text and a layout, and the step that led to them."""

    text: str
    layout: Layout
    label: str = ""


@dataclass
class History:
    """The states of a document, one of which is the present one."""

    states: list[State]
    at: int = 0

    @property
    def now(self) -> State:
        """The present state."""
        return self.states[self.at]

    def push(self, state: State) -> None:
        """A new state; what could be made again is gone."""
        del self.states[self.at + 1 :]
        self.states.append(state)
        del self.states[: max(0, len(self.states) - DEPTH - 1)]
        self.at = len(self.states) - 1

    def replace(self, state: State) -> None:
        """A state in place of the present one; what could be made again is gone."""
        del self.states[self.at :]
        self.states.append(state)


@dataclass
class Recovered:
    """Content of a journal."""

    history: History
    revision: int
    disk: tuple[str, str] | None
    """Digests of the files of text and layout as they were known last."""


@dataclass
class Journal:
    """The journal of one document. It is made with its first change."""

    folder: Path
    path: str
    """The document's path in the workspace."""
    _size: int = field(default=0, repr=False)
    _lacks: bool = field(default=False, repr=False)

    @property
    def file(self) -> Path:
        """The journal's file: its name tells nothing, as paths may be longer than names."""
        return self.folder / f"{digest(self.path)[:32]}.jsonl"

    @property
    def is_whole(self) -> bool:
        """True if it holds all that it was told; false if there is none yet, or something could not be written."""
        return not self._lacks and self.file.exists()

    def append(self, **line: Any) -> None:
        """Append a line. Raises `OSError`; it then lacks the line, and has no part of it."""
        self._lacks = True
        self._size = outputs.append(self.file, json.dumps(line, ensure_ascii=False) + "\n")
        self._lacks = False

    def push(self, do: str, state: State, revision: int) -> None:
        """Append a state. Raises `OSError`."""
        self.append(do=do, **_line(state), revision=revision)

    def shrink(self, found: Recovered) -> None:
        """Write it anew if it has grown too large. Raises `OSError`."""
        if self._size > LARGEST and self._size > 2 * sum(len(one.text) for one in found.history.states):
            self.rewrite(found)

    def rewrite(self, found: Recovered) -> None:
        """Write what it holds and no more. Raises `OSError`."""
        history, revision = found.history, found.revision
        lines = [{"path": self.path}, *({"do": "push", **_line(one), "revision": revision} for one in history.states)]
        lines.append({"do": "at", "index": history.at, "revision": revision})
        if found.disk is not None:
            lines.append({"do": "disk", "text": found.disk[0], "layout": found.disk[1]})
        self._lacks = True
        outputs.make_folder(self.folder)
        outputs.write(self.file, "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in lines))
        self._size, self._lacks = self.file.stat().st_size, False

    def read(self) -> Recovered | None:
        """Reads the journal; `None` if there is none. A last line that was cut off is passed over, and nothing is
        appended to it: then all is written anew."""
        self._lacks = not _ends_whole(self.file)
        history, revision, disk = History([]), 0, None
        # One text of a layout stands in many lines.
        laid = cache(_layout)
        for line in _lines(self.file):
            match line:
                case {"do": "push" | "top" as do, "text": str(text), "layout": str(places), "revision": int(number)}:
                    state = State(text, laid(places), str(line.get("label", "")))
                    (history.push if do == "push" or not history.states else history.replace)(state)
                    revision = number
                case {"do": "at", "index": int(index), "revision": int(number)} if 0 <= index < len(history.states):
                    history.at, revision = index, number
                case {"do": "disk", "text": str(text), "layout": str(layout)}:
                    disk = text, layout
        return Recovered(history, revision, disk) if history.states else None

    def remove(self) -> None:
        """Remove the file."""
        with suppress(OSError):
            self.file.unlink()


def journals(folder: Path) -> Iterator[str]:
    """The paths of the documents that have a journal."""
    for file in sorted(folder.glob("*.jsonl")) if folder.is_dir() else []:
        first: Mapping[str, object] = {}
        with suppress(OSError, ValueError), open(inputs.opened(file), "rb") as content:
            first = found if isinstance(found := from_json(content.readline(_FIRST)), dict) else {}
        if isinstance(path := first.get("path"), str):
            yield path


def digest(text: str) -> str:
    """The digest of a text."""
    return hashlib.sha256(text.encode()).hexdigest()


def _line(state: State) -> dict[str, object]:
    return {"text": state.text, "layout": write_layout(state.layout), "label": state.label}


def _layout(text: str) -> Layout:
    with suppress(ValueError):
        return read_layout(text) if text else Layout()
    return Layout()


def _ends_whole(file: Path) -> bool:
    """False if the last line was cut off."""
    with suppress(OSError), open(inputs.opened(file), "rb") as content:
        if content.seek(0, os.SEEK_END):
            content.seek(-1, os.SEEK_END)
            return content.read() == b"\n"
    return True


def _lines(file: Path) -> Iterator[Mapping[str, object]]:
    content = b""
    with suppress(OSError):
        content = inputs.read(file, _MOST)
    for line in content.split(b"\n"):
        with suppress(ValueError):  # One that is nested too deeply is none, too.
            found = from_json(line)
            if isinstance(found, dict):
                yield found

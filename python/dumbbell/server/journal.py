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
from dataclasses import field
from pathlib import Path
from typing import Any, Final, Generic, TypeVar

from pydantic_core import from_json

from dumbbell import inputs, outputs
from dumbbell.frozen import dataclass
from dumbbell.server.layout import read as read_layout
from dumbbell.server.layout import write as write_layout
from dumbbell.server.messages import Layout
from dumbbell.server.workspace import LARGEST as LARGEST_TEXT

DEPTH: Final = 200
"""The most states that can be undone."""
LARGEST: Final = 8 << 20
"""Bytes of a journal from which on it is written anew when it is twice as large as what it holds."""
_MOST: Final = 128 << 20
"""Bytes of a journal that is read: more than one that dumbbell wrote has."""
_MOST_LINES: Final = 1 << 18
"""Lines of a journal that is read: `LARGEST` bytes hold fewer."""
_MOST_LAYOUTS: Final = 16 << 20
"""Characters of layouts that are read: a point takes thirty times the memory of its text. Older states are left out."""
_MOST_AT_ONCE: Final = 256 << 20
"""Bytes of journals that are looked through together. Further ones are read with their documents."""
_FIRST: Final = 64 << 10
"""Bytes in which a journal's first line ends: no path is as long."""


@dataclass(frozen=True)
class State:
    """A text and a layout, and the step that led to them."""

    text: str
    layout: Layout
    label: str = ""


S = TypeVar("S")


@dataclass
class History(Generic[S]):
    """The states of a document, one of which is the present one."""

    states: list[S]
    at: int = 0

    @property
    def now(self) -> S:
        """The present state."""
        return self.states[self.at]

    def push(self, state: S) -> None:
        """A new state; what could be made again is gone."""
        del self.states[self.at + 1 :]
        self.states.append(state)
        del self.states[: max(0, len(self.states) - DEPTH - 1)]
        self.at = len(self.states) - 1

    def replace(self, state: S) -> None:
        """A state in place of the present one; what could be made again is gone."""
        del self.states[self.at :]
        self.states.append(state)


_Line = tuple[str, str, str]
"""A state as a journal has it: the texts of scenario and layout, and the label."""


@dataclass
class Recovered:
    """Content of a journal."""

    history: History[State]
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

    def shrink(self, recovered: Recovered) -> None:
        """Write it anew if it has grown too large. Raises `OSError`."""
        if self._size > LARGEST and self._size > 2 * sum(len(one.text) for one in recovered.history.states):
            self.rewrite(recovered)

    def rewrite(self, recovered: Recovered) -> None:
        """Write what it holds and no more. Raises `OSError`."""
        history, revision = recovered.history, recovered.revision
        lines = [{"path": self.path}, *({"do": "push", **_line(one), "revision": revision} for one in history.states)]
        lines.append({"do": "at", "index": history.at, "revision": revision})
        if recovered.disk is not None:
            lines.append({"do": "disk", "text": recovered.disk[0], "layout": recovered.disk[1]})
        self._lacks = True
        outputs.make_folder(self.folder)
        outputs.write(self.file, "".join(json.dumps(one, ensure_ascii=False) + "\n" for one in lines))
        self._size, self._lacks = self.file.stat().st_size, False

    def read(self) -> Recovered | None:
        """Reads the journal; `None` if there is none. A last line that was cut off is passed over, and nothing is
        appended to it: then all is written anew."""
        self._lacks = not _ends_whole(self.file)
        history, revision, disk = History[_Line]([]), 0, None
        for count, line in enumerate(_lines(self.file)):
            if count == _MOST_LINES:
                return None
            match line:
                case {"do": "push" | "top" as do, "text": str(text), "layout": str(places), "revision": int(number)}:
                    if len(text) > LARGEST_TEXT:
                        return None
                    one = text, places, str(line.get("label", ""))
                    (history.push if do == "push" or not history.states else history.replace)(one)
                    revision = number
                case {"do": "at", "index": int(index), "revision": int(number)} if 0 <= index < len(history.states):
                    history.at, revision = index, number
                case {"do": "disk", "text": str(text), "layout": str(layout)}:
                    disk = text, layout
        return Recovered(_laid(history), revision, disk) if history.states else None

    def remove(self) -> None:
        """Remove the file."""
        with suppress(OSError):
            self.file.unlink()


def journals(folder: Path) -> Iterator[str]:
    """The paths of the documents that have a journal, the latest first, as many as are worth a look at once."""
    room = _MOST_AT_ONCE
    for _, file in sorted(((_changed_ns(file), file) for file in folder.glob("*.jsonl")), reverse=True):
        first: Mapping[str, object] = {}
        with suppress(OSError, ValueError), open(inputs.opened(file), "rb") as content:
            if (size := os.fstat(content.fileno()).st_size) > _MOST:
                continue
            if (room := room - size) < 0:
                return
            first = found if isinstance(found := from_json(content.readline(_FIRST)), dict) else {}
        if isinstance(path := first.get("path"), str):
            yield path


def _changed_ns(file: Path) -> int:
    with suppress(OSError):
        return file.lstat().st_mtime_ns
    return 0


def digest(text: str) -> str:
    """The digest of a text."""
    return hashlib.sha256(text.encode()).hexdigest()


def _line(state: State) -> dict[str, object]:
    return {"text": state.text, "layout": write_layout(state.layout), "label": state.label}


def _laid(history: History[_Line]) -> History[State]:
    """The states with their layouts, without those for which there is no room, from the newest of these on."""
    # One text of a layout stands in many lines.
    known = dict[str, Layout]()
    room, made = _MOST_LAYOUTS, list[State]()
    for index, (text, places, label) in reversed(list(enumerate(history.states))):
        room -= len(places) if places not in known else 0
        if room < 0 and index < history.at:
            break
        if room >= 0 and places not in known:
            known[places] = _layout(places)
        # The present text counts in any case.
        made.append(State(text, known.get(places, Layout()), label))
    made.reverse()
    return History(made, history.at - (len(history.states) - len(made)))


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

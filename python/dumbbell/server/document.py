"""One open scenario: its text and layout, their history, and the files on disk. Nothing here waits for anything.

The text is the truth. A change is made by a command that names the revision it was made for, so two authors cannot
overwrite each other; a change of the file by another program becomes a revision, too.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

from dumbbell.errors import DumbbellError, InputError, remedy, unwritable
from dumbbell.server import disk, layout
from dumbbell.server import messages as m
from dumbbell.server.commands import Work, apply
from dumbbell.server.disk import OnDisk
from dumbbell.server.journal import History, Journal, Recovered, State, digest
from dumbbell.server.problems import problem

TYPING_S: Final = 0.5
"""Seconds: what one author types, or writes to one key, without a longer pause is one step."""
OUTSIDE: Final = "change by another program"
"""Label of undo for a revision that was read from disk."""


class Stale(Exception):
    """A command was made for another revision than the present one."""


class Document:
    """An open scenario."""

    def __init__(self, path: str, file: Path, journal: Journal) -> None:
        """Open it; nothing is written.

        Raises:
            InputError: there is no such file, and no unsaved text of one either, or it can't be edited.
        """
        self.path, self.file = path, file
        self._journal = journal
        self._disk: OnDisk = disk.read(file)
        self.on_disk: str | None = None
        """The file's text, if it and the document have both changed."""
        self.save_problem: m.Problem | None = None
        self._is_gone = False
        """True if another program removed the file."""
        self._last: tuple[object, float] = (None, 0.0)
        """The kind of the last step and its time: the next of this kind may be part of it. `OUTSIDE`: the last step was
        read from a file that may have been half written."""
        recovered = journal.read()
        if recovered is None:
            if self._disk.text is None:
                raise InputError(f"there is no {path}", "", "the list of files shows what there is")
            self._history = History([State(self._disk.text, self._disk.parsed_layout)])
            # Not 1: a page that is open since an earlier server must not take this text for the one that it saw.
            # In microseconds: no two servers begin in the same one, and a page's numbers hold it exactly.
            self.revision = time.time_ns() // 1_000
        else:
            self._take_up(recovered)

    def _take_up(self, recovered: Recovered) -> None:
        """Go on from a journal: its text is the last that was acknowledged."""
        self._history, self.revision = recovered.history, recovered.revision
        now, known = self._history.now, recovered.disk
        if self._disk.text is None:
            # Removed while no server ran: what was saved before is not written again by itself.
            self._is_gone = known == (digest(now.text), digest(layout.write(now.layout)))
            return
        held = self._digests()
        if known is not None and held is not None:
            mine = digest(now.text), digest(layout.write(now.layout))
            self._take_in((held[0] != known[0], mine[0] == known[0]), (held[1] != known[1], mine[1] == known[1]))

    # What it is

    @property
    def text(self) -> str:
        """The present text."""
        return self._history.now.text

    @property
    def layout(self) -> m.Layout:
        """The present layout."""
        return self._history.now.layout

    @property
    def is_saved(self) -> bool:
        """True if the files hold this text and this layout."""
        return self._disk.text is not None and self._is_as(self._history.now)

    @property
    def wants_saving(self) -> bool:
        """True if the files should be written, as far as is known."""
        return not self.is_saved and self.on_disk is None and not self._is_gone

    @property
    def states(self) -> tuple[State, ...]:
        """States that undo and redo move through, the oldest first."""
        return tuple(self._history.states)

    def _is_as(self, state: State) -> bool:
        return self._disk.text == state.text and self._disk.parsed_layout == state.layout

    @property
    def undo_label(self) -> str:
        """Label of what undo would take back; empty if there is nothing."""
        return self._history.now.label if self._history.at > 0 else ""

    @property
    def redo_label(self) -> str:
        """Label of what redo would make again; empty if there is nothing."""
        after = self._history.states[self._history.at + 1 :]
        return after[0].label if after else ""

    # Changes

    def apply(self, command: m.Command, base: int | None, author: object, now: float) -> list[m.Key]:
        """Carry out a command. Returns the keys of what it added.

        Args:
            command: to carry out.
            base: the revision that its author saw.
            author: whose typing may be one step.
            now: seconds of a clock that does not jump.

        Raises:
            Stale: the document has another revision.
            DumbbellError: it can't be carried out, and nothing has changed.
        """
        match command:
            case m.Undo() | m.Redo():
                if base is not None and base != self.revision:
                    raise Stale
                self._go(-1 if isinstance(command, m.Undo) else 1)
            case m.Save():
                self._is_gone = False
            case m.Resolve():
                self._resolve(command.take)
            case _:
                if base != self.revision:
                    raise Stale
                return self._change(command, author, now)
        return []

    def _change(self, command: m.Edit | m.Batch, author: object, now: float) -> list[m.Key]:
        work = Work(self.path, self.text, self.layout, self.file.parent)
        label = apply(command, work)
        state = State(work.text, work.layout, label)
        if (state.text, state.layout) == (self.text, self.layout):
            return work.made
        same = _sort(command, author)
        last, at = self._last
        is_further = same is not None and same == last and now - at <= TYPING_S and self._history.at > 0
        self._note(state, "top" if is_further else "push")
        self._last = same, now
        return work.made

    def _note(self, state: State, do: str) -> None:
        """Make a state the present one: in the journal first, as far as that can be written."""
        self.revision += 1
        self._is_gone = False
        (self._history.push if do == "push" else self._history.replace)(state)
        self._write_down(lambda: self._journal.push(do, state, self.revision))

    def _write_down(self, line: Callable[[], None]) -> None:
        """Append to the journal; write all of it if it is not there, or lacks what could not be written before."""
        try:
            if self._journal.is_whole:
                line()
                self._journal.shrink(self._recovered())
            else:
                self._journal.rewrite(self._recovered())
        except OSError as error:
            self.save_problem = problem(_unsafe(self.path, error).problems[0])

    def _recovered(self) -> Recovered:
        return Recovered(self._history, self.revision, self._digests())

    def _digests(self) -> tuple[str, str] | None:
        """Digests of what the files hold; `None` without a file."""
        if self._disk.text is None:
            return None
        return digest(self._disk.text), digest(layout.write(self._disk.parsed_layout))

    def _go(self, step: int) -> None:
        to = self._history.at + step
        if not 0 <= to < len(self._history.states):
            raise InputError("nothing to undo" if step < 0 else "nothing to make again")
        self._history.at = to
        self.revision += 1
        self._is_gone = False
        self._last = (None, 0.0)
        self._write_down(lambda: self._journal.append(do="at", index=to, revision=self.revision))

    def _resolve(self, take: str) -> None:
        if self.on_disk is None:
            raise InputError("there is nothing to decide", "the file holds what this page shows")
        mine, other, self.on_disk = self._history.now, self.on_disk, None
        self._note(State(other, mine.layout, OUTSIDE), "push")
        if take == "mine":
            # The other text stays within reach: undo leads to it.
            self._note(State(mine.text, mine.layout, "keep this text"), "push")
        self._last = (None, 0.0)

    # The files

    def look(self) -> bool:
        """Look whether another program changed the files. Returns whether that changed the document."""
        if disk.signatures(self.file) == self._disk.signatures and not self._disk.is_young:
            return False
        before = self._disk
        try:
            found = disk.read(self.file)
        except InputError as error:
            shown = self.save_problem
            self.save_problem = problem(error.problems[0])
            return shown != self.save_problem
        self._disk = found
        if found.text is None:
            gone = self._is_gone
            self._is_gone = gone or before.text is not None
            if self._is_gone and not gone:
                self.save_problem = m.Problem(what=f"{self.path} is gone", hint="the next change writes it again")
            return self._is_gone != gone
        if (found.text, found.parsed_layout) == (before.text, before.parsed_layout):
            return False
        self._is_gone = False
        now = self._history.now
        text = found.text != before.text, now.text == before.text
        laid = found.parsed_layout != before.parsed_layout, now.layout == before.parsed_layout
        return self._take_in(text, laid)

    def _take_in(self, text: tuple[bool, bool], laid: tuple[bool, bool]) -> bool:
        """Take in what another program wrote: as a revision that can be undone, or for the user to decide.

        Args:
            text: whether the file has changed, and whether it held the present text before.
            laid: the same of the layout.

        Returns whether that changed the document.
        """
        now, on_disk = self._history.now, self.on_disk
        assert self._disk.text is not None, "there is a file"
        (text_changed, text_was_saved), (layout_changed, layout_was_saved) = text, laid
        if self._disk.text == now.text:
            self.on_disk = None
        elif text_changed and not text_was_saved:
            self.on_disk = self._disk.text
        theirs = State(
            self._disk.text if text_changed and text_was_saved and on_disk is None else now.text,
            self._disk.parsed_layout if layout_changed and layout_was_saved else now.layout,
            OUTSIDE,
        )
        if (theirs.text, theirs.layout) != (now.text, now.layout):
            self._note(theirs, "top" if self._last[0] == OUTSIDE else "push")
            self._last = (OUTSIDE if self._disk.is_young else None, 0.0)
        elif on_disk == self.on_disk and not (text_changed or layout_changed):
            return False
        if self.is_saved:
            self.save_problem = None
        self._seen()
        return True

    def save(self) -> bool:
        """Write the files, unless another program has changed them or they hold this already. Returns whether that
        changed what is to be said of the document."""
        changed = self.look()
        if not self.wants_saving:
            return changed
        try:
            self._disk = disk.save(self.file, self._disk, self.text, self.layout)
        except OSError as error:
            before = self.save_problem
            self.save_problem = problem(_unsafe(self.path, error).problems[0])
            return changed or before != self.save_problem
        self.save_problem = None
        self._seen()
        return True

    def _seen(self) -> None:
        """Note what the files hold, in a journal that is there."""
        known = self._digests()
        if known is not None and self._journal.is_whole:
            with suppress(OSError):  # It is only said twice then that the file is as it is.
                self._journal.append(do="disk", text=known[0], layout=known[1])


def _sort(command: m.Edit | m.Batch, author: object) -> object:
    """Returns a key that is equal for commands that one undo takes back together; `None`: none does."""
    match command:
        case m.ReplaceText():
            return "text", author
        case m.Set():
            return "set", author, tuple(command.key)
        case m.Move():
            return "move", author, tuple(command.nodes)
    return None


def _unsafe(path: str, error: OSError) -> DumbbellError:
    told, first = unwritable(path, error), remedy(error.strerror or "")
    hint = f"{first}: it is tried again" if first else "it is tried again"
    return type(told)(f"{path} could not be saved", f"{told.why}. Your changes are kept here", hint)

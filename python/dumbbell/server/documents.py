"""All open documents: who listens to them, when they are checked, saved and compared with the disk."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from dumbbell.errors import DumbbellError, InputError, ScenarioError
from dumbbell.scenario import Scenario
from dumbbell.scenario.file.loading import checked, read
from dumbbell.scenario.understood import Understood
from dumbbell.server import messages as m
from dumbbell.server import run_places
from dumbbell.server.agreement import Agreement, NotAgreed, has_changed, own
from dumbbell.server.check import Checked, check, looked_further
from dumbbell.server.document import Document, Stale
from dumbbell.server.going import Lookout
from dumbbell.server.journal import Journal, journals
from dumbbell.server.ways import carried
from dumbbell.server.workspace import LAYOUT, Workspace
from dumbbell.studies.programs import programs

QUIET_S: Final = 0.3
"""Seconds without a change after which a document is saved."""
LATEST_S: Final = 2.0
"""Seconds after which it is saved though changes go on."""
LOOK_S: Final = 1.0
"""Seconds between two looks at the files of open documents."""


@dataclass
class Open:
    """An open document, and who listens."""

    document: Document
    listeners: set[asyncio.Event] = field(default_factory=set)
    checked: Checked = field(default_factory=Checked)
    checked_text: str | None = None
    """The text that was checked; `None`: none yet."""
    understood: Understood = field(default_factory=Understood, repr=False)
    """Tables of texts that were checked."""
    further: Checked | None = None
    """Result of the slower checks of that text, once they were made."""
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Held by whoever changes or saves it."""
    checking: asyncio.Task[None] | None = None
    looking: asyncio.Task[None] | None = None
    going: list[m.Going] = field(default_factory=list)
    """Runs, studies and labs of it."""
    saving: asyncio.Task[None] | None = None
    unsaved_since: float | None = None
    is_closed: bool = False
    """True once nothing may be written by it any more."""
    looked_all: bool = False
    """True if `further` includes the checks that start programs of the scenario."""
    programs: tuple[str, ...] = ()
    """Programs that the newest text with known programs starts."""
    own_text: str | None = None
    """A text whose programs the user wrote here: it was edited from a text whose programs the user had agreed to."""

    def tell(self) -> None:
        """Wake those who listen."""
        for listener in self.listeners:
            listener.set()


class Documents:
    """The documents of a workspace."""

    def __init__(self, workspace: Workspace) -> None:
        """None is open yet."""
        self.workspace = workspace
        self.agreement = Agreement(workspace.root)
        self._lookout = Lookout(workspace.root)
        self._open: dict[str, Open] = {}
        self._opening: dict[str, asyncio.Task[None]] = {}
        self._one_check = asyncio.Lock()
        self._one_look = asyncio.Lock()
        self._tasks: set[asyncio.Task[None]] = set()

    async def recover(self) -> None:
        """Save what a killed server had acknowledged and not saved."""
        for path in await asyncio.to_thread(lambda: list(journals(self.workspace.own / "edits"))):
            with suppress(DumbbellError):
                one = await self._opened(path)
                if one.document.wants_saving:
                    await self._save(one)
                self._drop(one)

    async def watch(self) -> None:
        """Look at the files of open documents for ever, and try again to save what could not be saved."""
        while True:
            await asyncio.sleep(LOOK_S)
            if self._open:
                await self._look_out()
            for one in list(self._open.values()):
                if one.saving is None:
                    await self._save(one) if one.document.wants_saving else await self._look(one)

    async def _look_out(self) -> None:
        """See what goes on of the open documents."""
        found = await asyncio.to_thread(self._lookout.look)
        for path, one in self._open.items():
            going = found.get(path, [])
            if going != one.going:
                one.going = going
                one.tell()

    async def close(self) -> None:
        """Save everything, as the server ends."""
        for one in list(self._open.values()):
            for task in (one.saving, one.checking, one.looking):
                if task is not None:
                    task.cancel()
            self._keep_own(one)
            with suppress(DumbbellError):
                await self._save(one)

    # Listening

    async def events(self, path: str, since: int | None) -> AsyncGenerator[m.Document, None]:
        """The states of a document, the newest whenever the last one is taken: the topic `document/PATH`."""
        one = await self._opened(path)
        listener = asyncio.Event()
        one.listeners.add(listener)
        try:
            self._check(one)
            if one.checked_text is not None:
                listener.set()
            while True:
                await listener.wait()
                listener.clear()
                if one.is_closed:
                    raise InputError(f"{path} is not there any more", "it was renamed or deleted")
                yield self._state(one)
        finally:
            one.listeners.discard(listener)
            self._drop(one)

    def _key(self, path: str) -> str:
        """A path as all documents are known by it. Raises `InputError`."""
        return self.workspace.relative(self.workspace.path(path))

    async def _opened(self, path: str) -> Open:
        """The open document of a path. Raises `InputError`."""
        file = self.workspace.writable(path)
        if file.name.endswith(LAYOUT):
            raise InputError(f"{path} is not a scenario", "it is where a scenario's nodes are drawn")
        key = self.workspace.relative(file)
        # It may be closed again before this goes on.
        while (one := self._open.get(key)) is None:
            if key not in self._opening:
                self._opening[key] = self._begin(self._read(key, file))
            await asyncio.shield(self._opening[key])
        return one

    async def _read(self, key: str, file: Path) -> None:
        """Open a document; a long journal takes seconds to read."""
        try:
            document = await asyncio.to_thread(Document, key, file, Journal(self.workspace.own / "edits", key))
            self._open[key] = Open(document)
        finally:
            del self._opening[key]

    def _drop(self, opened: Open) -> None:
        """Close a document that nobody needs open."""
        if opened.listeners or opened.saving is not None or opened.turn.locked() or not opened.document.is_saved:
            return
        opened.is_closed = True
        self._keep_own(opened)
        if self._open.get(opened.document.path) is opened:
            # What can be undone is in its journal, too.
            del self._open[opened.document.path]

    def _keep_own(self, opened: Open) -> None:
        """Remember a text of the user's own whose programs are unknown: it needs no consent when it is opened again."""
        if opened.document.text == opened.own_text == opened.checked_text and opened.checked.programs is None:
            self.agreement.add(own(opened.own_text))

    def _state(self, opened: Open) -> m.Document:
        document, checked = opened.document, opened.checked
        return m.Document(
            path=document.path,
            text=document.text,
            revision=document.revision,
            saved=document.is_saved,
            save_problem=document.save_problem,
            on_disk=document.on_disk,
            can_undo=bool(document.undo_label),
            can_redo=bool(document.redo_label),
            undo=document.undo_label,
            redo=document.redo_label,
            layout=document.layout,
            drawing=checked.drawing,
            problems=checked.problems,
            lacks=checked.lacks,
            duration_s=checked.duration_s,
            study_runs=checked.study_runs,
            runs_programs=list(checked.programs or ()),
            trusted=self._is_own(opened) if checked.programs is None else self.agreement.has(checked.programs),
            data=dict(checked.data or {}),
            going=opened.going,
        )

    # Changing

    async def command(self, path: str, command: m.Command, base: int | None, author: object) -> m.Ack:
        """Carry out a command. The acknowledgement has no id yet.

        Raises:
            Stale: it is for another revision.
            DumbbellError: it can't be carried out.
        """
        one = await self._opened(path)
        loop = asyncio.get_running_loop()
        async with one.turn:
            if one.is_closed:
                raise InputError(f"{path} is not open any more", "its file was renamed or deleted")
            before = one.document.revision
            text = one.document.text
            was_own = self._is_own(one) or (text == one.checked_text and self.agreement.has(one.checked.programs))
            made = one.document.apply(command, base, author, loop.time())
            is_edit = not isinstance(command, m.Undo | m.Redo | m.Resolve)
            one.own_text = one.document.text if was_own and is_edit else None
        if one.document.revision != before:
            self._check(one)
        else:
            one.tell()
        if isinstance(command, m.Save | m.Resolve):
            await self._save(one)
        else:
            self._save_soon(one)
        return m.Ack(id=0, revision=one.document.revision, made=made)

    async def change(self, path: str, command: m.Batch, author: object) -> None:
        """Carry out a command on a document as it is now, and save it. Raises `DumbbellError` if that can't be done."""
        one = await self._opened(path)
        is_done = False
        while not is_done:
            with suppress(Stale):  # Somebody else has changed it meanwhile.
                await self.command(path, command, one.document.revision, author)
                is_done = True
        await self._save(one)
        self._drop(one)

    def _is_own(self, opened: Open) -> bool:
        """True if the user wrote here what the text starts, whether that is known or not."""
        text = opened.document.text
        return text == opened.own_text or (opened.checked.programs is None and self.agreement.has(own(text)))

    def revision(self, path: str) -> int | None:
        """The present revision of an open document; its state is told again to all who listen."""
        with suppress(InputError):
            one = self._open.get(self._key(path))
            if one is not None:
                one.tell()
                return one.document.revision
        return None

    async def ready_to_run(
        self, path: str, overrides: Sequence[str] = (), model: type[Scenario] = Scenario
    ) -> tuple[str, ...]:
        """Save a scenario before it is run with `overrides`. Returns the programs that it may start.

        Raises `InputError` if it is not saved or means nothing, `NotAgreed` if it runs what the user has not agreed to.
        """
        one = await self._opened(path)
        await self._save(one)
        try:
            if not one.document.is_saved:
                told = one.document.save_problem
                why = told.why if told else "the file and this page have both changed"
                raise InputError(f"{path} is not saved", why, "decide which text to keep, then run it")
            await self._understood(one)
            programs = await self._started_by(one, overrides, model)
            self.ask_about(path, programs)
            return programs
        finally:
            self._drop(one)

    async def _started_by(self, opened: Open, overrides: Sequence[str], model: type[Scenario]) -> tuple[str, ...]:
        """Reads the programs that a run would start: files that the scenario names may have changed since its check."""
        known = opened.checked

        def read_now() -> tuple[str, ...]:
            draft = read(opened.document.file, overrides)
            return programs(draft, checked(draft, model))

        try:
            found = await asyncio.to_thread(read_now)
        except ScenarioError as error:
            raise run_places.as_in(self.workspace.root, error) from None
        if not overrides and found != known.programs and opened.checked is known:
            opened.checked, opened.programs = replace(known, programs=found), found
            opened.tell()
        return found

    def ask_about(self, path: str, programs: Sequence[str]) -> None:
        """Raises `NotAgreed` if programs of a scenario may not run yet."""
        if not self.agreement.has(programs):
            raise NotAgreed(path, programs)

    def agree(self, programs: Sequence[str]) -> None:
        """Let these programs run, whatever scenario has them."""
        self.agreement.add(programs)
        for one in self._open.values():
            one.tell()
            if one.further is not None and not one.looked_all:
                self._look_further(one)

    # Files come, move and go

    async def settle(self, path: str) -> None:
        """Save a document before its file is copied or moved."""
        one = self._open.get(self._key(path))
        if one is not None:
            await self._save(one)

    @asynccontextmanager
    async def moving(self, path: str) -> AsyncGenerator[None, None]:
        """While a file is renamed or deleted: it is saved before, nobody writes meanwhile, and its document is closed
        after that."""
        path = self._key(path)
        with suppress(KeyError, DumbbellError):
            await asyncio.shield(self._opening[path])
        one = self._open.get(path)
        if one is None:
            yield
        else:
            async with one.turn:
                await asyncio.to_thread(one.document.save)
                yield
                one.is_closed = True
                for task in (one.saving, one.checking, one.looking):
                    if task is not None:
                        task.cancel()
                self._open.pop(path, None)
            one.tell()
        Journal(self.workspace.own / "edits", path).remove()

    # Checking

    def _check(self, opened: Open) -> None:
        """Check the present text soon, and tell those who listen."""
        if opened.checked_text == opened.document.text:
            opened.tell()
        elif opened.checking is None or opened.checking.done():
            opened.checking = self._begin(self._checked(opened))

    async def _checked(self, opened: Open) -> None:
        await self._understood(opened)
        self._look_further(opened)

    def _look_further(self, opened: Open) -> None:
        if opened.looking is None or opened.looking.done():
            opened.looking = self._begin(self._looked_further(opened))

    async def _looked_further(self, opened: Open) -> None:
        """Find out what this machine lacks, once changes pause: that is worth no delay of what the text means."""
        while opened.further is not opened.checked or (
            not opened.looked_all and self.agreement.has(opened.checked.programs)
        ):
            known = opened.checked
            await asyncio.sleep(QUIET_S)
            if opened.checked is not known:
                continue
            may_start = self.agreement.has(known.programs)
            # A compiler may take long, and checks of texts don't wait for it.
            async with self._one_look:
                found = await asyncio.to_thread(_further, known, may_start)
            if opened.checked is known:
                opened.checked = opened.further = found
                opened.looked_all = may_start
                if (found.problems, found.lacks, found.drawing) != (known.problems, known.lacks, known.drawing):
                    opened.tell()

    async def _understood(self, opened: Open) -> None:
        """Find out what the present text means."""
        while opened.checked_text != opened.document.text:
            text = opened.document.text
            async with self._one_check:
                found = await asyncio.to_thread(_check, text, opened)
            # Who writes the text has not written what came into a file that it names meanwhile.
            if found.programs is not None:
                if text == opened.own_text and not has_changed(opened.programs, found.programs):
                    self.agreement.add(found.programs)
                opened.programs = found.programs
            found = replace(found, drawing=carried(found.drawing, opened.checked.drawing))
            if found.drawing is None and opened.checked.drawing is not None:
                found = replace(found, drawing=opened.checked.drawing.model_copy(update={"current": False}))
            if found.data is None:
                found = replace(found, data=opened.checked.data)
            opened.checked, opened.checked_text = replace(found, lacks=opened.checked.lacks), text
            if opened.is_closed:
                self._keep_own(opened)
            opened.tell()

    # Saving

    def _save_soon(self, opened: Open) -> None:
        loop = asyncio.get_running_loop()
        if not opened.document.wants_saving:
            return
        now = loop.time()
        if opened.unsaved_since is None:
            opened.unsaved_since = now
        if opened.saving is not None:
            if now - opened.unsaved_since > LATEST_S:
                return
            opened.saving.cancel()
        opened.saving = self._begin(self._saved_later(opened))

    async def _saved_later(self, opened: Open) -> None:
        await asyncio.sleep(QUIET_S)
        opened.saving, opened.unsaved_since = None, None
        await self._save(opened)
        self._drop(opened)

    async def _save(self, opened: Open) -> None:
        async with opened.turn:
            if opened.is_closed:
                return
            text = opened.document.text
            changed = await asyncio.to_thread(opened.document.save)
        if opened.document.text != text:
            self._check(opened)
        elif changed:
            opened.tell()

    async def _look(self, opened: Open) -> None:
        async with opened.turn:
            changed = not opened.is_closed and opened.document.look()
        if changed:
            self._check(opened)

    def _begin(self, work: Any) -> asyncio.Task[None]:
        task: asyncio.Task[None] = asyncio.create_task(work)
        self._tasks.add(task)  # The loop itself keeps none alive.
        task.add_done_callback(self._tasks.discard)
        return task


def _further(known: Checked, may_start: bool) -> Checked:
    try:
        return looked_further(known, may_start)
    except Exception as error:
        if "PYTEST_CURRENT_TEST" in os.environ:
            raise
        return replace(known, lacks=[_mistake("could not find out what this machine lacks", error)])


def _mistake(what: str, error: Exception) -> m.Problem:
    return m.Problem(what=what, why=f"{type(error).__name__}: {error}", hint="this is a mistake of dumbbell")


def _check(text: str, opened: Open) -> Checked:
    """Check a text; a mistake of ours is a problem, too, and no end of the editor."""
    try:
        return check(text, opened.document.file, opened.document.path, opened.understood)
    except Exception as error:
        if "PYTEST_CURRENT_TEST" in os.environ:
            raise
        return Checked([_mistake(f"{opened.document.path} could not be checked", error)])

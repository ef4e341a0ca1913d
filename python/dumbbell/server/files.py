"""The workspace's files: what there is, new ones, copies, other names, the trash."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Annotated, Final

from fastapi import APIRouter, Body, Request
from starlette.concurrency import run_in_threadpool

from dumbbell import inputs, outputs
from dumbbell.engines.events import Event
from dumbbell.errors import InputError, unwritable
from dumbbell.server import layout, templates
from dumbbell.server.agreement import own
from dumbbell.server.check import check
from dumbbell.server.documents import Documents
from dumbbell.server.http_messages import (
    CopyFile,
    DeleteFile,
    FileChange,
    FileEntry,
    Files,
    NewFile,
    NewFolder,
    RenameFile,
    Template,
)
from dumbbell.server.messages import FilesChanged
from dumbbell.server.workspace import LARGEST, SCENARIO, Workspace, layout_of

_ELSEWHERE: Final = "make its folder writable, or choose another name"
LOOK_S: Final = 1.0
"""Seconds between two looks at the workspace's folders."""
MOST_FOLDERS: Final = 500
router = APIRouter(prefix="/api")


@router.get("/files")
def files(request: Request, dir: str = "") -> Files:
    """Lists a folder of the workspace."""
    workspace: Workspace = request.app.state.workspace
    return Files(dir=workspace.relative(workspace.path(dir)), entries=workspace.entries(dir))


@router.get("/templates")
def all_templates() -> list[Template]:
    """Lists the templates of new scenarios."""
    return templates.all_of_them()


@router.post("/files")
async def change(request: Request, asked: Annotated[FileChange, Body()]) -> FileEntry:
    """Make, copy, rename or delete a file. Nothing is overwritten, and what is deleted is in the trash."""
    documents: Documents = request.app.state.documents
    match asked:
        case NewFile():
            return await run_in_threadpool(_new, documents, asked)
        case NewFolder():
            return await run_in_threadpool(_folder, documents.workspace, asked.path)
        case CopyFile():
            await documents.settle(asked.path)
            return await run_in_threadpool(_copy, documents.workspace, asked.path, asked.to)
        case RenameFile():
            async with documents.moving(asked.path):
                return await run_in_threadpool(_rename, documents.workspace, asked.path, asked.to)
        case DeleteFile():
            async with documents.moving(asked.path):
                return await run_in_threadpool(_delete, documents.workspace, asked.path)


def _new(documents: Documents, asked: NewFile) -> FileEntry:
    workspace = documents.workspace
    file = _free(workspace, asked.path)
    text = asked.text
    if asked.template is not None:
        text = templates.text(asked.template, file.name.removesuffix(SCENARIO))
    text = "" if text is None else text.replace("\r\n", "\n").replace("\r", "\n")
    _write(file, text)
    for name, content in templates.beside(asked.template).items():
        if not (file.parent / name).exists():
            outputs.write(file.parent / name, content)
    if not asked.foreign:
        # The user's own, or ours: there is nothing to ask about it.
        found = check(text, file).programs
        documents.agreement.add(own(text) if found is None else found)
    laid = asked.layout or (templates.layout(asked.template) if asked.template else None)
    if laid is not None and (text_of_layout := layout.write(laid)):
        _write(layout_of(file), text_of_layout)
    return _entry(workspace, file)


def create(documents: Documents, path: str, text: str, beside: Path | None) -> FileEntry:
    """Write a new scenario, drawn as the one in the file `beside` is, if one is named. Raises `DumbbellError`."""
    workspace = documents.workspace
    file = _free(workspace, path)
    _write(file, text)
    if beside is not None:
        _copied(layout_of(beside), layout_of(file))
    return _entry(workspace, file)


def _free(workspace: Workspace, path: str) -> Path:
    """The file of a path that is not taken. Raises `InputError`."""
    file = workspace.writable(path)
    if not file.name.endswith(SCENARIO):
        raise InputError(f"{path} is not a scenario", "its name does not end in .toml", "name it mine.toml")
    if file.exists() or file.is_symlink():
        raise InputError(f"{path} is there already", "nothing is overwritten", "choose another name")
    return file


def _write(file: Path, text: str) -> None:
    """Write a file that is not there yet. Raises `DumbbellError`."""
    try:
        outputs.make_folder(file.parent)
        if os.path.lexists(file):
            raise InputError(f"{file.name} is there already", "nothing is overwritten", "choose another name")
        outputs.write(file, text.encode())
    except OSError as error:
        raise unwritable(file.name, error, hint=_ELSEWHERE) from None


def _folder(workspace: Workspace, path: str) -> FileEntry:
    at = workspace.path(path)
    if os.path.lexists(at):
        raise InputError(f"{path} is there already", "", "choose another name")
    try:
        outputs.make_folder(at)
    except OSError as error:
        raise unwritable(path, error, hint=_ELSEWHERE) from None
    return _entry(workspace, at)


def _existing(workspace: Workspace, path: str) -> Path:
    file = workspace.writable(path)
    if not file.is_file():
        raise InputError(f"there is no {path}", "", "the list of files shows what there is")
    return file


def _copy(workspace: Workspace, path: str, to: str) -> FileEntry:
    file, copy = _existing(workspace, path), _free(workspace, to)
    for source, target in ((file, copy), (layout_of(file), layout_of(copy))):
        _copied(source, target)
    return _entry(workspace, copy)


def _copied(source: Path, target: Path) -> None:
    """Copy a text if there is one. Raises `DumbbellError`."""
    if not source.is_file():
        return
    try:
        text = inputs.read_text(source, 4 * LARGEST)
    except UnicodeDecodeError:
        raise InputError(f"{source.name} is not UTF-8 text", "", "save it as UTF-8") from None
    except OSError as error:
        raise InputError(f"cannot read {source.name}", error.strerror or str(error)) from None
    _write(target, text)


def _rename(workspace: Workspace, path: str, to: str) -> FileEntry:
    file, target = _existing(workspace, path), _free(workspace, to)
    try:
        outputs.make_folder(target.parent)
        # A link is made where nothing may be overwritten: it fails if the name is taken meanwhile.
        os.link(file, target)
        file.unlink()
        if layout_of(file).is_file():
            os.replace(layout_of(file), layout_of(target))
    except FileExistsError:
        raise InputError(f"{to} is there already", "nothing is overwritten", "choose another name") from None
    except OSError as error:
        raise unwritable(to, error, hint=_ELSEWHERE) from None
    return _entry(workspace, target)


def _delete(workspace: Workspace, path: str) -> FileEntry:
    file = _existing(workspace, path)
    entry = _entry(workspace, file)
    try:
        workspace.trash(file)
        if layout_of(file).is_file():
            workspace.trash(layout_of(file))
    except OSError as error:
        raise unwritable(path, error, hint=_ELSEWHERE) from None
    return entry


def _entry(workspace: Workspace, file: Path) -> FileEntry:
    try:
        return workspace.entry(file)
    except OSError as error:
        raise InputError(f"{file.name} is gone", error.strerror or str(error)) from None


class Watching:
    """The source of the topic `files`: the folders whose lists have changed."""

    def __init__(self, workspace: Workspace) -> None:
        """Folders of the workspace, but not what is in runs and studies."""
        self._workspace = workspace

    async def __call__(self, path: str, since: int | None) -> AsyncGenerator[Event, None]:
        """Tell changes as they are seen, once a second at most."""
        known = await asyncio.to_thread(self._look)
        while True:
            await asyncio.sleep(LOOK_S)
            now = await asyncio.to_thread(self._look)
            changed = sorted(folder for folder in {*known, *now} if known.get(folder) != now.get(folder))
            known = now
            if changed:
                yield FilesChanged(folders=changed).model_dump()

    def _look(self) -> dict[str, list[tuple[str, int]]]:
        """Folder -> what changes with its list: names, and times of scenarios."""
        found: dict[str, list[tuple[str, int]]] = {}
        waiting = [self._workspace.root]
        while waiting and len(found) < MOST_FOLDERS:
            at = waiting.pop()
            names = []
            try:
                entries = list(os.scandir(at))
            except OSError:
                continue
            for entry in entries:
                if entry.name.startswith(".") and not entry.name.startswith(".partial-"):
                    continue
                try:
                    is_scenario = entry.name.endswith(SCENARIO)
                    names.append((entry.name, entry.stat().st_mtime_ns if is_scenario else 0))
                    if entry.is_dir(follow_symlinks=False) and at.name not in ("runs", "studies"):
                        waiting.append(at / entry.name)
                except OSError:
                    continue
            found[self._workspace.relative(at)] = sorted(names)
        return found

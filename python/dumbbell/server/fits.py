"""Captures and logs that are dropped into the page: `dumbbell fit` reads them, in a process of its own.

A capture holds private data, so it is kept in a temporary folder only while it is read, and goes with a server that is
killed. The process opens nothing outside that folder, and ends when the page gives the request up. What stays is the
fit, in memory.
"""

from __future__ import annotations

import asyncio
import json
import re
import secrets
from collections import OrderedDict
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from fastapi import APIRouter, HTTPException, Query, Request
from starlette.concurrency import run_in_threadpool

from dumbbell.below import Below, confined
from dumbbell.cc.bundled import SIMULATED
from dumbbell.command import command
from dumbbell.errors import InputError
from dumbbell.fitting import Fit, profile
from dumbbell.fitting.scenario import own_cc, toml
from dumbbell.frozen import dataclass
from dumbbell.scenario.file.loading import Draft, checked
from dumbbell.scenario.file.toml import parse
from dumbbell.server import run_places
from dumbbell.server.children import Child, Children
from dumbbell.server.documents import Documents
from dumbbell.server.files import create
from dumbbell.server.fit_messages import ChangesAsked, Course, FitPlanAsked, FitSaveAsked, Fitted, Outcomes
from dumbbell.server.http_messages import FileEntry
from dumbbell.server.knobs import knobs
from dumbbell.server.scratch import scratch
from dumbbell.server.whatif import changed, of_scenario
from dumbbell.server.whatif_messages import Planned

MOST_AT_ONCE: Final = 2
"""Captures that are read at a time, and transfers that are repeated."""
MOST_KEPT: Final = 16
"""Fits that are kept; an older one is forgotten."""
_PROFILE: Final = ".profile.json"
_PART: Final = 1 << 20
"""Bytes of a file that are written at a time."""
_MOST_TOLD: Final = 16 << 20
"""Bytes of a command's output."""
_LOOK_S: Final = 0.3
"""Time between two looks whether the page still waits."""
_LEFT: Final = 499
"""Status of an answer for which nobody waits, as nginx has it."""


@dataclass(frozen=True)
class Kept:
    """A fit that the page shows."""

    name: str
    """Name of the file."""
    fit: Fit
    text: str
    """Scenario of the fitted path."""
    shown: Fitted
    """Answer to the page."""


class Fits:
    """The fits of this server, by their ids."""

    def __init__(self) -> None:
        """There is none."""
        self._kept: OrderedDict[str, Kept] = OrderedDict()
        self._going = 0

    def keep(self, kept: Kept) -> None:
        """Keeps a fit, and forgets the oldest if there are many."""
        self._kept[kept.shown.id] = kept
        while len(self._kept) > MOST_KEPT:
            self._kept.popitem(last=False)

    def get(self, name: str) -> Kept:
        """A fit. Raises 404."""
        if name not in self._kept:
            raise run_places.absent("fit", name)
        return self._kept[name]

    @asynccontextmanager
    async def folder(self) -> AsyncIterator[Path]:
        """A folder that only this user can enter, as long as the block lasts. Raises `InputError` if many are used."""
        if self._going >= MOST_AT_ONCE:
            why = f"{self._going} captures are read, or transfers repeated"
            raise InputError("the server is busy", why, "wait for them, or cancel one")
        self._going += 1
        try:
            async with scratch("dumbbell-fit-") as found:
                yield found
        finally:
            self._going -= 1


def router(root: Path) -> APIRouter:
    """The routes of the workspace `root`."""
    made, fits = APIRouter(prefix="/api/fit"), Fits()

    @made.post("")
    async def fit(
        request: Request,
        name: Annotated[str, Query(max_length=300)],
        connection: Annotated[str, Query(max_length=200)] = "",
        interface: Annotated[list[Annotated[str, Query(max_length=100)]], Query(max_length=16)] = [],  # noqa: B006
        at: Literal["", "sender", "receiver"] = "",
    ) -> Fitted:
        """Fit a path to the capture or the log that is the request's body."""
        plain = re.sub(r"[^A-Za-z0-9._-]", "_", name.rpartition("/")[2])[-100:].lstrip(".") or "capture"
        only = ["--connection", connection] if connection else []
        only += [word for one in interface for word in ("--interface", one)] + (["--at", at] if at else [])
        async with fits.folder() as folder:
            await _received(request, folder / plain)
            asked = ["fit", f"./{plain}", *only, "--json", "--anonymize", "-o", _PROFILE]
            document = await _command_document(folder, asked, request)
            found = await run_in_threadpool(_read, folder / _PROFILE)
        kept = await run_in_threadpool(_kept, root, plain, replace(found, name=plain), document, only)
        fits.keep(kept)
        return kept.shown

    @made.get("/{id_}")
    def fitted(id_: str) -> Fitted:
        """A fit that was made before."""
        return fits.get(id_).shown

    @made.post("/{id_}/what-if")
    async def what_if(id_: str, asked: ChangesAsked, request: Request) -> Outcomes:
        """Repeat the transfer with changes, in a process of its own."""
        kept = fits.get(id_)
        sets = [word for one in asked.changes for word in ("--what-if", one)]
        async with fits.folder() as folder:
            (folder / _PROFILE).write_text(profile.text(kept.fit), encoding="utf-8")
            document = await _command_document(folder, ["fit", _PROFILE, "--json", "--cc", asked.cc, *sets], request)
        outcomes = document["what_if"]
        return Outcomes(
            answer=document["answer"][-len(outcomes) + 1 :], table=document["what_if_table"], runs=outcomes[0]["runs"]
        )

    @made.post("/{id_}/plan")
    def plan(id_: str, asked: FitPlanAsked) -> Planned:
        """The plan of the fitted path with other values."""
        kept = fits.get(id_)
        return of_scenario(checked(_draft(root, kept.name, kept.text).with_values(asked.overrides)))

    @made.post("/{id_}/save")
    async def save(id_: str, asked: FitSaveAsked, request: Request) -> FileEntry:
        """Write the fitted path as a scenario; its comments have intervals and evidence."""
        documents: Documents = request.app.state.documents
        kept = fits.get(id_)
        return await run_in_threadpool(_saved, documents, root, kept, asked)

    return made


async def _received(request: Request, file: Path) -> None:
    """Write the request's body into a file."""
    with file.open("xb") as written:
        part, size = bytearray(), 0
        async for chunk in request.stream():
            part += chunk
            size += len(chunk)
            if len(part) >= _PART:
                await run_in_threadpool(written.write, bytes(part))
                part.clear()
        written.write(part)
    if not size:
        raise InputError(f"{file.name} is empty", "", "choose another file")


async def _command_document(folder: Path, arguments: Sequence[str], request: Request) -> dict[str, Any]:
    """The JSON that a command says, which opens nothing outside `folder`; it ends if nobody waits for it any more.

    Raises:
        InputError: the command failed, with its words.
        HTTPException: nobody waits.
    """
    child = await Children(folder, {"TMPDIR": str(folder)}).start(arguments, agreed=())
    try:
        while not child.ended.is_set():
            try:
                await asyncio.wait_for(child.ended.wait(), _LOOK_S)
            except TimeoutError:
                if await request.is_disconnected():
                    raise HTTPException(_LEFT, "the page has left") from None
    finally:
        child.kill()
    return await run_in_threadpool(_content, child, folder)


def _content(child: Child, folder: Path) -> dict[str, Any]:
    if child.code != 0:
        what, *others = child.problem().replace(f"{folder}/", "").replace("./", "").split("\n") or ["it failed"]
        # The hint of a text is the line that begins so, that of a document the second one.
        hints = [line.removeprefix("hint: ") for line in others if line.startswith("hint: ")] or others[1:]
        why = [line for line in others[:1] if not line.startswith("hint: ")]
        raise InputError(what, "".join(why), "\n".join(hints))
    text = child.text(_MOST_TOLD)
    found: dict[str, Any] = json.JSONDecoder().raw_decode(text[text.index("{") :])[0]
    return found


def _read(file: Path) -> Fit:
    with confined(Below(file.parent)):
        return profile.read(file)


def _kept(root: Path, name: str, fit: Fit, document: dict[str, Any], only: Sequence[str]) -> Kept:
    text = toml(fit)
    scenario = checked(_draft(root, name, text))
    shown = Fitted(
        id=secrets.token_hex(8),
        name=name,
        title=document["title"],
        answer=document["answer"],
        table=[list(row) for row in document["table"]],
        measured=None if document["measured"] is None else Course(**document["measured"]),
        left_out=document["left_out_packets"],
        cc=own_cc(fit),
        algorithms=list(SIMULATED),
        command=command("fit", name, *only),
        scenario=text,
        knobs=knobs(scenario.source.data, float(scenario.duration) / 1e9),
    )
    return Kept(name, fit, text, shown)


def _draft(root: Path, name: str, text: str) -> Draft:
    # Nothing in it names a file.
    return Draft(name, text, parse(text), root, {})


def _saved(documents: Documents, root: Path, kept: Kept, asked: FitSaveAsked) -> FileEntry:
    now = _draft(root, kept.name, kept.text).with_values(asked.overrides)
    checked(now)
    return create(documents, asked.to, changed(kept.text, now), None)

"""Labs: start one, change its links, ask its nodes, record it, save what was done, end it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from fastapi import APIRouter, Request
from starlette.concurrency import run_in_threadpool

from dumbbell import below
from dumbbell.engines.events import Event
from dumbbell.errors import InputError, RunFailed
from dumbbell.labs import changes, daemons, place, record, recording, rewire, traffic
from dumbbell.labs.build import LabScenario
from dumbbell.labs.configurations import typed
from dumbbell.labs.down import end
from dumbbell.labs.live import Live
from dumbbell.records.directory import RUNS
from dumbbell.server import lab_questions, run_places
from dumbbell.server.children import Child, Children
from dumbbell.server.lab_messages import (
    AskLab,
    ChangeDaemon,
    ChangeLink,
    LabAnswer,
    LabEnded,
    LabProgress,
    LabState,
    Recorded,
    RecordLab,
    SavedLab,
    SaveLab,
    StartLab,
    StartTraffic,
    TrafficResult,
)
from dumbbell.server.lab_state import standing
from dumbbell.server.terminals import Terminals

START_S: Final = 180.0
END_S: Final = 15.0
EVERY_S: Final = 0.1
"""The interval of looks at a lab's links."""


class Labs:
    """The labs that this server has started: they end with it, and with whatever kills it."""

    def __init__(self, root: Path, children: Children) -> None:
        """Labs of scenarios in the workspace `root`."""
        self._root, self._children = root, children
        self._owners: dict[str, Child] = {}

    def is_mine(self, name: str) -> bool:
        """True if this server has started the lab."""
        child = self._owners.get(name)
        return child is not None and child.code is None

    async def start(self, asked: StartLab, agreed: Sequence[str] | None) -> str:
        """Start a lab, and wait until it is up. Returns its name. Raises `InputError` if it cannot be built.

        `agreed`: as `Children.start`.
        """
        run_places.scenario(self._root, asked.path)
        sets = [word for text in asked.overrides for word in ("--set", text)]
        named = ["--name", asked.name] if asked.name else []
        # Its shell reads standard input, which ends with this process: so does the lab.
        child = await self._children.start(
            ["lab", "up", run_places.argument(asked.path), *sets, *named], agreed, stdin=asyncio.subprocess.PIPE
        )
        async with asyncio.timeout(START_S):
            while (name := await run_in_threadpool(_of, child.pid)) is None:
                if child.code is not None:
                    what, _, why = child.problem().partition("\n")
                    raise InputError(what or "the lab ended while it was built", why.strip())
                await asyncio.sleep(0.05)
        self._owners[name] = child
        return name

    async def end(self, name: str) -> None:
        """End a lab. Raises `RunFailed` if it does not end."""
        child = self._owners.get(name)
        if child is None or child.code is not None:
            await run_in_threadpool(end, find(name))
            return
        _let_go(child)
        try:
            await asyncio.wait_for(child.ended.wait(), END_S)
        except TimeoutError:
            why = f"it still lives after {END_S:.0f} s"
            raise RunFailed(f"the lab {name} does not end", why, "dumbbell lab list --json names its owner") from None

    def end_all(self) -> None:
        """End the labs that this server has started."""
        for child in self._owners.values():
            if child.code is None:
                _let_go(child)


def _let_go(child: Child) -> None:
    """Close what the lab's shell reads: it ends, and the lab with it."""
    if child.process.stdin is not None:
        child.process.stdin.close()


def _of(owner: int) -> str | None:
    """The name of the lab that a process owns, once it is up."""
    return next((path.name for path in place.alive() if place.facts(path).get("owner") == owner), None)


def find(name: str) -> Path:
    """The directory of a lab of this user that is up. Raises 404."""
    for path in place.alive():
        if path.name == name:
            below.allow(path.parent)
            return path
    raise run_places.absent("lab", name)


def router(root: Path, labs: Labs, terminals: Terminals) -> APIRouter:
    """The routes of labs."""
    made = APIRouter(prefix="/api/labs")

    def state(name: str) -> LabState:
        path = find(name)
        return standing(path, labs.is_mine(name), terminals.of(path))

    @made.get("")
    def every() -> list[LabState]:
        """The labs of this user that are up, whoever has started them."""
        return [standing(path, labs.is_mine(path.name), terminals.of(path)) for path in place.alive()]

    @made.post("")
    async def start(asked: StartLab, request: Request) -> LabState:
        """Build the network of a scenario, which stays up until it is ended, or this server."""
        documents = getattr(request.app.state, "documents", None)
        agreed = None
        if documents is not None:
            agreed = await documents.ready_to_run(asked.path, asked.overrides, LabScenario)
        return await run_in_threadpool(state, await labs.start(asked, agreed))

    @made.get("/{lab}")
    def lab_state(lab: str) -> LabState:
        """A lab as it is now."""
        return state(lab)

    @made.delete("/{lab}")
    async def down(lab: str) -> dict[str, bool]:
        """End a lab, and all programs in it."""
        await run_in_threadpool(find, lab)
        await labs.end(lab)
        return {"ended": True}

    @made.post("/{lab}/link")
    def link(lab: str, asked: ChangeLink) -> LabState:
        """Change a link now."""
        changes.change(find(lab), asked.of, asked.keys)
        return state(lab)

    @made.post("/{lab}/daemon")
    def daemon(lab: str, asked: ChangeDaemon) -> LabState:
        """Kill or start a routing daemon now."""
        daemons.change(find(lab), asked.router, asked.daemon, asked.up)
        return state(lab)

    @made.post("/{lab}/ask")
    def ask(lab: str, asked: AskLab) -> LabAnswer:
        """Ask a node something, or what lies between two."""
        return lab_questions.answer(Live(find(lab)), asked)

    @made.post("/{lab}/traffic")
    def flow(lab: str, asked: StartTraffic) -> TrafficResult:
        """Carry out a flow, or what the scenario has, and wait for its end."""
        live = Live(find(lab))
        if asked.sender is None or asked.receiver is None:
            results = live.play()
        else:
            results = [live.tcp(asked.sender, asked.receiver, asked.cc, asked.seconds)]
        return TrafficResult(flows=[_result_text(one) for one in results])

    @made.post("/{lab}/save")
    def save(lab: str, asked: SaveLab) -> SavedLab:
        """The changes so far as `[[events]]`; with a path, all that was done as a new scenario."""
        import tomlkit

        path = find(lab)
        if asked.path is not None:
            record.save(path, run_places.scenario(root, asked.path))
        text = tomlkit.dumps({"events": changes.events(path)}) if changes.events(path) else ""
        return SavedLab(
            text=text,
            path=asked.path,
            routers=list(typed(path)),
            rewired=rewire.is_rewired(path),
            waiting=list(rewire.waiting(path)),
        )

    @made.post("/{lab}/record")
    def recorded(lab: str, asked: RecordLab) -> Recorded:
        """Begin to keep what is done as a run, or end that."""
        if asked.action == "start":
            run_places.check_writable(root, RUNS)
            recording.start(find(lab), asked.name, root / RUNS)
            return Recorded(run=None)
        run = recording.stop(find(lab))
        return Recorded(run=run.directory.name, verdict=run.verdict)

    return made


def _result_text(result: traffic.FlowResult) -> str:
    from dumbbell.report.words import measured_rate

    said = result.error or measured_rate(result.goodput_bps)
    return f"{result.from_} > {result.to}: {said}"


class Topic:
    """The source of topics `lab/ID`."""

    def __init__(self, labs: Labs, terminals: Terminals) -> None:
        """Labs of this user."""
        self._labs, self._terminals = labs, terminals

    async def __call__(self, path: str, since: int | None) -> AsyncGenerator[Event, None]:
        """The lab's state, at once and whenever it changes; and ten times a second what its links carry."""
        folder = await run_in_threadpool(find, path)
        stamp: Any = None
        loop = asyncio.get_running_loop()
        due = loop.time()
        while True:
            now = await run_in_threadpool(self._look, folder, stamp)
            if now is None:
                yield LabEnded().model_dump()
                return
            stamp, state, progress = now
            if state is not None:
                yield state.model_dump()
            if progress is not None:
                yield progress.model_dump()
            due = max(due + EVERY_S, loop.time())
            await asyncio.sleep(due - loop.time())

    def _look(self, folder: Path, before: Any) -> tuple[Any, LabState | None, LabProgress | None] | None:
        """Returns the basis of the state; the state, if that is another than `before`; and the traffic of links."""
        from dumbbell.labs.agent import ask

        try:
            answer = ask(folder, {"do": "look"})
        except (RunFailed, OSError):
            return None
        terminals = self._terminals.of(folder)
        journals = [_written(folder / name) for name in (changes.FILE, daemons.FILE, "plan.json", rewire.WAITING)]
        stamp = (journals, place.is_recorded(folder), terminals)
        state = None if stamp == before else standing(folder, self._labs.is_mine(folder.name), terminals)
        if answer["answer"] != "told":
            return stamp, state, None
        event = answer["event"]
        return stamp, state, LabProgress(time_ns=event["time_ns"], links=event["links"], flows=event["flows"])


def _written(path: Path) -> tuple[int, ...]:
    """Another value after each change of the file."""
    with suppress(OSError):
        now = path.stat()
        return now.st_ino, now.st_size, now.st_mtime_ns
    return ()

"""The terminals of labs: programs in their nodes. A program belongs to its lab, and ends with it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Final

from fastapi import APIRouter, HTTPException, WebSocket
from starlette.concurrency import run_in_threadpool

from dumbbell.errors import DumbbellError, InputError
from dumbbell.labs.agent import Connection, running
from dumbbell.labs.network import Network
from dumbbell.labs.place import alive
from dumbbell.server import run_places
from dumbbell.server.lab_messages import OpenTerminal, TerminalState
from dumbbell.server.terminal import Terminal

MOST: Final = 64
"""Terminals at a time."""
GONE: Final = 4404
"""A WebSocket's code for a terminal that there is not."""

Start = Callable[[int], Callable[[], int]]
"""Starts a program at a terminal's descriptor; returns what waits for it and its exit code."""


class Terminals:
    """The terminals of this server."""

    def __init__(self, root: Path) -> None:
        """Shells begin in the workspace `root`."""
        self._root = root
        self._all: dict[str, Terminal] = {}
        self._beginning = 0
        """Terminals that count although they are not there yet: to look for their labs takes time."""

    async def open(self, asked: OpenTerminal) -> TerminalState:
        """Start a program. Raises `InputError` if there is no such lab or node, or there are too many terminals."""
        if len(self._all) + self._beginning >= MOST:
            self.forget_ended()
        if len(self._all) + self._beginning >= MOST:
            raise InputError("no further terminal", f"{MOST} are open", "close one of them")
        self._beginning += 1
        try:
            start, over, lab = await run_in_threadpool(self._starter, asked)
            made = Terminal(asked, start, over, lab)
            self._all[made.id] = made
        finally:
            self._beginning -= 1
        return made.state

    def of(self, lab: Path) -> list[TerminalState]:
        """The terminals of the lab in this directory."""
        number = _number(lab)
        return [one.state for one in list(self._all.values()) if one.lab == number]

    def get(self, terminal: str) -> Terminal:
        """A terminal. Raises 404."""
        found = self._all.get(terminal)
        if found is None:
            raise run_places.absent("terminal", terminal)
        return found

    def close(self, terminal: str) -> None:
        """End a terminal."""
        self.get(terminal).close()
        del self._all[terminal]

    def close_all(self) -> None:
        """End all terminals."""
        for one in list(self._all):
            self.close(one)

    def forget_ended(self) -> None:
        """Close terminals whose labs have ended: nobody can look at them any more."""
        living = {_number(path) for path in alive()}
        for one in list(self._all.values()):
            if one.lab not in living:
                self.close(one.id)

    def _starter(self, asked: OpenTerminal) -> tuple[Start, Callable[[], None], int]:
        lab = next((path for path in alive() if path.name == asked.lab), None)
        if lab is None:
            raise run_places.absent("lab", asked.lab)
        environment = {"TERM": "xterm-256color", "COLORTERM": "truecolor", "DUMBBELL_LAB": lab.name}
        if asked.program == "lab":
            return *self._of_lab(environment), _number(lab)
        Network.of(lab).check_place(asked.node)
        arguments = ["vtysh"] if asked.program == "vtysh" else [os.environ.get("SHELL") or "/bin/sh", "-i"]
        connections: list[Connection] = []

        def start(its: int) -> Callable[[], int]:
            connection = running(lab, asked.node, arguments, (its,), environment, str(self._root))
            connections.append(connection)

            def wait() -> int:
                try:
                    return int(connection.answer()["code"])
                except (DumbbellError, OSError, ValueError):
                    return -1

            return wait

        def over() -> None:
            for connection in connections:
                connection.close()

        return start, over, _number(lab)

    def _of_lab(self, environment: dict[str, str]) -> tuple[Start, Callable[[], None]]:
        """The lab's own shell, with Mininet's words: a command of this machine."""
        started: list[subprocess.Popen[bytes]] = []

        def start(its: int) -> Callable[[], int]:
            process = subprocess.Popen(
                [sys.executable, "-P", "-c", _SHELL],
                stdin=its,
                stdout=its,
                stderr=its,
                cwd=self._root,
                env={**os.environ, **environment},
                start_new_session=True,
            )
            started.append(process)
            return process.wait

        def over() -> None:
            for process in started:
                process.terminate()

        return start, over


def _number(lab: Path) -> int:
    with suppress(OSError):
        return lab.stat().st_ino
    return -1


_SHELL: Final = (
    "import fcntl, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); "
    "import sys; sys.argv = ['dumbbell', 'lab', 'shell']; from dumbbell.__main__ import main; main()"
)
"""The lab's shell with this terminal as its own, so that Ctrl-C reaches it."""


def router(terminals: Terminals) -> APIRouter:
    """The routes of terminals."""
    made = APIRouter(prefix="/api/terminals")

    @made.post("")
    async def open_(asked: OpenTerminal) -> TerminalState:
        """Start a program in a node."""
        return await terminals.open(asked)

    @made.delete("/{terminal}")
    async def close(terminal: str) -> dict[str, bool]:
        """End a terminal, and its program."""
        terminals.close(terminal)
        return {"closed": True}

    @made.websocket("/{terminal}")
    async def attend(socket: WebSocket, terminal: str) -> None:
        """Bytes of the terminal both ways; as text, `resize`, `ack` and `exit`."""
        await socket.accept()
        try:
            found = terminals.get(terminal)
        except HTTPException:
            await socket.close(GONE)
            return
        await found.attend(socket)

    return made

"""Terminals of the web application: flow control, the screen after a reload, the end. No lab takes part."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from dumbbell.errors import InputError
from dumbbell.server import terminal as module
from dumbbell.server import terminals
from dumbbell.server.lab_messages import OpenTerminal
from dumbbell.server.terminal import Terminal
from dumbbell.server.terminals import Terminals

Scene = Callable[[Terminal], Awaitable[None]]
SHELL = """\
import fcntl, os, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execvp("/bin/sh", ["sh", "-c", sys.argv[1]])
"""


class Socket:
    """A browser's side of a terminal's WebSocket."""

    def __init__(self, acknowledges: bool = True) -> None:
        self.acknowledges = acknowledges
        self.output = b""
        self.said: list[dict[str, Any]] = []
        self.closed = False
        self._sent: asyncio.Queue[dict[str, Any]] = asyncio.Queue()

    async def receive(self) -> dict[str, Any]:
        return await self._sent.get()

    async def send_bytes(self, data: bytes) -> None:
        self.output += data
        if self.acknowledges:
            self.say({"do": "ack", "bytes": len(data)})

    async def send_text(self, text: str) -> None:
        self.said.append(json.loads(text))

    async def close(self) -> None:
        self.closed = True
        self.leave()

    def type(self, data: bytes) -> None:
        self._sent.put_nowait({"type": "websocket.receive", "bytes": data})

    def say(self, message: Any) -> None:
        self.say_text(json.dumps(message))

    def say_text(self, text: str) -> None:
        self._sent.put_nowait({"type": "websocket.receive", "text": text})

    def leave(self) -> None:
        self._sent.put_nowait({"type": "websocket.disconnect"})


async def until(look: Callable[[], object], seconds: float = 10) -> None:
    async with asyncio.timeout(seconds):
        while not look():
            await asyncio.sleep(0.01)


def perform(command: str, scene: Scene) -> None:
    """Run a command at a terminal, and look at it."""

    async def all_of_it() -> None:
        started: list[subprocess.Popen[bytes]] = []

        def start(its: int) -> Callable[[], int]:
            arguments = [sys.executable, "-c", SHELL, command]
            process = subprocess.Popen(arguments, stdin=its, stdout=its, stderr=its, start_new_session=True)
            started.append(process)
            return process.wait

        asked = OpenTerminal(lab="net", node="h1", rows=24, columns=80)
        made = Terminal(asked, start, lambda: started[0].kill())
        try:
            await scene(made)
        finally:
            made.close()
            started[0].wait(10)

    asyncio.run(all_of_it())


def attended(terminal: Terminal, socket: Socket) -> asyncio.Task[None]:
    return asyncio.create_task(terminal.attend(socket))  # type: ignore[arg-type]


def test_keys_go_in_and_output_comes_out() -> None:
    async def scene(terminal: Terminal) -> None:
        socket = Socket()
        task = attended(terminal, socket)
        socket.type(b"hello\r")
        await until(lambda: b"<hello>" in socket.output)
        await until(lambda: socket.said)
        assert socket.said == [{"do": "exit", "code": 7}]
        assert terminal.state.code == 7
        socket.leave()
        await task

    perform('read line; echo "<$line>"; exit 7', scene)


def test_a_program_sees_the_window_s_size() -> None:
    async def scene(terminal: Terminal) -> None:
        socket = Socket()
        task = attended(terminal, socket)
        socket.say({"do": "resize", "rows": 31, "columns": 97})
        await asyncio.sleep(0.1)
        socket.type(b"\r")
        await until(lambda: b"31 97" in socket.output)
        socket.leave()
        await task

    perform("read line; stty size", scene)


@pytest.mark.parametrize("nonsense", ["[", '"x"', '{"do": "resize", "rows": "many"}', '{"do": "fly"}', "{}"])
def test_nonsense_is_passed_over(nonsense: str) -> None:
    async def scene(terminal: Terminal) -> None:
        socket = Socket()
        task = attended(terminal, socket)
        socket.say_text(nonsense)
        socket.type(b"on\r")
        await until(lambda: b"<on>" in socket.output)
        socket.leave()
        await task

    perform('read line; echo "<$line>"', scene)


def test_what_nobody_draws_is_not_read_and_ctrl_c_acts_at_once() -> None:
    async def scene(terminal: Terminal) -> None:
        socket = Socket(acknowledges=False)
        task = attended(terminal, socket)
        await until(lambda: len(socket.output) >= module.MOST_OWED)
        size = len(socket.output)
        assert size < module.MOST_OWED + module.READ
        await asyncio.sleep(0.2)
        assert len(socket.output) == size, "the program waits"
        socket.type(b"\x03")
        socket.acknowledges = True
        socket.say({"do": "ack", "bytes": size})
        await until(lambda: socket.said)
        assert terminal.code is not None
        # What the program had written before is a buffer of the kernel, and no queue of ours.
        assert len(socket.output) < size + 4 * module.READ
        socket.leave()
        await task

    perform("exec yes", scene)


def test_a_page_that_comes_back_sees_the_screen_and_who_left_holds_nobody_up() -> None:
    async def scene(terminal: Terminal) -> None:
        slow = Socket(acknowledges=False)
        first = attended(terminal, slow)
        await until(lambda: len(slow.output) >= module.MOST_OWED)
        slow.leave()
        await first
        # Nobody looks on: the program goes on, and the last of it is kept.
        await until(lambda: terminal.code is not None)
        again = Socket()
        second = attended(terminal, again)
        await until(lambda: again.said)
        assert again.output.endswith(b"last words\r\n")
        assert len(again.output) <= module.KEPT
        assert again.said == [{"do": "exit", "code": 0}]
        again.leave()
        await second

    perform("head -c 2000000 /dev/zero | tr '\\0' x; echo last words", scene)


def test_two_pages_see_the_same() -> None:
    async def scene(terminal: Terminal) -> None:
        one, two = Socket(), Socket()
        tasks = [attended(terminal, one), attended(terminal, two)]
        one.type(b"a\r")
        await until(lambda: one.said and two.said)
        assert one.output == two.output
        for socket in (one, two):
            socket.leave()
        await asyncio.gather(*tasks)

    perform('read line; echo "<$line>"', scene)


def test_a_terminal_that_is_closed_ends_its_program() -> None:
    async def scene(terminal: Terminal) -> None:
        socket = Socket()
        task = attended(terminal, socket)
        await asyncio.sleep(0.1)
        terminal.close()
        await asyncio.wait_for(task, 10)
        assert socket.closed
        terminal.close()

    perform("sleep 600", scene)


def test_terminals_that_are_asked_for_at_once_are_counted_before_they_are_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(terminals, "MOST", 2)
    monkeypatch.setattr(Terminals, "_starter", lambda *_: (lambda its: lambda: 0, lambda: None, -1))
    asked = OpenTerminal(lab="net", node="h1", program="shell")

    async def scene() -> None:
        made = Terminals(tmp_path)
        found = await asyncio.gather(*[made.open(asked) for _ in range(6)], return_exceptions=True)
        assert sum(isinstance(one, InputError) for one in found) == 4
        made.close_all()

    monkeypatch.setattr(terminals, "alive", lambda: [])
    asyncio.run(scene())

"""A program at a pseudo-terminal that browsers see by a WebSocket.

Flow control is by acknowledgement: a browser tells how many bytes it has drawn, and as long as it owes more than
`MOST_OWED` nothing is read from the program, which waits as it does for any slow terminal. So a program that never
stops writing fills no queue, and Ctrl-C acts at once. The last `KEPT` bytes are kept, and are drawn again in a page
that is loaded again.
"""

from __future__ import annotations

import asyncio
import fcntl
import json
import os
import secrets
import struct
import termios
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final, Literal, TypedDict

from fastapi import WebSocket, WebSocketDisconnect

from dumbbell.server.lab_messages import OpenTerminal, TerminalState

KEPT: Final = 256 * 1024
MOST_OWED: Final = 256 * 1024
READ: Final = 64 * 1024
MOST_KEYS: Final = 1 << 20
"""Bytes that a browser may send at once: what somebody pastes."""


class _Taken(TypedDict):
    """A browser has drawn so many bytes."""

    do: Literal["ack"]
    bytes: int


class _Resized(TypedDict):
    """A browser's terminal has another size."""

    do: Literal["resize"]
    rows: int
    columns: int


@dataclass(eq=False)
class Viewer:
    """A browser that looks at a terminal."""

    socket: WebSocket
    owed: int = 0
    """Bytes that it was sent and has not drawn yet."""
    queue: asyncio.Queue[bytes | str | None] = field(default_factory=asyncio.Queue)
    """Output, messages, and `None` for the end. The output is bounded by what the browser may owe."""


class Terminal:
    """A program at a pseudo-terminal."""

    def __init__(
        self,
        asked: OpenTerminal,
        start: Callable[[int], Callable[[], int]],
        over: Callable[[], None],
        lab: int = 0,
    ) -> None:
        """Start it.

        Args:
            asked: where and what.
            start: gets the terminal's descriptor, and returns what waits for the program and its exit code.
            over: ends the program.
            lab: tells the lab from another one of its name.
        """
        self.id = secrets.token_hex(8)
        self.asked, self.lab = asked, lab
        self.code: int | None = None
        self._over = over
        self._loop = asyncio.get_running_loop()
        self._ours, its = os.openpty()
        os.set_blocking(self._ours, False)
        self.resize(asked.rows, asked.columns)
        try:
            self._wait = start(its)
        except BaseException:
            os.close(self._ours)
            raise
        finally:
            os.close(its)
        self._kept = bytearray()
        self._viewers: set[Viewer] = set()
        self._reading = False
        self._closed = False
        self._read_more()
        threading.Thread(target=self._await_end, name=f"terminal-{self.id}", daemon=True).start()

    @property
    def state(self) -> TerminalState:
        """State, as the browser lists it."""
        asked = self.asked
        return TerminalState(id=self.id, lab=asked.lab, node=asked.node, program=asked.program, code=self.code)

    def resize(self, rows: int, columns: int) -> None:
        """The size is that of the browser that was typed in last."""
        with suppress(OSError):
            fcntl.ioctl(self._ours, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    async def attend(self, socket: WebSocket) -> None:
        """Serve a browser until it leaves, or the terminal is closed."""
        viewer = Viewer(socket)
        if self._kept:
            self._give(viewer, bytes(self._kept))
        if self.code is not None:
            viewer.queue.put_nowait(self._exit())
        if self._closed:
            viewer.queue.put_nowait(None)
        self._viewers.add(viewer)
        sender = asyncio.create_task(self._send(viewer))
        try:
            while not self._closed:
                message = await socket.receive()
                if message["type"] == "websocket.disconnect":
                    break
                if (data := message.get("bytes")) is not None:
                    await self._type(data[:MOST_KEYS])
                elif (text := message.get("text")) is not None:
                    self._hear(viewer, text)
        except WebSocketDisconnect:
            pass
        finally:
            self._viewers.discard(viewer)
            sender.cancel()
            self._read_more()

    def close(self) -> None:
        """End it: the program gets SIGHUP, as from a terminal that is closed."""
        if self._closed:
            return
        self._closed = True
        self._stop_reading()
        os.close(self._ours)
        for viewer in self._viewers:
            viewer.queue.put_nowait(None)
        self._over()

    def _hear(self, viewer: Viewer, text: str) -> None:
        with suppress(ValueError, TypeError, KeyError):
            said: _Taken | _Resized = json.loads(text)
            match said["do"]:
                case "ack":
                    viewer.owed = max(0, viewer.owed - int(said["bytes"]))
                    self._read_more()
                case "resize":
                    rows, columns = int(said["rows"]), int(said["columns"])
                    if 2 <= rows <= 1000 and 2 <= columns <= 1000:
                        self.resize(rows, columns)

    async def _type(self, data: bytes) -> None:
        """Pass keys on. A program that does not read them makes nobody else wait."""
        while data and not self._closed:
            try:
                data = data[os.write(self._ours, data) :]
            except BlockingIOError:
                await asyncio.sleep(0.01)
            except OSError:
                return

    async def _send(self, viewer: Viewer) -> None:
        with suppress(WebSocketDisconnect, RuntimeError):
            while (part := await viewer.queue.get()) is not None:
                if isinstance(part, bytes):
                    await viewer.socket.send_bytes(part)
                else:
                    await viewer.socket.send_text(part)
            await viewer.socket.close()

    def _give(self, viewer: Viewer, data: bytes) -> None:
        viewer.owed += len(data)
        viewer.queue.put_nowait(data)

    def _read_more(self) -> None:
        """Go on reading, unless a browser owes too much."""
        free = not self._closed and all(viewer.owed < MOST_OWED for viewer in self._viewers)
        if free and not self._reading:
            self._loop.add_reader(self._ours, self._read)
            self._reading = True
        elif not free:
            self._stop_reading()

    def _stop_reading(self) -> None:
        if self._reading:
            self._loop.remove_reader(self._ours)
            self._reading = False

    def _read(self) -> None:
        data, over = self._available()
        if over:
            self._stop_reading()
        if not data:
            return
        self._kept += data
        del self._kept[:-KEPT]
        for viewer in self._viewers:
            self._give(viewer, data)
        if not over:
            self._read_more()

    def _available(self) -> tuple[bytes, bool]:
        """Reads a few kilobytes at a time, without waiting; and true if nobody has the terminal open any more."""
        data = b""
        while len(data) < READ:
            try:
                part = os.read(self._ours, READ - len(data))
            except BlockingIOError:
                break
            except OSError:
                part = b""
            if not part:
                return data, True
            data += part
        return data, False

    def _await_end(self) -> None:
        code = self._wait()
        with suppress(RuntimeError):  # The server has ended.
            self._loop.call_soon_threadsafe(self._end, code)

    def _end(self, code: int) -> None:
        if self.code is None and not self._closed:
            while self._reading and (before := len(self._kept)) >= 0:  # What it wrote last.
                self._read()
                if len(self._kept) == before:
                    break
        self.code = code
        for viewer in self._viewers:
            viewer.queue.put_nowait(self._exit())

    def _exit(self) -> str:
        return json.dumps({"do": "exit", "code": self.code})

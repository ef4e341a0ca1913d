"""Limits on what strangers who reach the port may take of the server: connections, time, descriptors, and lines of its
log.

Whoever connects has no cookie yet, so all of this holds before the guard has seen a request. A connection *waits* while
its peer has to act: to send a request, or to take in an answer. It *works* while a request with the cookie is
answered, and as a WebSocket. Only those that wait are closed, after a time, or when others come and there are too many:
first the one that has shown no cookie for the longest time. So strangers who ask without end, for the page, which
anybody may load, make room for each other and for the user.
"""

from __future__ import annotations

import gc
import logging
import resource
import socket
import time
from asyncio import BaseTransport, Transport
from asyncio.sslproto import SSLProtocol
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any, Final, cast

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

MOST_CONNECTIONS: Final = 256
BACKLOG: Final = 128
"""Connections that the kernel keeps until they are accepted, and the most that are accepted in one go."""
HEAD_S: Final = 10.0
"""Until the head of a request must be there as a whole, with the handshake of TLS."""
STALLED_S: Final = 30.0
"""Until a peer that sends nothing of a body, or takes in nothing of an answer, is given up."""
SEND_BUFFER: Final = 262_144
"""Bytes of an answer that the kernel takes for a connection; by itself it would take megabytes."""
TLS_BUFFER: Final = 1 << 14
"""Bytes that a connection with TLS reads at once: a record. asyncio holds a buffer of so many for each."""
MOST_ENDED: Final = 64
"""Connections after which their remains are collected. A handshake of TLS that fails is a cycle of references."""
COLLECTING_SHARE: Final = 0.1
"""Share of the server's time in which remains may be collected."""
MOST_DESCRIPTORS: Final = 4096
"""Programs that the server starts inherit this limit, and some go through all descriptors below it."""
BURST: Final = 20
"""Messages of the log at once. Further ones come one in `PAUSE_S`."""
PAUSE_S: Final = 10.0


def shrink_tls_buffers() -> None:
    """Make each connection with TLS hold `TLS_BUFFER` bytes. By itself asyncio takes 256 KiB before the handshake."""
    SSLProtocol.max_size = TLS_BUFFER


def lift_descriptors() -> int:
    """Raise this process's limit of descriptors as far as it may. Returns how many connections it allows for."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MOST_DESCRIPTORS if hard == resource.RLIM_INFINITY else min(hard, MOST_DESCRIPTORS)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
        soft = wanted
    return MOST_CONNECTIONS if soft == resource.RLIM_INFINITY else min(MOST_CONNECTIONS, max(8, soft // 4))


class Gate:
    """The connections of a server. Those that have waited longest make room for new ones."""

    def __init__(self, most: int = MOST_CONNECTIONS) -> None:
        """At most `most` connections at a time."""
        self._most = most
        self.admitted = 0
        """Number of connections so far."""
        self._open: dict[int, socket.socket] = {}
        self._due: dict[int, float] = {}
        """When each connection that waits is closed, in the order in which they came or last showed the cookie."""

    def admit(self, connection: socket.socket) -> None:
        """Count a new connection; close another one, or this, if there are too many."""
        number = connection.fileno()
        self.admitted += 1
        self._open[number] = connection
        self.wait(number, HEAD_S)
        if len(self._open) > self._most:
            self._forget_closed()
        if len(self._open) > self._most:
            self._close(next(iter(self._due)))

    def wait(self, number: int, most_s: float) -> None:
        """The connection with this descriptor has to go on within `most_s` seconds. A stranger's keeps its place."""
        self._due[number] = time.monotonic() + most_s

    def work(self, number: int) -> None:
        """The server has to act for somebody with the cookie, or the connection is a WebSocket of theirs."""
        self._due.pop(number, None)

    def sweep(self) -> None:
        """Close connections whose time is over."""
        self._forget_closed()
        now = time.monotonic()
        for number in [number for number, due in self._due.items() if due <= now]:
            self._close(number)

    def _forget_closed(self) -> None:
        self._open = {number: one for number, one in self._open.items() if one.fileno() == number}
        self._due = {number: due for number, due in self._due.items() if number in self._open}

    def _close(self, number: int) -> None:
        # The socket is asyncio's, which sees its end as if the peer had ended it, also within a handshake of TLS.
        self._due.pop(number)
        with suppress(OSError):
            self._open.pop(number).shutdown(socket.SHUT_RDWR)


class Listener(socket.socket):
    """A listening socket whose connections go through a gate."""

    gate: Gate

    def accept(self) -> tuple[socket.socket, Any]:
        """The next connection, which may be closed again already."""
        connection, address = super().accept()
        self.gate.admit(connection)
        return connection, address


def listener(opened: socket.socket, gate: Gate) -> Listener:
    """The socket `opened`, which is taken over, with a gate."""
    opened.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SEND_BUFFER)
    made = Listener(opened.family, opened.type, opened.proto, fileno=opened.detach())
    made.gate = gate
    return made


def protocol(gate: Gate, has_cookie: Callable[[Iterable[bytes]], bool]) -> type[H11Protocol]:
    """The protocol of connections, which tells the gate when they wait and when they work.

    `has_cookie` tells by the headers `Cookie` whether a request is the user's.
    """

    class Gated(H11Protocol):
        _number = -1

        def connection_made(self, transport: BaseTransport) -> None:
            super().connection_made(cast(Transport, transport))
            self._number = transport.get_extra_info("socket").fileno()

        def handle_events(self) -> None:
            super().handle_events()
            if self._is_answering():
                self._answer()

        def handle_websocket_upgrade(self, event: Any) -> None:
            super().handle_websocket_upgrade(event)
            if cast(Any, self.transport.get_protocol()).handshake_initiated:
                if self._is_known():
                    gate.work(self._number)
            else:  # websockets takes no head with a body or a long line, and nobody answers it.
                self.transport.close()

        def on_response_complete(self) -> None:
            self._wait(STALLED_S if self.transport.get_write_buffer_size() else HEAD_S)
            super().on_response_complete()

        def pause_writing(self) -> None:
            super().pause_writing()
            self._wait(STALLED_S)

        def resume_writing(self) -> None:
            super().resume_writing()
            if self._is_answering():
                self._answer()
            else:
                self._wait(HEAD_S)

        def _answer(self) -> None:
            is_known = self._is_known()
            if is_known:
                gate.work(self._number)
            if self.cycle.more_body or not is_known:
                self._wait(STALLED_S)

        def _is_known(self) -> bool:
            return has_cookie(value for name, value in self.headers if name == b"cookie")

        def _is_answering(self) -> bool:
            return self.cycle is not None and not self.cycle.response_complete and not self.transport.is_closing()

        def _wait(self, most_s: float) -> None:
            gate.wait(self._number, most_s)

    return Gated


class Server(uvicorn.Server):
    """A server that looks after its gate."""

    gate: Gate
    _collected, _rests_until = 0, 0.0

    async def on_tick(self, counter: int) -> bool:
        """Ten times a second."""
        self.gate.sweep()
        self._collect()
        return await super().on_tick(counter)

    def _collect(self) -> None:
        """Free what connections have left. Python alone would do so after gigabytes: it counts objects, not bytes."""
        began = time.monotonic()
        if self.gate.admitted < self._collected + MOST_ENDED or began < self._rests_until:
            return
        self._collected = self.gate.admitted
        gc.collect()
        ended = time.monotonic()
        self._rests_until = ended + (ended - began) / COLLECTING_SHARE


class Rationed(logging.Filter):
    """Bounds a log that strangers can write to by what they send."""

    def __init__(self) -> None:
        """At first, `BURST` messages are allowed."""
        super().__init__()
        self._left, self._at, self._kept_back = float(BURST), time.monotonic(), 0

    def filter(self, record: logging.LogRecord) -> bool:
        """True if the message may be written. The next one that may says how many before it were not."""
        now = time.monotonic()
        self._left, self._at = min(BURST, self._left + (now - self._at) / PAUSE_S), now
        if self._left < 1:
            self._kept_back += 1
            return False
        self._left -= 1
        if self._kept_back:
            record.msg, record.args = f"{record.getMessage()} [{self._kept_back} messages before this left out]", ()
            self._kept_back = 0
        return True


def ration_logs() -> None:
    """Bound what uvicorn and asyncio write."""
    rationed = Rationed()
    for name in ("uvicorn.error", "asyncio"):
        logger = logging.getLogger(name)
        if not any(isinstance(one, Rationed) for one in logger.filters):
            logger.addFilter(rationed)

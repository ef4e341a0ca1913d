"""A server of the application in this process, and a page's side of the conversation."""

from __future__ import annotations

import http.client
import json
import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from websockets.sync.client import ClientConnection, connect

from dumbbell.server.security import Access
from dumbbell.server.serve import listen, server

STUDY = {"status": "interrupted", "name": "theirs", "engine": "simulate", "cells": [{}], "runs": 1, "repetitions": 1}
"""The `study.json` of a study that was interrupted."""


PATIENCE_S = 60
"""Longest wait for an answer: the server imports a lot before its first one, on a busy machine in tens of seconds."""


@dataclass
class Served:
    """A server that answers."""

    port: int
    access: Access
    root: Path

    @property
    def origin(self) -> str:
        return f"http://{self.host}"

    @property
    def host(self) -> str:
        return f"{self.access.hosts[0]}:{self.port}"

    @property
    def headers(self) -> dict[str, str]:
        return {
            "Host": self.host,
            "Origin": self.origin,
            "Cookie": f"{self.access.cookie}={self.access.session}",
            "Content-Type": "application/json",
        }

    def ask(
        self, method: str, path: str, body: Any = None, headers: Mapping[str, str] | None = None
    ) -> tuple[int, Mapping[str, str], bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE_S)
        asked = {"Host": self.host, **(self.headers if headers is None else headers)}
        data = body if isinstance(body, bytes) else None if body is None else json.dumps(body).encode()
        try:
            connection.request(method, path, data, asked)
            answer = connection.getresponse()
            return answer.status, {key.lower(): value for key, value in answer.getheaders()}, answer.read()
        finally:
            connection.close()

    def json(self, method: str, path: str, body: Any = None) -> Any:
        status, _, content = self.ask(method, path, body)
        assert status == 200, content
        return json.loads(content)

    def page(self) -> Page:
        return Page(self)


@dataclass
class Page:
    """A page with its WebSocket."""

    served: Served
    states: dict[str, dict[str, Any]] = field(default_factory=dict)
    events: list[dict[str, Any]] = field(default_factory=list)
    _number: int = 0

    def __enter__(self) -> Self:
        cookie = self.served.headers["Cookie"]
        self._connecting = connect(
            f"ws://{self.served.host}/api/socket",
            sock=socket.create_connection(("127.0.0.1", self.served.port)),
            origin=self.served.origin,  # type: ignore[arg-type]
            additional_headers={"Cookie": cookie},
            max_size=None,
            open_timeout=PATIENCE_S,
        )
        self.socket: ClientConnection = self._connecting.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._connecting.__exit__(None, None, None)

    def hear(self, timeout: float = PATIENCE_S) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.socket.recv(timeout))
        if found["type"] == "event":
            self.events.append(found)
            if found["topic"].startswith("document/"):
                self.states[found["topic"]] = found["event"]
        return found

    def request(self, **message: Any) -> dict[str, Any]:
        self._number += 1
        self.socket.send(json.dumps({"id": self._number, **message}))
        while True:
            found = self.hear()
            if found.get("id") == self._number:
                return found

    def open(self, path: str) -> dict[str, Any]:
        topic = f"document/{path}"
        answer = self.request(do="subscribe", topic=topic)
        assert answer["type"] == "ack", answer
        while topic not in self.states:
            self.hear()
        return self.states[topic]

    def command(self, path: str, command: Mapping[str, Any], base: int | None = None) -> dict[str, Any]:
        known = self.states.get(f"document/{path}")
        base = base if base is not None or known is None else known["revision"]
        return self.request(do="command", topic=f"document/{path}", base=base, command=command)

    def until(self, path: str, revision: int, **wanted: Any) -> dict[str, Any]:
        """The state of at least this revision that has the wanted values."""
        topic = f"document/{path}"
        while True:
            state = self.states.get(topic)
            if state and state["revision"] >= revision and all(state[key] == value for key, value in wanted.items()):
                return state
            self.hear()

    def do(self, path: str, **command: Any) -> dict[str, Any]:
        """Carry out a command, and wait for the state that follows."""
        answer = self.command(path, command)
        assert answer["type"] == "ack", answer
        return self.until(path, answer["revision"])


@contextmanager
def serving(root: Path) -> Iterator[Served]:
    """Serve a workspace."""
    listening = listen(0, None, None, None)
    ready = threading.Event()
    made, sockets = server(listening, root, ready.set)
    thread = threading.Thread(target=made.run, kwargs={"sockets": sockets}, daemon=True)
    thread.start()
    assert ready.wait(30)
    try:
        assert listening.access.port is not None
        yield Served(listening.access.port, listening.access, root)
    finally:
        made.should_exit = True
        thread.join(10)
        for one in sockets:
            one.close()

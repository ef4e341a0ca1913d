"""Connections to a lab's agent: one request each, answers by lines of JSON.

This module imports nothing heavy: a command in a host takes milliseconds.
"""

from __future__ import annotations

import array
import json
import os
import socket
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, NotRequired, Self, TypedDict

from dumbbell.labs.place import SOCKET

if TYPE_CHECKING:
    from dumbbell.engines.events import Event
    from dumbbell.errors import RunFailed


class FlowReport(TypedDict):
    """The account of a flow, as in a run's `traffic.json`, as far as labs use it."""

    start_ns: NotRequired[int | None]
    end_ns: NotRequired[int | None]
    received_bytes: int
    error: NotRequired[str | None]


class Report(TypedDict):
    """The account of traffic, as in a run's `traffic.json`."""

    flows: list[FlowReport]


class Answer(TypedDict):
    """A line of the agent: `{"answer": "exited", "code": 0}`. The crate `agent` declares what each answer has."""

    answer: str
    code: NotRequired[int]
    """Exit code of a program that has `exited`."""
    rtt_ns: NotRequired[list[list[int | None]]]
    """Round-trip times of `pings`, by sender and receiver; `None`: no answer, or the host itself."""
    report: NotRequired[Report]
    """Answer to `flows`."""
    duration_ns: NotRequired[int]
    """Answer to `recorded`."""
    event: NotRequired[Event]
    """An event that is `told`."""
    what: NotRequired[str]
    why: NotRequired[str]
    hint: NotRequired[str]


class Connection:
    """A request to the agent of a lab, and what it says to it. Closing it ends the work that it asked for."""

    def __init__(self, lab: Path, request: Mapping[str, object], descriptors: Sequence[int] = ()) -> None:
        """Send `request`, and `descriptors` with it.

        Raises:
            RunFailed: the lab does not answer.
        """
        self._partial = b""
        self.descriptors: list[int] = []
        """Files that the agent has given us. They stay open with the connection closed."""
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            _connect(self._socket, lab)
            self._send(request, descriptors)
        except OSError as error:
            self._socket.close()
            raise _gone(lab, error) from None
        self._lab = lab

    def __enter__(self) -> Self:
        """Itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close it."""
        self.close()

    def close(self) -> None:
        """Close it."""
        self._socket.close()

    def fileno(self) -> int:
        """Its descriptor, which is readable when there is an answer."""
        return self._socket.fileno()

    def signal(self, number: int) -> None:
        """Signal the program."""
        with suppress(OSError):  # It has ended.
            self._send({"do": "signal", "number": int(number)}, ())

    def answer(self) -> Answer:
        """Wait for the next answer.

        Raises:
            RunFailed: the request was not carried out, or the lab has ended.
        """
        line = b""
        while not line:
            while b"\n" not in self._partial:
                try:
                    data, given, _, _ = socket.recv_fds(self._socket, 1 << 20, 1)
                except OSError as error:
                    raise _gone(self._lab, error) from None
                self.descriptors += given
                if not data:
                    raise _gone(self._lab, None)
                self._partial += data
            line, self._partial = self._partial.split(b"\n", 1)
        found: Answer = json.loads(line)
        if found["answer"] == "failed":
            raise _failure(found["what"], found["why"], found["hint"])
        return found

    def _send(self, request: Mapping[str, object], descriptors: Sequence[int]) -> None:
        line = json.dumps(request).encode() + b"\n"
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", descriptors))] if descriptors else []
        sent = self._socket.sendmsg([line], rights)
        if sent < len(line):
            self._socket.sendall(line[sent:])


def ask(lab: Path, request: Mapping[str, object]) -> Answer:
    """The answer to a request that has one. Raises as `Connection.answer`."""
    with Connection(lab, request) as connection:
        return connection.answer()


def running(
    lab: Path,
    node: str,
    arguments: Sequence[str],
    descriptors: Sequence[int],
    environment: Mapping[str, str] | None = None,
    directory: str | None = None,
) -> Connection:
    """A program that was started in `node`. Its end is the answer `exited`.

    Args:
        lab: the lab's directory.
        node: the node.
        arguments: the program and its arguments.
        descriptors: its terminal, or else its standard input, output and error.
        environment: variables beside this process's own.
        directory: its working directory; by default, this process's.

    Raises:
        RunFailed: there is no such node or program.
    """
    request = {
        "do": "run",
        "node": node,
        "arguments": list(arguments),
        "environment": {**os.environ, **(environment or {})},
        "directory": directory or os.getcwd(),
    }
    connection = Connection(lab, request, descriptors)
    try:
        connection.answer()
    except BaseException as error:
        connection.close()
        _name_package(error, arguments)
        raise
    return connection


def _name_package(error: BaseException, arguments: Sequence[str]) -> None:
    """Raise the error of a program that is not installed with the package that has it, if that is known."""
    from dumbbell.errors import RunFailed
    from dumbbell.labs.packages import hint

    if isinstance(error, RunFailed) and arguments and (advice := hint(arguments[0])):
        raise RunFailed(error.what, error.why, advice) from None


def listen(lab: Path) -> socket.socket:
    """The socket on which the agent of a new lab will listen."""
    made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    with _Folder(lab) as folder:
        made.bind(f"{folder}/{SOCKET}")
    made.listen(128)
    return made


def _connect(made: socket.socket, lab: Path) -> None:
    with _Folder(lab) as folder:
        made.connect(f"{folder}/{SOCKET}")


class _Folder:
    """A short path of a directory: that of a socket has at most 107 bytes."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __enter__(self) -> str:
        self._descriptor = os.open(self._path, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        return f"/proc/self/fd/{self._descriptor}"

    def __exit__(self, *_: object) -> None:
        os.close(self._descriptor)


def _gone(lab: Path, error: OSError | None) -> RunFailed:
    why = "its agent has closed the connection" if error is None else error.strerror or str(error)
    return _failure(f"the lab {lab.name} does not answer", why, "dumbbell lab list shows the labs that are up")


def _failure(what: str, why: str, hint: str) -> RunFailed:
    # Errors and their dataclasses take longer to import than a command in a host may.
    from dumbbell.errors import RunFailed

    return RunFailed(what, why, hint)

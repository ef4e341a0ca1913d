"""A program that runs in a node of a lab, as Python sees it."""

from __future__ import annotations

import os
import select
import signal as signals
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

from dumbbell.errors import RunFailed
from dumbbell.labs.agent import Connection, running

Command = str | Sequence[str]
"""A command line for `/bin/sh`, or a program and its arguments."""


class Program:
    """A program that runs in a node. Leaving its context ends it."""

    def __init__(self, lab: Path, node: str, command: Command) -> None:
        """`Node.start` makes it."""
        arguments = ["/bin/sh", "-c", command] if isinstance(command, str) else list(command)
        self.command = command
        output, its_output = os.pipe()
        error, its_error = os.pipe()
        try:
            with open(os.devnull, "rb") as nothing:
                descriptors = (nothing.fileno(), its_output, its_error)
                self._connection: Connection = running(lab, node, arguments, descriptors)
        except BaseException:
            os.close(output)
            os.close(error)
            raise
        finally:
            os.close(its_output)
            os.close(its_error)
        self._pipes = {output: b"", error: b""}
        self._open = [output, error]
        self._code: int | None = None

    def __enter__(self) -> Self:
        """Itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End it: it gets SIGHUP, as from a terminal that is closed."""
        self._connection.close()
        for pipe in self._pipes:
            os.close(pipe)

    def signal(self, number: int) -> None:
        """Send it a signal, with all processes of its group."""
        self._connection.signal(number)

    def stop(self, timeout_s: float = 5.0) -> subprocess.CompletedProcess[str]:
        """Ask it to end (SIGTERM), and wait for that."""
        self.signal(signals.SIGTERM)
        return self.wait(timeout_s)

    @property
    def output(self) -> str:
        """Its standard output so far."""
        self._read(0)
        return self._text(0)

    def wait_for(self, text: str, timeout_s: float = 30.0) -> str:
        """Wait until its standard output has `text`, such as what a server says once it listens. Returns the output.

        Raises:
            RunFailed: it has ended, or said nothing of the kind within `timeout_s`.
        """
        deadline = time.monotonic() + timeout_s
        while text not in self.output:
            left = deadline - time.monotonic()
            if left <= 0 or self._code is not None:
                what = f"{self._arguments()} has not printed {text!r}"
                why = f"within {timeout_s} s" if self._code is None else f"it ended with exit code {self._code}"
                raise RunFailed(what, "\n".join([why, self._text(0) + self._text(1)]))
            self._read(left)
        return self.output

    @property
    def returncode(self) -> int | None:
        """Its exit code; `None` while it runs."""
        self._read(0)
        return self._code

    def failure(self) -> str | None:
        """How it has failed: what it said on standard error, or its exit code. `None` if it has not."""
        if not self.returncode:
            return None
        return self._text(1).strip() or f"the program ended with exit code {self.returncode}"

    def wait(self, timeout_s: float | None = None) -> subprocess.CompletedProcess[str]:
        """Wait for its end; what it has left behind in the background goes on.

        Raises:
            subprocess.TimeoutExpired: it took longer than `timeout_s`, and was killed.
        """
        deadline = None if timeout_s is None else time.monotonic() + timeout_s
        while self._code is None:
            left = None if deadline is None else deadline - time.monotonic()
            if left is not None and left <= 0:
                self.signal(signals.SIGKILL)
                raise subprocess.TimeoutExpired(self._arguments(), timeout_s or 0.0, self._text(0), self._text(1))
            self._read(left)
        self._read(0)
        return subprocess.CompletedProcess(self._arguments(), self._code, self._text(0), self._text(1))

    def _arguments(self) -> str | list[str]:
        return self.command if isinstance(self.command, str) else list(self.command)

    def _text(self, index: int) -> str:
        return list(self._pipes.values())[index].decode(errors="replace")

    def _read(self, seconds: float | None) -> None:
        """Take what is there; wait for something for so long."""
        while True:
            watched: list[int | Connection] = [*self._open, *([self._connection] if self._code is None else [])]
            ready, _, _ = select.select(watched, [], [], seconds)
            for one in ready:
                if one is self._connection:
                    self._code = int(self._connection.answer()["code"])
                elif isinstance(one, int):
                    data = os.read(one, 65536)
                    self._pipes[one] += data
                    if not data:
                        self._open.remove(one)
            if not ready:
                return
            seconds = 0

"""The programs of a lab's scenario: the lab's owner starts them, and they end with the lab."""

from __future__ import annotations

import os
import select
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final

from dumbbell.errors import RunFailed
from dumbbell.labs import readiness
from dumbbell.labs.agent import Connection, running
from dumbbell.labs.live import Live
from dumbbell.plan.types import ExitReady, Program

_SHOWN: Final = 5
"""The last lines of what a program has said that an error shows."""


@contextmanager
def started(lab: Path, programs: Sequence[Program]) -> Iterator[None]:
    """Start the programs one after another, each once those before it are ready. Leaving the context ends them.

    Args:
        lab: the lab's directory. What a program says goes to `logs/NAME.stdout` and `logs/NAME.stderr` there.
        programs: of the scenario.

    Raises:
        RunFailed: a program failed before it was ready, or was not ready within a minute.
    """
    with ExitStack() as stack:
        for program in programs:
            stack.enter_context(_Service(lab, program)).wait()
        yield


class _Service:
    """A program that runs, and its log."""

    def __init__(self, lab: Path, program: Program) -> None:
        self._program, self._node = program, Live(lab)[program.node]
        self._logs = [lab / "logs" / f"{program.name}.{kind}" for kind in ("stderr", "stdout")]
        with open(os.devnull, "rb") as nothing, self._logs[0].open("wb") as error, self._logs[1].open("wb") as output:
            descriptors = (nothing.fileno(), output.fileno(), error.fileno())
            arguments = ["/bin/sh", "-c", program.command]
            self._connection: Connection = running(lab, program.node, arguments, descriptors)
        self._code: int | None = None

    def __enter__(self) -> _Service:
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    def wait(self) -> None:
        """Wait until it is ready. Raises `RunFailed`."""
        ready = self._program.ready
        if isinstance(ready, ExitReady):
            self._wait_for_end()
        elif ready is not None:
            text = f"{ready.kind} {ready.port}"
            try:
                readiness.wait(self._program.node, lambda line: self._node.run(line).stdout, self._failure, text)
            except RunFailed as error:
                raise self._not_ready(f"{error.what}: {error.why}") from None

    def _wait_for_end(self) -> None:
        deadline = time.monotonic() + readiness.LIMIT_S
        while self._code is None and time.monotonic() < deadline:
            self._look(0.1)
        if self._code != 0:
            raise self._not_ready(self._failure() or f"it has not ended within {readiness.LIMIT_S:.0f} s")

    def _failure(self) -> str | None:
        """How it has failed; `None` if it has not."""
        self._look(0)
        if not self._code:
            return None
        said = [file.read_text(encoding="utf-8", errors="replace").strip().splitlines() for file in self._logs]
        last = "\n".join((said[0] or said[1])[-_SHOWN:])
        return f"it ended with exit code {self._code}" + (f". It said: {last}" if last else "")

    def _look(self, seconds: float) -> None:
        if self._code is None and select.select([self._connection], [], [], seconds)[0]:
            self._code = int(self._connection.answer()["code"])

    def _not_ready(self, why: str) -> RunFailed:
        what = f"program {self._program.name} in {self._program.node} is not ready"
        return RunFailed(
            what, why, "run its command in the node by hand: dumbbell lab up without it, then NODE COMMAND"
        )

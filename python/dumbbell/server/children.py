"""Commands that the server starts: processes of their own, which go on if it ends or is killed."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import stat
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Final

from dumbbell import below
from dumbbell.errors import InputError
from dumbbell.scenario.file import started

COMMAND: Final = (sys.executable, "-P", "-m", "dumbbell")
"""Without the working directory among the places of modules: it is the workspace, which may be a stranger's."""
_SAID_BYTES: Final = 20_000


@dataclass
class Child:
    """A command that was started."""

    process: asyncio.subprocess.Process
    said: IO[bytes]
    """Its standard output and error. The file has no name, so nothing stays behind."""
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    watch: asyncio.Task[None] | None = None

    @property
    def pid(self) -> int:
        """Its process id."""
        return self.process.pid

    @property
    def code(self) -> int | None:
        """Its exit code; `None` while it runs."""
        return self.process.returncode

    def problem(self) -> str:
        """Returns the last failure that the child stated."""
        text = self.text()
        with suppress(ValueError, LookupError, TypeError):
            first: dict[str, str] = json.loads(text[text.index("{") :])["error"]["problems"][0]
            return "\n".join(filter(None, [first["what"], first["why"], first["hint"]]))
        lines = [line for line in text.splitlines() if line.strip()]
        begin = next((number for number, line in enumerate(lines) if line.startswith("error:")), max(0, len(lines) - 8))
        return "\n".join(lines[begin:]).removeprefix("error: ")

    def text(self, most: int = _SAID_BYTES) -> str:
        """All that it said; of more than `most` bytes, the end."""
        size = os.fstat(self.said.fileno()).st_size
        return os.pread(self.said.fileno(), most, max(0, size - most)).decode(errors="replace")

    def kill(self) -> None:
        """End it and what it has started at once. One that has ended hears nothing."""
        if self.code is None:
            with suppress(ProcessLookupError):
                os.killpg(self.pid, signal.SIGKILL)


class Children:
    """The commands that this server has started."""

    def __init__(self, folder: Path, environment: Mapping[str, str] | None = None) -> None:
        """`folder` is their working directory, outside which they open nothing that a scenario names."""
        self._folder = folder
        self._environment = dict(environment or {})
        self._all: dict[int, Child] = {}

    async def start(
        self, arguments: Sequence[str], agreed: Sequence[str] | None, stdin: int = asyncio.subprocess.DEVNULL,
        pass_fds: Sequence[int] = (),
    ) -> Child:  # fmt: skip
        """Start `dumbbell` with these arguments. Ctrl-C on the server's terminal does not reach it.

        `agreed`: what its scenario may start; `None`: anything.
        """
        said = tempfile.TemporaryFile(prefix="dumbbell-")  # noqa: SIM115  it is open as long as the command is known
        environment = {"PYTHONUNBUFFERED": "1", "COLUMNS": "120", below.VARIABLE: os.fspath(self._folder)}
        environment |= self._environment
        with ExitStack() as opened:
            if agreed is not None:
                list_ = started.handed(agreed)
                opened.callback(os.close, list_)
                pass_fds = (*pass_fds, list_)
                environment[started.VARIABLE] = str(list_)
            process = await asyncio.create_subprocess_exec(
                *COMMAND,
                *arguments,
                cwd=self._folder,
                stdin=stdin,
                stdout=said,
                stderr=said,
                start_new_session=True,
                pass_fds=pass_fds,
                env={**os.environ, **environment},
            )
        child = Child(process, said)
        self._all[child.pid] = child
        child.watch = asyncio.create_task(self._wait(child))
        return child

    def get(self, pid: int) -> Child | None:
        """The command with this process id, if this server has started it."""
        return self._all.get(pid)

    async def _wait(self, child: Child) -> None:
        await child.process.wait()
        child.ended.set()


def stop(pid: int, how: str) -> None:
    """Ask a command to stop `early`, or end it `now`. One that has ended hears nothing."""
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGINT)
        if how == "now":
            # A second one of the same kind would be lost if the first one is still on its way.
            os.kill(pid, signal.SIGTERM)


def holder(lock: Path, pids: Sequence[int] | None = None) -> int | None:
    """The process that has this file open: the one that works on a directory, or one of its children.

    Args:
        lock: the file `lock` of a run or study.
        pids: look at these alone.
    """
    try:
        wanted = lock.lstat()
    except OSError:
        return None
    if not stat.S_ISREG(wanted.st_mode):  # A link would lead to processes that have nothing to do with it.
        return None
    every = pids if pids is not None else sorted(int(name) for name in os.listdir("/proc") if name.isdigit())
    for pid in every:
        with suppress(OSError):
            for entry in os.scandir(f"/proc/{pid}/fd"):
                with suppress(OSError):
                    found = os.stat(entry.path)
                    if (found.st_dev, found.st_ino) == (wanted.st_dev, wanted.st_ino):
                        return pid
    return None


def stop_holder(lock: Path, how: str, pids: Sequence[int] | None, what: str) -> None:
    """Stop the command that works on a directory. Raises `InputError` if none does."""
    pid = holder(lock, pids)
    if pid is None:
        raise InputError(f"{what} is not going on", "no command works on it", "it may have ended just now")
    stop(pid, how)

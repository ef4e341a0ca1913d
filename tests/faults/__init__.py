"""Faults as SQLite tests them: the nth call that changes files, or starts a process, fails in a real command.

`preload.c` counts such calls of a command and of all processes that it starts, and lets one fail. A command is forked
off a process that has imported most of dumbbell, which takes a tenth of the time.
"""

from __future__ import annotations

import ctypes
import json
import mmap
import os
import random
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from typing import Final, Self

_CALLS, _TEXT = 4096, 248
_HERE: Final = Path(__file__).parent


class Fault(IntEnum):
    """Fate of the nth call."""

    NONE = 0
    ONCE = 1
    """One call fails."""
    LASTS = 2
    """A call fails, and so do all later ones, as on a full disk."""
    KILL = 3
    """Its process is killed before it."""


class Shared(ctypes.Structure):
    """Memory of all processes of a command, as in preload.c."""

    _fields_ = (
        ("calls", ctypes.c_uint),
        ("nth", ctypes.c_uint),
        ("fault", ctypes.c_uint),
        ("variant", ctypes.c_uint),
        ("called", (ctypes.c_char * _TEXT) * _CALLS),
    )


@dataclass(frozen=True)
class Done:
    """A command that has ended."""

    code: int
    """Exit code; -9: killed."""
    out: str
    err: str
    fault: str
    """The fault and its call, for people."""
    call: str
    """The kind of the call: write, fsync, open, mkdir, rename, unlink, spawn ...; empty if none failed."""

    @property
    def failed(self) -> bool:
        """Whether the command came to the call."""
        return bool(self.call)


class Faults:
    """Commands in which calls fail. A context; their files must be below `root`."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._scratch = tempfile.TemporaryDirectory(prefix="dumbbell-faults-")

    def __enter__(self) -> Self:
        scratch = Path(self._scratch.name)
        library, memory = scratch / "preload.so", scratch / "memory"
        subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", library, _HERE / "preload.c", "-ldl"], check=True)
        memory.write_bytes(bytes(ctypes.sizeof(Shared)))
        with memory.open("r+b") as file:
            self.shared = Shared.from_buffer(mmap.mmap(file.fileno(), 0))
        self._said = scratch / "out", scratch / "err"
        own = {"LD_PRELOAD": str(library), "FAULTS": str(memory), "FAULTS_BELOW": str(self.root)}
        self._origin = subprocess.Popen(
            [sys.executable, _HERE / "origin.py", *self._said],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, **own, "OPENBLAS_NUM_THREADS": "1"},
        )
        return self

    def __exit__(self, *_: object) -> None:
        self._origin.kill()
        self._origin.communicate()
        self._scratch.cleanup()

    def run(
        self, words: Sequence[str], folder: Path, nth: int = 0, fault: Fault = Fault.NONE, timeout_s: float = 600
    ) -> Done:
        """Run `dumbbell WORDS` in a folder, or a function of tests/faults/actions.py if the first word is `@name`."""
        shared = self.shared
        # The fork of the command itself is the call before the first.
        shared.calls, shared.nth, shared.fault, shared.variant = 2**32 - 1, nth, fault, nth % 2
        assert self._origin.stdin is not None
        assert self._origin.stdout is not None
        print(json.dumps([str(folder), *words]), file=self._origin.stdin, flush=True)
        pid = int(self._origin.stdout.readline())
        with _at_most(timeout_s, pid):
            code = int(self._origin.stdout.readline())
        failed = fault != Fault.NONE and shared.calls >= nth
        call = shared.called[nth - 1].value.decode() if failed else ""
        shared.fault = Fault.NONE  # Processes that go on meet no fault.
        out, err = (path.read_text(encoding="utf-8") for path in self._said)
        return Done(code, out, err, f"{fault.name} {nth}: {call}", call.partition(" ")[0])

    def calls(self, words: Sequence[str], folder: Path) -> list[str]:
        """Run a command that succeeds. Returns its calls, such as `write /runs/.lock`."""
        done = self.run(words, folder)
        assert done.code == 0, done.err
        count: int = self.shared.calls
        assert count <= _CALLS
        return [self.shared.called[number].value.decode() for number in range(count)]


@contextmanager
def _at_most(seconds: float, pid: int) -> Iterator[None]:
    """Kill a process group if it takes longer."""

    def late(*_: object) -> None:
        os.killpg(pid, signal.SIGKILL)

    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def cases(count: int, kinds: Sequence[Fault], most: int | None) -> list[tuple[int, Fault]]:
    """The calls to fail, of `count`, and how: all, or a sample of `most` which is the same each time."""
    every = [(nth, fault) for fault in kinds for nth in range(1, count + 1)]
    return every if most is None else sorted(random.Random(7).sample(every, min(most, len(every))))

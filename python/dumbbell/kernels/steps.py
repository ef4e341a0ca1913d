"""Commands of a build: logged, ended with the command that builds, and explained if they fail."""

from __future__ import annotations

import ctypes
import os
import re
import shlex
import signal
import subprocess
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Final

from dumbbell.core import core
from dumbbell.errors import RunFailed
from dumbbell.kernels import tools

Progress = Callable[[Mapping[str, object]], None]
"""Takes events: `{"event": "step", "step": ...}`, and `{"event": "objects", "done": ..., "of": ...}`."""

_QUOTED: Final = 12
_PR_SET_PDEATHSIG: Final = 1
_END_S: Final = 5.0
"""make and its compilers end within this time when they are asked to."""


class Steps:
    """The steps of one build, with one log."""

    def __init__(self, what: str, log: Path, progress: Progress) -> None:
        """`what` is built, for errors."""
        self._what = what
        self._log = log
        self._progress = progress
        self._step = ""
        log.parent.mkdir(parents=True, exist_ok=True)
        log.write_bytes(b"")

    def begin(self, step: str) -> None:
        """Say what is done from here on."""
        self._step = step
        self._progress({"event": "step", "step": step})
        with self._log.open("a", encoding="utf-8") as log:
            log.write(f"# {step}\n")

    def run(
        self,
        command: Sequence[str],
        cwd: Path,
        stdin: bytes = b"",
        count: re.Pattern[str] | None = None,
        of: int = 0,
        limit: Callable[[], None] | None = None,
    ) -> str:
        """Run a command to its end, and return what it printed.

        Args:
            command: program and arguments.
            cwd: where it runs.
            stdin: what it reads.
            count: a line that stands for one object of the progress.
            of: how many objects there will be, about.
            limit: limits the command's process, before it starts.

        Raises:
            RunFailed: it ended with an error; with its last lines.
        """
        said: list[str] = []
        done = 0
        with self._log.open("a", encoding="utf-8") as log:
            log.write(f"$ {shlex.join(command)}\n")
            log.flush()
            process = self._started(command, cwd, limit or _end_with_parent)
            try:
                _feed(process.stdin, stdin)
                assert process.stdout is not None
                for raw in process.stdout:
                    line = raw.decode(errors="replace")
                    log.write(line)
                    said.append(line)
                    if count is not None and count.match(line):
                        done += 1
                        self._progress({"event": "objects", "done": done, "of": max(done, of)})
                code = process.wait()
            except BaseException:
                _end(process)
                raise
        if code != 0:
            raise self.failed("".join(said))
        return "".join(said)

    def run_on_theirs(self, command: Sequence[str], cwd: Path) -> None:
        """Run a command on a text that may be a stranger's, within limits of time and memory. Raises as `run`."""
        try:
            ok, said = core.run_helper(list(command), cwd, _environment())
        except FileNotFoundError:
            raise self._lacks(command[0]) from None
        with self._log.open("a", encoding="utf-8") as log:
            log.write(f"$ {shlex.join(command)}\n{said}")
        if not ok:
            raise self.failed(said)

    def failed(self, text: str, hint: str = "") -> RunFailed:
        """The error of this step; `text` is all that was printed."""
        lines = [line.rstrip() for line in text.splitlines() if line.strip()]
        errors = [line for line in lines if re.search(r"\berror\b|\*\*\*|FAILED|undefined reference", line, re.I)]
        # make -j prints on after the line that matters.
        last = list(dict.fromkeys([*errors[:4], *deque(lines, _QUOTED)]))
        told = f"{hint}; " if hint else ""
        return RunFailed(
            f'{self._what} is not built: the step "{self._step}" failed',
            "\n".join(last) or "it printed nothing",
            f"{told}the whole log is {self._log}",
        )

    def _started(self, command: Sequence[str], cwd: Path, prepare: Callable[[], None]) -> subprocess.Popen[bytes]:
        """A process in a session of its own, so that Ctrl-C reaches only us, who then end all of it."""
        try:
            return subprocess.Popen(
                command,
                cwd=cwd,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=prepare,
                env=_environment(),
            )
        except FileNotFoundError:
            raise self._lacks(command[0]) from None

    def _lacks(self, program: str) -> RunFailed:
        hint = tools.install([tools.PROGRAMS.get(program, program)])
        return self.failed(f"{program} is not installed", hint)


def _environment() -> dict[str, str]:
    """The builds must not depend on this one: neither on its make, nor on the user's language or flags."""
    without = {"MAKEFLAGS", "MFLAGS", "MAKELEVEL", "MAKEOVERRIDES", "CFLAGS", "LDFLAGS", "ARCH", "CROSS_COMPILE", "O"}
    kept = {name: value for name, value in os.environ.items() if name not in without and not name.startswith("KBUILD_")}
    # With these the same source gives the same program, wherever and whenever it is compiled.
    fixed = {"KBUILD_BUILD_TIMESTAMP": "Thu Jan  1 00:00:00 UTC 1970", "KBUILD_BUILD_USER": "dumbbell"}
    return {**kept, **fixed, "KBUILD_BUILD_HOST": "dumbbell", "KBUILD_BUILD_VERSION": "1", "LC_ALL": "C"}


def _end_with_parent() -> None:
    """make passes SIGTERM on to all that it has started."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


def _feed(pipe: IO[bytes] | None, text: bytes) -> None:
    assert pipe is not None
    with suppress(BrokenPipeError):
        pipe.write(text)
    with suppress(BrokenPipeError):
        pipe.close()


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a command and all that it has started."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        with suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        limit = time.monotonic() + _END_S
        while process.poll() is None and time.monotonic() < limit:
            time.sleep(0.02)
    process.wait()

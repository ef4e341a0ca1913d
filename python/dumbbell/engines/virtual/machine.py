"""The process that a kernel is: how it is started, and who ends with whom.

    guard --forks--> first process of a PID namespace --forks--> kernel --forks--> one process for each guest process

The first process does nothing but wait for the kernel, and start what settles its records. When it ends, the host's
kernel ends everything else in the namespace, and it ends with the guard: whatever is killed, nothing is left.
"""

from __future__ import annotations

import os
import resource
import signal
import sys
import traceback
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, Protocol

from dumbbell.engines.virtual import calls, confine
from dumbbell.engines.virtual.inside import INIT
from dumbbell.frozen import dataclass

START_NS: Final = 1_767_225_600 * 10**9
"""The clock's time as a kernel starts: 2026-01-01. It is the same each time, so that runs are."""
UMID: Final = "kernel"
"""The kernel's name for itself, in the folder of its memory."""


class Start(Protocol):
    """Start of a kernel's process."""

    @property
    def program(self) -> Path:
        """The program that is the kernel, or that runs it."""

    def command(self) -> list[str]:
        """Its command line."""

    @property
    def environment(self) -> Mapping[str, str]:
        """Its environment; the same each time."""

    @property
    def folder(self) -> str:
        """Its working directory."""

    @property
    def after(self) -> list[str]:
        """The command that settles the records when it has ended; empty if there is nothing to do."""


@dataclass(frozen=True)
class Boot:
    """The settings that a user-mode kernel is started with."""

    program: Path
    seed: int
    """All of the kernel's randomness is a stream of it."""
    memory_bytes: int
    links: Path | None
    """The library that carries packets in the kernel's process; `None`: a process inside does."""

    def command(self) -> list[str]:
        """The kernel's command line. It is a part of the kernel's randomness: nothing in it may tell of the machine."""
        return [
            str(self.program),
            f"mem={self.memory_bytes >> 10}K",
            *("root=host", "rootfstype=hostfs", "rootflags=/", "ro"),
            *("time-travel=inf-cpu", f"time-travel-start={START_NS}", f"random-seed={self.seed}"),
            *("con=null", "con0=null,fd:1", "con1=fd:0,null", "ssl=null"),
            *("quiet", "panic=-1", f"uml_dir={confine.PLACE}/", f"umid={UMID}", f"init={INIT}"),
            # This one is not handed on to the kernel's own command line.
            *([f"dumbbell.links={self.links},{confine.RUN}"] if self.links else []),
        ]

    @property
    def environment(self) -> Mapping[str, str]:
        """The kernel's own; the same each time."""
        return {"HOME": confine.PLACE, "TMPDIR": confine.PLACE, "PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}

    @property
    def folder(self) -> str:
        """The user's, as all its paths are absolute."""
        return os.curdir

    @property
    def after(self) -> list[str]:
        """Nothing: it has written its records itself."""
        return []


def start(boot: Start, orders: int, log: int, keep: Sequence[int]) -> int:
    """Start the kernel in the PID namespace that was made for children of this process.

    Args:
        boot: what to start.
        orders: descriptor of the orders to the kernel's first process.
        log: descriptor of the kernel's log.
        keep: descriptors that the kernel holds while it runs.

    Returns the process id of the namespace's first process, which ends as the kernel does: with its exit code, or
    128 and the number of the signal that killed it.
    """
    child = os.fork()
    if child:
        return child
    try:
        calls.prctl(calls.PR_SET_PDEATHSIG, signal.SIGKILL)
        os.setsid()
        confine.drop_rights()
        code = _wait(_kernel(boot, orders, log, keep))
        if boot.after:
            # The library and the tunables are the machine's alone.
            plain = {name: value for name, value in boot.environment.items() if name in ("PATH", "TMPDIR")}
            if ended := os.spawnve(os.P_WAIT, boot.after[0], boot.after, plain):
                print(f"{boot.after[0]}: exit code {ended}", file=sys.stderr, flush=True)
        os._exit(code)
    except BaseException:
        traceback.print_exc()
        os._exit(1)


def _kernel(boot: Start, orders: int, log: int, keep: Sequence[int]) -> int:
    child = os.fork()
    if child:
        # An end of the pipe that is held here would hide that the other side is gone.
        os.close(orders)
        for stream in range(3):
            os.dup2(log, stream)
        return child
    try:
        calls.prctl(calls.PR_SET_PDEATHSIG, signal.SIGKILL)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        calls.fix_addresses()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPIPE):
            signal.signal(number, signal.SIG_DFL)
        for stream, descriptor in enumerate((orders, log, log)):
            os.dup2(descriptor, stream)
        for descriptor in keep:
            os.set_inheritable(descriptor, True)
        os.chdir(boot.folder)
        os.execve(boot.program, boot.command(), dict(boot.environment))
    except BaseException:
        traceback.print_exc()
    os._exit(127)


def _wait(kernel: int) -> int:
    """Wait for the kernel's end, and for that of its processes that come to us."""
    while True:
        pid, status = os.wait()
        if pid == kernel:
            return os.WEXITSTATUS(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status)

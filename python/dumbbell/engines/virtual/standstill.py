"""Notices a kernel whose clock stands still: something inside computes for ever, or waits for what never comes."""

from __future__ import annotations

import os
import re
import signal
import socket
import struct
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from dumbbell.engines.virtual import confine
from dumbbell.engines.virtual.machine import UMID

SPIN_S: Final = 90.0
"""CPU time without an event: a run in which every flow sends at 10 Gbit/s has one each few seconds."""
HANG_S: Final = 60.0
"""Time without an event in which nothing computes, either."""
_LOOK_S: Final = 1.0
_QUIET_S: Final = 5.0
"""Time without an event before we look at all."""
_ASK_S: Final = 2.0
_ASKED: Final = 3
"""A kernel has not always opened its console when it is asked for the first time."""
_KICK_S: Final = 0.2


class Standstill(Exception):
    """The kernel's clock stands still."""

    def __init__(self, what: str, why: str, hint: str) -> None:
        super().__init__(what)
        self.what, self.why, self.hint = what, why, hint


class Watch:
    """Watches the processes of a kernel."""

    def __init__(self, first: int, spin_s: float = SPIN_S, hang_s: float = HANG_S) -> None:
        """`first`: the process id of the one that all descend from."""
        self._first, self._spin_s, self._hang_s = first, spin_s, hang_s
        self.alive()

    def alive(self) -> None:
        """Note that an event has come."""
        self._quiet_since = self._still_since = self._looked = time.monotonic()
        self._cpu_s: float | None = None
        """CPU time at the first look since the event."""
        self._last_s = 0.0

    def look(self) -> None:
        """Raise `Standstill` if the clock stands still."""
        now = time.monotonic()
        if now < max(self._quiet_since + _QUIET_S, self._looked + _LOOK_S):
            return
        self._looked, used_s = now, sum(one.cpu_s for one in below(self._first))
        if self._cpu_s is None:
            self._cpu_s = self._last_s = used_s
        if used_s - self._last_s > 0.05:
            self._last_s, self._still_since = used_s, now
        if used_s - self._cpu_s > self._spin_s:
            raise _standstill(self._first, f"{used_s - self._cpu_s:.0f} s of computing")
        if now - self._still_since > self._hang_s:
            raise _standstill(self._first, f"{now - self._still_since:.0f} s in which nothing computed")


def _standstill(first: int, after: str) -> Standstill:
    spins = current(first)
    what = f"the kernel's clock stands still: {spins} spins" if spins else "the kernel's clock stands still"
    why = f"no event came for {after}"
    hint = "a program that waits by asking for the time crawls in virtual time: let it sleep, or use --engine emulate"
    return Standstill(what, why, hint if spins else "the kernel's log is in the run's directory")


@dataclass(frozen=True)
class Process:
    """A process of the kernel's, as this machine sees it."""

    pid: int
    state: str
    cpu_s: float


def below(first: int) -> list[Process]:
    """The processes that descend from `first`, and itself."""
    tick = os.sysconf("SC_CLK_TCK")
    found, children = {}, dict[int, list[int]]()
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError, ValueError, IndexError):
            # The name before may have any character. After it come the state and the parent; the 12th and 13th are
            # times.
            fields = path.read_text().rpartition(")")[2].split()
            pid = int(path.parent.name)
            found[pid] = Process(pid, fields[0], (int(fields[11]) + int(fields[12])) / tick)
            children.setdefault(int(fields[1]), []).append(pid)
    wanted = [first]
    for pid in wanted:
        wanted += children.get(pid, [])
    return [found[pid] for pid in wanted if pid in found]


def current(first: int) -> str | None:
    """The name of the guest process that computes, as the kernel itself tells it; `None` if it does not answer."""
    for _ in range(_ASKED):
        with suppress(OSError):
            ask("sysrq 8", first)
            if found := re.search(r"\bcomm: (.*?)\s+(?:Not t|T)ainted", ask("sysrq p", first), re.IGNORECASE):
                return found[1]
    return None


def ask(command: str, first: int) -> str:
    """The kernel's answer on its management console. Raises `OSError`.

    A request is a magic number, a version, a length and a text of 512 bytes; an answer is its error, whether more
    follows, a length and a text (Documentation/virt/uml/user_mode_linux_howto_v2.rst).
    """
    answer = []
    name = f"{confine.PLACE}/ask-{os.getpid()}"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as console:
        console.bind(name)
        try:
            console.settimeout(_KICK_S)
            deadline = time.monotonic() + _ASK_S
            text = command.encode()
            console.sendto(struct.pack("III512s", 0xCAFEBABE, 2, len(text), text), f"{confine.PLACE}/{UMID}/mconsole")
            more = True
            while more:
                # A kernel looks at its console when a process of its own stops, which one that computes does not.
                for process in below(first):
                    with suppress(ProcessLookupError):
                        if process.state == "R":
                            os.kill(process.pid, signal.SIGALRM)
                try:
                    data = console.recv(4096)
                except TimeoutError:
                    if time.monotonic() > deadline:
                        raise
                    continue
                _, more, length = struct.unpack_from("III", data)
                answer.append(data[12 : 12 + length])
        finally:
            os.unlink(name)
    return b"".join(answer).decode(errors="replace")

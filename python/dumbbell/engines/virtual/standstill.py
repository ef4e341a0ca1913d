"""Notices a kernel whose clock stands still: something inside computes for ever, or waits for what never comes."""

from __future__ import annotations

import os
import re
import signal
import socket
import struct
import time
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from dumbbell.engines.virtual import confine
from dumbbell.engines.virtual.machine import UMID
from dumbbell.engines.virtual.spot import Sourced, Spot, Symbols, clock_ns, instruction, own_program
from dumbbell.frozen import dataclass

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
_STOPPING_S: Final = 0.6
"""Time in which the clock of a run that was told to stop stands, with a user's program computing, until that loops."""
_SAMPLE_S: Final = 0.1
_SAMPLES: Final = 3
"""Times that the user's program was seen computing."""


class Standstill(Exception):
    """The kernel's clock stands still."""

    def __init__(self, what: str, why: str, hint: str) -> None:
        super().__init__(what)
        self.what, self.why, self.hint = what, why, hint


class Watch:
    """Watches the processes of a kernel."""

    def __init__(
        self,
        first: int,
        spin_s: float = SPIN_S,
        hang_s: float = HANG_S,
        kernel: Path | None = None,
        algorithms: Sequence[Sourced] = (),
    ) -> None:
        """Watch them.

        Args:
            first: the process id of the one that all descend from.
            spin_s: CPU time without an event after which the clock stands still.
            hang_s: the same of time in which nothing computes.
            kernel: the program of a user-mode kernel, whose symbols tell what it computes.
            algorithms: the plan's, among them the user's programs.
        """
        self._first, self._spin_s, self._hang_s = first, spin_s, hang_s
        self._kernel, self._algorithms = kernel, algorithms
        self._symbols: Symbols | None = None
        self._stopping = False
        self._sampled = self._clock_since = 0.0
        self._clock: int | None = None
        self._seen = Counter[str]()
        self.alive()

    def stopping(self) -> None:
        """Note that the run was told to stop: a user's program that loops keeps it from that."""
        self._stopping = True

    def alive(self) -> None:
        """Note that an event has come."""
        self._quiet_since = self._still_since = self._looked = time.monotonic()
        self._cpu_s: float | None = None
        """CPU time at the first look since the event."""
        self._last_s = 0.0

    def look(self) -> None:
        """Raise `Standstill` if the clock stands still."""
        now = time.monotonic()
        if self._stopping and now >= self._sampled + _SAMPLE_S:
            self._sampled = now
            self._look_for_loop(now)
        if now < max(self._quiet_since + _QUIET_S, self._looked + _LOOK_S):
            return
        self._looked, used_s = now, sum(one.cpu_s for one in below(self._first))
        if self._cpu_s is None:
            self._cpu_s = self._last_s = used_s
        if used_s - self._last_s > 0.05:
            self._last_s, self._still_since = used_s, now
        if used_s - self._cpu_s > self._spin_s:
            raise self._standstill(f"{used_s - self._cpu_s:.0f} s of computing")
        if now - self._still_since > self._hang_s:
            raise self._standstill(f"{now - self._still_since:.0f} s in which nothing computed")

    def _look_for_loop(self, now: float) -> None:
        """Raise `Standstill` if the clock stands while a user's program computes: records are never written so."""
        spots = self._spots()
        clock = next((found for pid, _ in spots if (found := clock_ns(pid, self._known())) is not None), None)
        if clock != self._clock:
            self._clock, self._clock_since, self._seen = clock, now, Counter()
        self._seen.update(f"{spot.function}() of {file}" for _, spot in spots if (file := self._own(spot)))
        if clock is not None and self._seen.total() >= _SAMPLES and now - self._clock_since > _STOPPING_S:
            raise _looping(self._seen.most_common(1)[0][0], "it was told to stop, and computed on at one instant")

    def _standstill(self, after: str) -> Standstill:
        why = f"no event came for {after}"
        own = [f"{spot.function}() of {file}" for _, spot in self._spots() if (file := self._own(spot))]
        if own:
            return _looping(own[0], why)
        spins = current(self._first)
        if spins == _IDLE:
            spins = next((f"{spot.function}() of the kernel" for _, spot in self._spots()), spins)
        what = f"the kernel's clock stands still: {spins} spins" if spins else "the kernel's clock stands still"
        hint = (
            "a program that waits by asking for the time crawls in virtual time: let it sleep, or use --engine emulate"
        )
        return Standstill(what, why, hint if spins else "the kernel's log is in the run's directory")

    def _spots(self) -> list[tuple[int, Spot]]:
        """Processes that compute, and the functions of the kernel in which they are."""
        if not (known := self._known()):
            return []
        running = [one.pid for one in below(self._first) if one.state == "R"]
        places = [(pid, known.at(address)) for pid in running if (address := instruction(pid)) is not None]
        return [(pid, spot) for pid, spot in places if spot is not None]

    def _known(self) -> Symbols | None:
        if self._symbols is None and self._kernel is not None:
            with suppress(OSError, ValueError):
                self._symbols = Symbols(self._kernel)
        return self._symbols

    def _own(self, spot: Spot) -> str | None:
        return own_program(spot.unit, self._algorithms)


_IDLE: Final = "swapper"
"""The task on whose behalf the kernel handles packets."""


def _looping(program: str, why: str) -> Standstill:
    what = f"the kernel's clock stands still: {program} loops"
    return Standstill(what, why, "let its loops end: a bound for each is best")


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

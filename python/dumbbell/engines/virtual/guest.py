"""A kernel's two sides of a run: how files and messages get in and out."""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, Protocol, TypedDict

from dumbbell.engines.virtual import confine, inside
from dumbbell.engines.virtual.inside import EVENTS
from dumbbell.engines.virtual.machine import Boot, Start

MEMORY: Final = 512 << 20
"""Memory of a kernel besides what the emulator takes for packets. Pages that are never used take none of the host's."""


class EmulateRead(TypedDict):
    """The table `emulate` of plan.json, as far as it is read here."""

    arena_bytes: int
    ring_bytes: int


class PlanRead(TypedDict):
    """The plan.json of a run, as far as it is read here."""

    seed: int
    emulate: EmulateRead


class NotStarted(Exception):
    """A kernel that does not come as far as its run."""

    def __init__(self, what: str, why: str, hint: str) -> None:
        super().__init__(what)
        self.what, self.why, self.hint = what, why, hint


class Guest(Protocol):
    """A kernel of some kind."""

    @property
    def boot(self) -> Start:
        """How its process is started."""

    @property
    def memory_bytes(self) -> int:
        """The most that it takes of the tmpfs at `confine.PLACE`."""

    @property
    def keep(self) -> Sequence[int]:
        """Descriptors that its process holds while it runs."""

    def log(self) -> tuple[int, int]:
        """Descriptors of its log, where it cannot be a file: our end, and its own."""

    def prepare(self, directory: Path) -> None:
        """Put what it starts from at `confine.PLACE`. `directory`: the run's, as it is called outside."""

    def started(self) -> None:
        """Do what remains once its process is there. Raises `NotStarted`."""

    def news(self, offset: int) -> bytes:
        """Events behind the first `offset` bytes."""

    def order(self, line: bytes, control: int) -> None:
        """Pass an order on. `control`: a pipe to its standard input."""

    def finish(self) -> Mapping[str, object]:
        """Facts about the kernel for `lab.json`. Raises `OSError` if its records are not in the run's directory."""


class UserMode:
    """A kernel that is an ordinary process and sees this machine's files."""

    keep: Sequence[int] = ()

    def __init__(self, kernel: Path, init: Path, links: Path | None, live: bool, plan: PlanRead) -> None:
        """`live`: events report the progress of flows and links."""
        emulate = plan["emulate"]
        self.memory_bytes = MEMORY if links else MEMORY + emulate["arena_bytes"] + emulate["ring_bytes"]
        self.boot = Boot(kernel, plan["seed"], self.memory_bytes, links)
        self._init, self._live = init, live

    @staticmethod
    def log() -> tuple[int, int]:
        """A stream socket, which does not tell its writer that it is read.

        Each read of a pipe, even of an empty one, sends its writer a signal. Linux 6.1 takes the first for an interrupt
        of its console, and mixes the virtual time at which it came into its random numbers. 6.12 has no such interrupt.
        """
        ours, kernels = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        return ours.detach(), kernels.detach()

    def prepare(self, directory: Path) -> None:
        """Settings for its first process; see `Guest`."""
        self._events = os.open(Path(confine.RUN, EVENTS), os.O_RDONLY)
        inside.prepare(self._init, directory, os.getcwd(), os.environb, self._live)

    def started(self) -> None:
        """Do nothing: it is on its way."""

    def news(self, offset: int) -> bytes:
        """Read its file of events."""
        return os.pread(self._events, 1 << 20, offset)

    def order(self, line: bytes, control: int) -> None:
        """Write to its console."""
        os.write(control, line)

    def finish(self) -> Mapping[str, object]:
        """Nothing is left to do: it has written to the run's directory itself."""
        return {}

"""A kernel in a virtual machine, which goes on from a snapshot.

Everything in and out is in memory that both share, because a device would answer at a time of its own. The other side
is the crate `ready-init`.
"""

from __future__ import annotations

import io
import mmap
import os
import socket
import struct
import tarfile
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Final, Protocol

from dumbbell.engines.virtual import confine
from dumbbell.engines.virtual.guest import NotStarted
from dumbbell.frozen import dataclass
from dumbbell.kernels.ready import INIT, machine
from dumbbell.kernels.ready.machine import Machine, Monitor

SHARED: Final = f"{confine.PLACE}/shared"
_NUMBER: Final = struct.Struct("<Q")
_TUNABLES: Final = "glibc.malloc.arena_max=1:glibc.malloc.top_pad=16777216:glibc.malloc.hugetlb=1"
"""QEMU translates in a thread of its own, whose heap would grow by a page at a time, a thousand times a run."""


class Command(Protocol):
    """The command line of a machine, by the files of shared memory and log and the descriptor of the monitor."""

    def __call__(self, shared: str, log: str, monitor: int) -> list[str]:
        """The words."""


@dataclass(frozen=True)
class _Start:
    program: Path
    line: Command
    monitor: int

    @property
    def folder(self) -> str:
        # QEMU takes its firmware from the working directory, if one of its names is there.
        return confine.PLACE

    @property
    def after(self) -> list[str]:
        return [str(INIT), SHARED, confine.RUN]

    @property
    def environment(self) -> Mapping[str, str]:
        there = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "TMPDIR": confine.PLACE, "GLIBC_TUNABLES": _TUNABLES}
        return {**there, "LD_PRELOAD": str(machine.TURNS)}

    def command(self) -> list[str]:
        return self.line(SHARED, "/proc/self/fd/1", self.monitor)


class Snapshot:
    """A ready kernel of one run, which goes on from its snapshot."""

    memory_bytes = machine.SHARED

    def __init__(self, machine: Machine, taken: Sequence[str]) -> None:
        """Hold the snapshot: from now on nobody who removes it takes it from this run. Raises `NotStarted`.

        Args:
            machine: the kernel's.
            taken: all of the run's directory that the guest gets: other files tell of the day.
        """
        try:
            held = [os.open(machine.snapshot / name, os.O_RDONLY) for name in ("memory", "devices")]
        except FileNotFoundError:
            again = "run it again: the kernel boots anew then, in less than a minute"
            raise NotStarted(
                "the snapshot of the kernel is gone", f"there is no {machine.snapshot} any more", again
            ) from None
        memory, self._devices = held
        self._hint = f"run it again; if that fails, too, remove {machine.snapshot.parent}, and the kernel boots anew"
        self._taken = taken
        self._monitor, self._theirs = socket.socketpair()
        self.keep = (self._theirs.fileno(), *held)
        line = partial(machine.resumed, Path("/proc/self/fd", str(memory)))  # as the process that has it calls it
        self.boot = _Start(machine.qemu, line, self._theirs.fileno())

    @staticmethod
    def log() -> tuple[int, int]:
        """A pipe: QEMU opens it by its name, and asks for no signals."""
        return os.pipe()

    def prepare(self, directory: Path) -> None:
        """Put the run's directory into the shared memory."""
        files = io.BytesIO()
        with tarfile.open(fileobj=files, mode="w", format=tarfile.GNU_FORMAT) as archive:
            for path in filter(Path.exists, (Path(confine.RUN, name) for name in self._taken)):
                archive.add(path, path.name, filter=_plain)
        content = files.getvalue()
        if machine.INPUT + len(content) > machine.EVENTS:
            raise OSError(f"the run's directory takes {len(content)} bytes, too much for a virtual machine")
        with open(SHARED, "wb") as file:
            file.truncate(machine.SHARED)
        descriptor = os.open(SHARED, os.O_RDWR)
        self._memory = mmap.mmap(descriptor, machine.SHARED)
        os.close(descriptor)
        self._memory[machine.INPUT : machine.INPUT + len(content)] = content
        self._set(machine.INPUT_AT, len(content))

    def started(self) -> None:
        """Let it come to the point at which a run begins."""
        self._theirs.close()
        try:
            machine.resume(Monitor(self._monitor), self._devices)
        except OSError as error:
            what = "the virtual machine does not go on from its snapshot"
            raise NotStarted(what, str(error), self._hint) from None

    def news(self, offset: int) -> bytes:
        """Read its events from the shared memory. The kernel may count more than there is room for."""
        end = min(machine.EVENTS + self._get(machine.EVENTS_AT), machine.OUTPUT)
        return self._memory[machine.EVENTS + offset : end]

    def order(self, line: bytes, control: int) -> None:
        """Append to the orders in the shared memory."""
        so_far = self._get(machine.ORDERS_AT)
        at = machine.ORDERS + so_far
        if at + len(line) <= machine.INPUT:
            self._memory[at : at + len(line)] = line
            self._set(machine.ORDERS_AT, so_far + len(line))

    def finish(self) -> Mapping[str, object]:
        """Look whether the records are there. Raises `OSError` if the machine left some that are not."""
        state = self._get(machine.STATE_AT)
        if state == machine.DONE:
            raise OSError("what the virtual machine left could not be unpacked, or made into tables")
        if state != machine.SETTLED:
            return {}
        return {"machine": "qemu"}

    def _get(self, at: int) -> int:
        number: int = _NUMBER.unpack_from(self._memory, at)[0]
        return number

    def _set(self, at: int, value: int) -> None:
        _NUMBER.pack_into(self._memory, at, value)


def _plain(member: tarfile.TarInfo) -> tarfile.TarInfo:
    """Without what tells of the machine and the day: the kernel would see it."""
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    member.mtime = 0
    return member

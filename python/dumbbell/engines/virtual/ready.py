"""A kernel in a virtual machine that goes on from a snapshot.

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
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from dumbbell.engines.virtual import confine
from dumbbell.kernels.ready import machine
from dumbbell.kernels.ready.machine import Machine, Monitor
from dumbbell.scenario.file.writing import ALGORITHMS

SHARED: Final = f"{confine.PLACE}/shared"
_NUMBER: Final = struct.Struct("<Q")
TAKEN: Final = ("plan.json", ALGORITHMS)
"""All of the run's directory that a guest gets: other files tell of the day."""


@dataclass(frozen=True)
class _Start:
    machine: Machine
    monitor: int

    @property
    def program(self) -> Path:
        return self.machine.qemu

    @property
    def environment(self) -> Mapping[str, str]:
        return {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "TMPDIR": confine.PLACE, "LD_PRELOAD": str(machine.TURNS)}

    def command(self) -> list[str]:
        return self.machine.command(SHARED, "/proc/self/fd/1", self.monitor)


class Ready:
    """A ready kernel of one run."""

    memory_bytes = machine.SHARED

    def __init__(self, qemu: Path, kernel: Path, initrd: Path, snapshot: Path) -> None:
        """Take what a `Machine` consists of."""
        self._machine = Machine(qemu, kernel, initrd, snapshot)
        self._monitor, theirs = socket.socketpair()
        self._theirs = theirs
        self.keep = (theirs.fileno(),)
        self.boot = _Start(self._machine, theirs.fileno())

    def prepare(self, directory: Path) -> None:
        """Put the run's directory into the shared memory."""
        files = io.BytesIO()
        with tarfile.open(fileobj=files, mode="w", format=tarfile.GNU_FORMAT) as archive:
            for path in filter(Path.exists, (Path(confine.RUN, name) for name in TAKEN)):
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
        """Let it go on from its snapshot."""
        self._theirs.close()
        machine.resume(Monitor(self._monitor), self._machine.snapshot)

    def news(self, offset: int) -> bytes:
        """Read its events from the shared memory."""
        return self._memory[machine.EVENTS + offset : machine.EVENTS + self._get(machine.EVENTS_AT)]

    def order(self, line: bytes, control: int) -> None:
        """Append to the orders in the shared memory."""
        so_far = self._get(machine.ORDERS_AT)
        at = machine.ORDERS + so_far
        if at + len(line) <= machine.INPUT:
            self._memory[at : at + len(line)] = line
            self._set(machine.ORDERS_AT, so_far + len(line))

    def finish(self) -> Mapping[str, Any]:
        """Unpack the records, if there are any."""
        if self._get(machine.STATE_AT) != machine.DONE:
            return {}
        content = self._memory[machine.OUTPUT : machine.OUTPUT + self._get(machine.OUTPUT_AT)]
        with tarfile.open(fileobj=io.BytesIO(content)) as archive:
            archive.extractall(confine.RUN, filter="data")
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

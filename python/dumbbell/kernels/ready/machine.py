"""The virtual machine in which a ready kernel runs: QEMU.

There is no KVM, and the clock counts instructions: one of the guest is 1 ns. While the guest waits, its
clock jumps to the next timer. A busy host makes a run take longer, and changes nothing that the guest can see.
"""

from __future__ import annotations

import json
import re
import shutil
import socket
import subprocess
import time
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final, TypedDict

from dumbbell.errors import RunFailed
from dumbbell.frozen import dataclass

TURNS: Final = Path(__file__).parents[1] / "qemu_turns.so"
"""The crate `qemu-turns`: QEMU's threads take turns with it. Without it, one run of some 60 was another one."""
QEMU: Final = "qemu-system-x86_64"
PACKAGES: Final = "sudo apt-get install --no-install-recommends qemu-system-x86"
MEMORY: Final = 512 << 20
"""Memory of the kernel, in bytes."""
SHARED: Final = 1 << 30
"""Memory that host and guest share, behind the kernel's: bytes. Only what is written takes room."""
OUTPUT: Final = 64 << 20
INPUT: Final = 64 << 10
EVENTS: Final = 32 << 20
ORDERS: Final = 4 << 10
"""Places in the shared memory: crates/ready-init/src/shared.rs."""
STATE_AT: Final = 0
ORDERS_AT: Final = 8
INPUT_AT: Final = 16
EVENTS_AT: Final = 24
OUTPUT_AT: Final = 32
"""Places of the state and of the lengths, little-endian numbers of 64 bits."""
READY: Final = 1
DONE: Final = 2
SETTLED: Final = 3
ANSWER_S: Final = 120.0


VIRTUAL: Final = (
    *("-accel", "tcg,thread=single", "-icount", "shift=0,sleep=off"),
    # A kernel gets random numbers from QEMU as it boots, and programs from the CPU: neither may be the host's.
    *("-seed", "1", "-cpu", "max,-rdrand,-rdseed,-erms,-fsrm,-smap,-la57", "-rtc", "base=2026-01-01T00:00:00,clock=vm"),
)
"""Arguments for a CPU whose instructions are its clock.

Such a CPU takes an instruction for each byte that `rep stosb` writes (`erms`, `fsrm`), and for each word of `rep stosq`
(`rep_good`, below). A kernel that knows neither clears and copies memory in a loop, which QEMU executes faster.
"""
VIRTUAL_KERNEL: Final = ("clearcpuid=rep_good", "mitigations=off", "init_on_alloc=0")
"""Arguments for the kernel there: no other program is in the machine that could spy, and clearing memory twice costs
time.
"""


@dataclass(frozen=True)
class Machine:
    """A kernel that was booted once, and all that its runs start from."""

    qemu: Path
    image: Path
    """The kernel, as QEMU loads it."""
    initrd: Path
    snapshot: Path
    """The folder of the snapshot: `memory`, and the state of all `devices`."""

    def resumed(self, memory: Path, shared: str, log: str, monitor: int) -> list[str]:
        """The command line of a machine that goes on from the snapshot, as soon as [`resume`] says so.

        What the machine changes in its memory is its own: many may have the same file at a time.

        Args:
            memory: the snapshot's memory, as a file that QEMU's parent holds for it.
            shared: the file of the shared memory.
            log: the file that takes what the kernel says.
            monitor: descriptor of the socket on which QEMU takes orders.
        """
        own = f"memory-backend-file,share=off,mem-path={memory}"
        return [*self._devices(own, VIRTUAL, shared, log, monitor), "-incoming", "defer"]

    def booting(self, memory: Path, shared: str, log: str, monitor: int) -> list[str]:
        """The command line of a machine of which a snapshot is to be made. `memory`: the file of its memory; else as
        `resumed`.
        """
        own = f"memory-backend-file,share=on,mem-path={memory}"
        return self._command(own, VIRTUAL, VIRTUAL_KERNEL, shared, log, monitor)

    def _command(
        self, own: str, clock: Sequence[str], kernel: Sequence[str], shared: str, log: str, monitor: int
    ) -> list[str]:
        """A machine that waits for the order to boot a kernel."""
        arguments = [
            *("console=ttyS0", "quiet", "panic=-1", "tsc=reliable", "nokaslr", "numa=off", *kernel),
            *(f"memmap={SHARED}${MEMORY}", f"dumbbell.shared={MEMORY},{SHARED}"),
        ]
        boots = ("-kernel", str(self.image), "-initrd", str(self.initrd), "-append", " ".join(arguments))
        return [*self._devices(own, clock, shared, log, monitor), *boots]

    def _devices(self, own: str, clock: Sequence[str], shared: str, log: str, monitor: int) -> list[str]:
        """A machine that waits for the order to go on. Those of a snapshot have the same devices."""
        return [
            *(str(self.qemu), "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot"),
            # The names of its threads are how `TURNS` knows them.
            *("-S", "-name", "dumbbell,debug-threads=on", "-machine", "pc", *clock),
            *("-m", f"{(MEMORY + SHARED) >> 20}", "-object", f"{own},id=own,size={MEMORY}"),
            *("-object", f"memory-backend-file,id=shared,size={SHARED},share=on,mem-path={shared}"),
            *("-numa", "node,memdev=own", "-numa", "node,memdev=shared"),
            *("-device", "pvpanic", "-action", "panic=pause", "-serial", f"file:{log}"),
            *("-device", "isa-debug-exit,iobase=0x501,iosize=1"),
            # With `mux` the monitor has no thread of its own, which each timer of the guest would wake up.
            *("-chardev", f"socket,id=monitor,fd={monitor},mux=on", "-mon", "chardev=monitor,mode=control"),
        ]


def qemu() -> Path:
    """The program. Raises `RunFailed` where it is not installed."""
    found = shutil.which(QEMU)
    if found is None:
        raise RunFailed(f"{QEMU} is not installed", "a kernel of somebody else runs in a virtual machine", PACKAGES)
    return Path(found)


def qemu_version() -> str:
    """The version of the installed QEMU. Raises `RunFailed` where there is none."""
    return version(qemu())


@cache
def version(program: Path) -> str:
    """QEMU's version with its package, as it tells it: `7.2.22 (Debian 1:7.2+dfsg-7+deb12u18)`."""
    told = subprocess.run([str(program), "--version"], capture_output=True, text=True, check=False).stdout
    found = re.search(r"version (.*)", told)
    return found[1] if found else told.strip()


class Monitor:
    """QEMU's end of a machine: orders and events, as JSON lines (QMP)."""

    def __init__(self, connection: socket.socket, answer_s: float = ANSWER_S) -> None:
        """Take the connection over, and the greeting. No answer and no event may take longer than `answer_s`."""
        connection.settimeout(answer_s)
        self._lines = connection.makefile("rw", encoding="utf-8")
        self._read()
        self("qmp_capabilities")
        # The shared memory is no part of a snapshot: it is this run's.
        self("migrate-set-capabilities", capabilities=[{"capability": "x-ignore-shared", "state": True}])

    def __call__(self, order: str, **arguments: Any) -> Any:
        """Give an order; the answer. Raises `OSError` if there is none, or if it is an error."""
        self._lines.write(json.dumps({"execute": order, "arguments": arguments}) + "\n")
        self._lines.flush()
        while True:
            told = self._read()
            if "error" in told:
                raise OSError(f"{order}: {told['error']['desc']}")
            if "return" in told:
                return told["return"]

    def until(self, event: str) -> None:
        """Wait for an event. Raises `OSError` if the machine ends before."""
        while self._read().get("event") != event:
            pass

    def moved(self) -> None:
        """Wait until a snapshot is written or read. Raises `OSError` if that fails."""
        while True:
            status = self("query-migrate").get("status")
            if status == "completed":
                return
            if status == "failed":
                raise OSError("the snapshot cannot be moved")
            time.sleep(0.005)

    def _read(self) -> _Line:
        try:
            line = self._lines.readline()
        except TimeoutError:
            raise OSError("the virtual machine is silent") from None
        except ConnectionError:
            line = ""
        if not line:
            raise OSError("the virtual machine has ended")
        told: _Line = json.loads(line)
        return told


class _Error(TypedDict):
    """Why QEMU refuses an order."""

    desc: str


_Line = TypedDict("_Line", {"return": Any, "error": _Error, "event": str}, total=False)
"""A line of QEMU's monitor: an answer, an error or an event."""


def resume(monitor: Monitor, devices: int) -> None:
    """Let a machine go on from its snapshot.

    Args:
        monitor: the machine's.
        devices: descriptor of the state of its devices, which QEMU has, too.

    Raises:
        OSError: it does not.
    """
    monitor("migrate-incoming", uri=f"fd:{devices}")
    monitor.moved()
    monitor("cont")


def boot(monitor: Monitor) -> None:
    """Let a machine boot until its kernel has described itself, and waits. Raises `OSError` if it does not."""
    monitor("cont")
    monitor.until("GUEST_PANICKED")

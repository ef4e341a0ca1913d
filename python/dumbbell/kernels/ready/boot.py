"""Boots a ready kernel once, and keeps the machine as it is then."""

from __future__ import annotations

import ctypes
import hashlib
import json
import os
import re
import signal
import socket
import struct
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from dumbbell.errors import RunFailed
from dumbbell.kernels import cache
from dumbbell.kernels.ready import cpio
from dumbbell.kernels.ready.image import Image
from dumbbell.kernels.ready.machine import (
    OUTPUT,
    OUTPUT_AT,
    READY,
    STATE_AT,
    TURNS,
    Machine,
    Monitor,
    command,
    qemu,
    version,
)
from dumbbell.kernels.steps import Progress

INIT: Final = Path(__file__).parents[1] / "ready_init"
"""The crate `ready-init`: the first process of a ready kernel."""
_FORMAT: Final = 1
_PR_SET_PDEATHSIG: Final = 1
_LINES: Final = 12
_KEPT: Final = 3
_UNUSED_S: Final = 86400.0


@dataclass(frozen=True)
class Booted:
    """A kernel that was booted, and its description of itself."""

    machine: Machine
    release: str
    """`6.12.117+deb12-cloud-amd64`."""
    algorithms: tuple[str, ...]
    sysctls: tuple[str, ...]
    has_btf: bool
    """True if BPF programs can be loaded into it."""
    hash: str
    """SHA-256 of QEMU's version and the image, in hex: part of a run's identity."""


def booted(image: Image, progress: Progress) -> Booted:
    """The kernel of an image, booted now if it was not before: that takes some seconds.

    Raises:
        RunFailed: QEMU is not installed, or the kernel does not come as far as our first process.
    """
    program = qemu()
    ours = [hashlib.sha256(one.read_bytes()).hexdigest() for one in (INIT, TURNS)]
    recipe = [str(_FORMAT), version(program), image.hash, *ours]
    key = hashlib.sha256("\0".join(recipe).encode()).hexdigest()
    folder = cache.root() / "booted" / key[: cache.SHORT]
    with cache.making(folder, lambda: None) as partial:
        if partial is not None:
            progress({"event": "step", "step": f"booting {image.names[0]} once"})
            _boot(program, image, partial)
    os.utime(folder)
    cache.trim(folder.parent, _KEPT * 4, _UNUSED_S)
    told = json.loads((folder / "description.json").read_text(encoding="utf-8"))
    machine = Machine(program, image.kernel, folder / "initrd", folder / "snapshot")
    identity = hashlib.sha256("\0".join(recipe[1:3]).encode()).hexdigest()
    lists = (tuple(told["algorithms"]), tuple(told["sysctls"]))
    return Booted(machine, told["release"], *lists, told["has_btf"], identity)


def _boot(program: Path, image: Image, folder: Path) -> None:
    """Write `initrd`, `snapshot` and `description.json` into a folder."""
    (folder / "initrd").write_bytes(cpio.archive(_files(image)))
    shared, log = folder / "shared", folder / "log"
    ours, theirs = socket.socketpair()
    with ours, theirs:
        line = command(program, image.kernel, folder / "initrd", str(shared), str(log), theirs.fileno())
        # The memory's file is new in each machine.
        environment = {**os.environ, "LD_PRELOAD": str(TURNS)}
        with subprocess.Popen(
            line,
            env=environment,
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            preexec_fn=_end_with_parent,
        ) as process:
            theirs.close()
            try:
                monitor = Monitor(ours)
                monitor("cont")
                monitor.until("GUEST_PANICKED")
                told = _description(shared)
                monitor("migrate", uri=f"exec:cat > '{folder}/snapshot'")
                monitor.moved()
                monitor("quit")
            except (OSError, ValueError) as error:
                process.kill()
                said = process.communicate()[1].decode(errors="replace")
                raise _failed(image, [str(error), *said.splitlines(), *_lines(log)]) from None
            finally:
                process.kill()
    shared.unlink()
    (folder / "description.json").write_text(json.dumps(told), encoding="utf-8")


def _description(shared: Path) -> dict[str, Any]:
    """Raises `ValueError` if the kernel stopped at another place than ours: it has panicked itself."""
    with shared.open("rb") as file:
        head = file.read(OUTPUT_AT + 8)
        if struct.unpack_from("<Q", head, STATE_AT)[0] != READY:
            raise ValueError("it stopped before our first process had described it")
        file.seek(OUTPUT)
        told: dict[str, Any] = json.loads(file.read(struct.unpack_from("<Q", head, OUTPUT_AT)[0]))
        return told


def _files(image: Image) -> dict[str, bytes]:
    """The root file system: our first process, the libraries that it needs, and the kernel's modules."""
    told = subprocess.run(["ldd", str(INIT)], capture_output=True, text=True, check=True).stdout
    libraries = re.findall(r"(/\S+) \(0x", told)
    files = {library.removeprefix("/"): Path(library).read_bytes() for library in libraries}
    files |= {f"modules/{path.name}": path.read_bytes() for path in image.modules}
    return {"init": INIT.read_bytes(), **files}


def _failed(image: Image, said: Sequence[str]) -> RunFailed:
    why = "\n".join(line for line in said[-_LINES:] if line.strip())
    hint = "it needs an initial RAM disk, /dev/mem and a serial console (BLK_DEV_INITRD, DEVMEM, SERIAL_8250_CONSOLE)"
    return RunFailed(f"the kernel {image.names[0]} does not boot", why, hint)


def _lines(log: Path) -> list[str]:
    return log.read_text(encoding="utf-8", errors="replace").splitlines() if log.exists() else []


def _end_with_parent() -> None:
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)

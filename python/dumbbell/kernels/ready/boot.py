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
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

from dumbbell.command import rebuild
from dumbbell.errors import RunFailed
from dumbbell.frozen import dataclass
from dumbbell.kernels import cache
from dumbbell.kernels.ready import cpio
from dumbbell.kernels.ready.image import Image
from dumbbell.kernels.ready.machine import (
    ANSWER_S,
    OUTPUT,
    OUTPUT_AT,
    READY,
    STATE_AT,
    TURNS,
    VIRTUAL,
    VIRTUAL_KERNEL,
    Machine,
    Monitor,
    boot,
    qemu,
    version,
)
from dumbbell.kernels.steps import Progress

INIT: Final = Path(__file__).parents[1] / "ready_init"
"""The crate `ready-init`: the first process of a ready kernel."""
_FORMAT: Final = 4
_PR_SET_PDEATHSIG: Final = 1
_LINES: Final = 12
_KEPT: Final = 3
_UNUSED_S: Final = 86400.0
_BLOCK: Final = 4096
"""A page of the machine's memory, in bytes."""
_LONGEST: Final = 4 << 20
"""More bytes than a kernel's description has."""


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
        RunFailed: QEMU is not installed, dumbbell's part is not built, or the kernel does not reach our first process.
    """
    program = qemu()
    if missing := [str(one) for one in (INIT, TURNS) if not one.is_file()]:
        raise RunFailed("a kernel cannot be booted", f"there is no {', no '.join(missing)}", rebuild("kernel"))
    ours = [hashlib.sha256(one.read_bytes()).hexdigest() for one in (INIT, TURNS)]
    recipe = [str(_FORMAT), version(program), image.hash, *ours, *VIRTUAL, *VIRTUAL_KERNEL]
    key = hashlib.sha256("\0".join(recipe).encode()).hexdigest()
    folder = cache.root() / "booted" / key[: cache.SHORT]
    with cache.making(folder, lambda: None) as place:
        if place is not None:
            progress({"event": "step", "step": f"booting {image.names[0]} once"})
            _boot(program, image, place)
        else:
            os.utime(folder)
    cache.trim(folder.parent, _KEPT * 4, _UNUSED_S)
    told = json.loads((folder / "description.json").read_text(encoding="utf-8"))
    machine = Machine(program, image.kernel, folder / "initrd", folder / "snapshot")
    identity = hashlib.sha256("\0".join(recipe[1:3]).encode()).hexdigest()
    lists = (tuple(told["algorithms"]), tuple(told["sysctls"]))
    return Booted(machine, told["release"], *lists, told["has_btf"], identity)


def _boot(program: Path, image: Image, folder: Path) -> None:
    """Write `initrd`, `snapshot` and `description.json` into a folder."""
    machine = Machine(program, image.kernel, folder / "initrd", folder / "snapshot")
    machine.initrd.write_bytes(cpio.archive(_files(image)))
    machine.snapshot.mkdir()
    memory = machine.snapshot / "memory"

    def written(monitor: Monitor, shared: Path) -> None:
        told = described(shared)
        monitor("migrate", uri=f"exec:cat > '{machine.snapshot}/devices'")
        monitor.moved()
        (folder / "description.json").write_text(json.dumps(told), encoding="utf-8")

    # The clock is the same each time with this library.
    environment = {**os.environ, "LD_PRELOAD": str(TURNS)}
    line = partial(machine.booting, memory)
    if (said := tried(line, folder, written, environment)) is not None:
        raise _failed(image, said)
    _leave_out_zeros(memory)


def tried(
    line: Callable[[str, str, int], Sequence[str]],
    folder: Path,
    then: Callable[[Monitor, Path], None],
    environment: Mapping[str, str],
    answer_s: float = ANSWER_S,
) -> list[str] | None:
    """Boot a machine as far as our first process, which ends it.

    Args:
        line: the command line, by the files of shared memory and log and the descriptor of the monitor.
        folder: where these files are while it runs.
        then: called as it waits there.
        environment: of QEMU.
        answer_s: the longest time without a word from it.

    Returns `None` if it came so far, else why not: the error, and the last that QEMU and the kernel said.
    """
    # The memory's file is new in each machine.
    shared, log = folder / "shared", folder / "log"
    ours, theirs = socket.socketpair()
    with (
        ours,
        theirs,
        subprocess.Popen(
            line(str(shared), str(log), theirs.fileno()),
            # QEMU takes its firmware from the working directory, if one of its names is there: a stranger's would stay
            # in the snapshot.
            cwd=folder,
            env=environment,
            pass_fds=[theirs.fileno()],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            preexec_fn=_end_with_parent,
        ) as process,
    ):
        theirs.close()
        try:
            monitor = Monitor(ours, answer_s)
            boot(monitor)
            then(monitor, shared)
            monitor("quit")
        except (OSError, ValueError) as error:
            process.kill()
            said = process.communicate()[1].decode(errors="replace")
            return [str(error), *said.splitlines(), *_lines(log)]
        finally:
            process.kill()
            shared.unlink(missing_ok=True)
    return None


def described(shared: Path) -> dict[str, object]:
    """The kernel's description of itself. Raises `ValueError` if the kernel stopped at another place than ours: it has
    panicked itself; or if a stranger's kernel has written something else.
    """
    with shared.open("rb") as file:
        head = file.read(OUTPUT_AT + 8)
        if struct.unpack_from("<Q", head, STATE_AT)[0] != READY:
            raise ValueError("it stopped before our first process had described it")
        file.seek(OUTPUT)
        content = file.read(min(_LONGEST, struct.unpack_from("<Q", head, OUTPUT_AT)[0]))
    try:
        description = json.loads(content)
    except RecursionError:
        description = None
    if not _is_description(description):
        raise ValueError("it has not described itself as a kernel does")
    return dict(description)


def _is_description(value: Any) -> bool:
    lists = ("algorithms", "sysctls")
    if not isinstance(value, dict) or value.keys() != {"release", *lists, "has_btf"} or not _is_word(value["release"]):
        return False
    is_listed = all(isinstance(value[key], list) and all(map(_is_word, value[key])) for key in lists)
    return is_listed and isinstance(value["has_btf"], bool)


def _is_word(value: object) -> bool:
    """True for what can be a version, a congestion control or a setting of networks."""
    return isinstance(value, str) and _WORD.fullmatch(value) is not None


_WORD: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+~/-]{0,127}")


def _leave_out_zeros(memory: Path) -> None:
    """Write a file anew, with holes where it has zeros: most of a machine's memory was never used."""
    whole = memory.rename(memory.with_suffix(".whole"))
    with whole.open("rb") as file, memory.open("wb") as out:
        while block := file.read(_BLOCK):
            if block.count(0) == len(block):
                out.seek(len(block), os.SEEK_CUR)
            else:
                out.write(block)
        out.truncate(whole.stat().st_size)
    whole.unlink()


def _files(image: Image) -> dict[str, bytes]:
    """The root file system: our first process, the libraries that it needs, and the kernel's modules."""
    told = subprocess.run(["ldd", str(INIT)], capture_output=True, text=True, check=True).stdout
    libraries = re.findall(r"(/\S+) \(0x", told)
    files = {library.removeprefix("/"): Path(library).read_bytes() for library in libraries}
    files |= {f"modules/{path.name}": path.read_bytes() for path in image.modules}
    return {"init": INIT.read_bytes(), **files}


def _failed(image: Image, lines: Sequence[str]) -> RunFailed:
    why = "\n".join(line for line in lines[-_LINES:] if line.strip())
    hint = "it needs an initial RAM disk, /dev/mem and a serial console (BLK_DEV_INITRD, DEVMEM, SERIAL_8250_CONSOLE)"
    return RunFailed(f"the kernel {image.names[0]} does not boot", why, hint)


def _lines(log: Path) -> list[str]:
    return log.read_text(encoding="utf-8", errors="replace").splitlines() if log.exists() else []


def _end_with_parent() -> None:
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)

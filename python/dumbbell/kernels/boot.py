"""Boots a kernel to ask it what it has."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from dumbbell.frozen import dataclass
from dumbbell.kernels.steps import Steps

_BOOT_S: Final = 60.0
"""Longest boot: a tenth of a second is usual; a longer one hangs."""
_CONTROLS: Final = "congestion controls:"
_SYSCTLS: Final = "sysctls:"
_INIT: Final = f"""#!/bin/sh
PATH=/usr/sbin:/usr/bin:/sbin:/bin
mount -t proc proc /proc
echo "{_CONTROLS} $(cat /proc/sys/net/ipv4/tcp_available_congestion_control)"
echo "{_SYSCTLS}" $(cd /proc/sys && find net -type f)
echo o >/proc/sysrq-trigger
sleep 1
"""


def booted(program: Path, init: str, folder: Path, arguments: Sequence[str] = (), mem: str = "128M") -> str:
    """Boot a kernel with a script as its first process, and return all that it printed.

    The root is this machine's, read-only; time is virtual. The script ends the kernel: `echo o >/proc/sysrq-trigger`.
    It is written to `folder`, whose name is part of the kernel's command line, on which its randomness depends, too.

    Raises:
        subprocess.TimeoutExpired: it has not ended within a minute.
    """
    script = folder / "init"
    script.write_text(init, encoding="utf-8")
    script.chmod(0o755)
    command = [
        *(str(program), f"mem={mem}", "root=host", "rootfstype=hostfs", "rootflags=/", "ro", f"init={script}"),
        *("time-travel=inf-cpu", "time-travel-start=1700000000000000000", "con=null", "con0=null,fd:1"),
        *("quiet", "panic=-1", f"uml_dir={folder}", "random-seed=1", *arguments),
    ]
    done = subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=_BOOT_S,
        check=False,
        env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": str(folder), "TMPDIR": "/dev/shm"},
    )
    return done.stdout.decode(errors="replace")


@dataclass(frozen=True)
class KernelFacts:
    """A kernel's description of itself."""

    algorithms: list[str]
    """Its congestion controls."""
    sysctls: list[str]
    """Its settings of networks: `net.ipv4.tcp_ecn`, ..."""


def asked(program: Path, steps: Steps) -> KernelFacts:
    """Boot a kernel, ask it what it has, and end it.

    Raises:
        RunFailed: it does not boot; with its last lines.
    """
    try:
        with tempfile.TemporaryDirectory(prefix="dumbbell-boot-") as folder:
            said = booted(program, _INIT, Path(folder))
    except subprocess.TimeoutExpired as late:
        said = (late.stdout or b"").decode(errors="replace")
        raise steps.failed(f"{said}\nit has not ended within {_BOOT_S:.0f} s") from None
    algorithms, sysctls = _line(said, _CONTROLS), _line(said, _SYSCTLS)
    if not algorithms:
        raise steps.failed(f"{said}\nit listed no congestion controls")
    return KernelFacts(algorithms, [path.replace("/", ".") for path in sysctls])


def _line(text: str, mark: str) -> list[str]:
    return next((line.partition(mark)[2].split() for line in text.splitlines() if mark in line), [])

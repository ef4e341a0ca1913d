"""Boots a kernel to ask it what it has."""

from __future__ import annotations

import shlex
import subprocess
import tempfile
from pathlib import Path
from typing import Final

from dumbbell.kernels.steps import Steps

_BOOT_S: Final = 60.0
"""It takes a tenth of a second; longer means that it hangs."""
_MARK: Final = "congestion controls:"
_INIT: Final = f"""#!/bin/sh
mount -t proc proc /proc
echo "{_MARK} $(cat /proc/sys/net/ipv4/tcp_available_congestion_control)"
echo o >/proc/sysrq-trigger
sleep 1
"""


def congestion_controls(program: Path, steps: Steps) -> list[str]:
    """The congestion controls of a kernel, which boots, and is ended.

    Raises:
        RunFailed: it does not boot; with its last lines.
    """
    with tempfile.TemporaryDirectory(prefix="dumbbell-boot-") as folder:
        init = Path(folder, "init")
        init.write_text(_INIT, encoding="utf-8")
        init.chmod(0o755)
        command = [
            *(str(program), "mem=128M", "rootfstype=hostfs", "rootflags=/", "ro", f"init={init}"),
            *("time-travel=inf-cpu", "random-seed=1", "con=null", "con0=null,fd:1", "quiet", "panic=-1"),
            f"uml_dir={folder}",
        ]
        try:
            done = subprocess.run(
                command, stdin=subprocess.DEVNULL, capture_output=True, timeout=_BOOT_S, check=False,
                env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": folder, "TMPDIR": "/dev/shm"},
            )  # fmt: skip
        except subprocess.TimeoutExpired as late:
            said = _text(late.stdout) + _text(late.stderr)
            raise steps.failed(f"{said}\nit has not ended within {_BOOT_S:.0f} s: {shlex.join(command)}") from None
    said = _text(done.stdout) + _text(done.stderr)
    names = next((line.partition(_MARK)[2].split() for line in said.splitlines() if _MARK in line), None)
    if not names:
        raise steps.failed(f"{said}\nit told no congestion controls: {shlex.join(command)}")
    return names


def _text(said: bytes | None) -> str:
    return (said or b"").decode(errors="replace")

"""Programs and headers that build a kernel."""

from __future__ import annotations

import platform
import shutil
import subprocess
from collections.abc import Sequence
from typing import Final

from dumbbell.errors import RunFailed

PROGRAMS: Final = {"gcc": "gcc", "make": "make", "flex": "flex", "bison": "bison", "bc": "bc", "patch": "patch",
                   "xz": "xz-utils", "tar": "tar", "ld": "binutils"}  # fmt: skip
"""Program that a build calls -> the Debian package that has it."""


def lacking() -> list[str]:
    """Debian packages of the programs that are not installed."""
    return [package for program, package in PROGRAMS.items() if shutil.which(program) is None]


def install(packages: Sequence[str]) -> str:
    """The command that installs packages of Debian, and the C library's headers, which come with no program."""
    return f"sudo apt-get install {' '.join([*packages, 'libc6-dev'])}"


def check() -> None:
    """Refuse to begin a build that cannot end well.

    Raises:
        RunFailed: something is missing, or this machine is of another kind.
    """
    if platform.machine() != "x86_64" or platform.system() != "Linux":
        raise RunFailed(
            f"a kernel cannot be built on {platform.system()} {platform.machine()}",
            "user-mode Linux runs on Linux on x86-64 only",
        )
    if missing := lacking():
        raise RunFailed(
            "a kernel cannot be built: tools are missing", f"not installed: {', '.join(missing)}",
            install(missing),
        )  # fmt: skip


def compiler() -> str:
    """Returns the names and versions of the compiler and the linker, for the record of a build."""
    return "; ".join(_version(program) for program in ("gcc", "ld"))


def _version(program: str) -> str:
    output = subprocess.run([program, "--version"], capture_output=True, text=True, check=False).stdout
    return output.splitlines()[0] if output else program

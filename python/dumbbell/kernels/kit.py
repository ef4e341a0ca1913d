"""The part of a built tree that is kept: enough to compile more for this kernel, and to link it again."""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from dumbbell.errors import RunFailed

KERNEL_HALF: Final = Path("net/ipv4/.tcp_dctcp.o.cmd")
"""The file with the command that compiles the kernel's own code."""
HOST_HALF: Final = Path("arch/um/os-Linux/.util.o.cmd")
"""The file with the command that compiles the parts of a user-mode kernel that call the host's C library."""
LINK: Final = ".dumbbell-link"
"""The file with the command that links, without its objects and its output."""

ALGORITHMS: Final = "net/ipv4"
"""The folder of the sources of Linux's own congestion controls, and of the headers that they share."""
_OWN: Final = ("bbr", "cubic", "dctcp", "htcp", "vegas", "westwood")
"""Linux's own congestion controls whose state the probe reads: it is declared in their sources."""

_KERNEL: Final = "vmlinux.o"
"""The kernel as one object."""
_OBJECTS: Final = (_KERNEL, "init/version-timestamp.o")
_REPLACED: Final = ("sys_brk", "sys_mmap", "sys_poll", "sys_ppoll")
"""System calls of the kernel that `kernel/src` has functions of its own for."""
_HEADERS: Final = ("include", "arch/um", "arch/x86/include", "arch/x86/um", "net", "lib", "kernel", "mm", "fs")
_ENDINGS: Final = (".h", ".lds", ".S.inc", ".inc")
_UNUSED: Final = frozenset({"dt-bindings", "config", "drm", "media", "sound", "rdma", "scsi", "soc"})
"""Folders below include/ of drivers that a user-mode kernel cannot have, and of make's own notes."""


def tap(tree: Path) -> None:
    """Make the build of `tree` tell how it links."""
    script = tree / "scripts" / "link-vmlinux.sh"
    shebang, _, rest = script.read_text(encoding="utf-8").partition("\n")
    told = f'echo "${{CC}} ${{CFLAGS_vmlinux}} -Wl,--script=${{KBUILD_LDS}}" > {LINK}'
    script.write_text(f"{shebang}\n{told}\n{rest}", encoding="utf-8")


def keep(tree: Path, kit: Path) -> None:
    """Copy from a built `tree` to the new folder `kit`."""
    for name in (*_OBJECTS, LINK, str(KERNEL_HALF), str(HOST_HALF)):
        if not (tree / name).is_file():
            raise RunFailed("this kernel cannot be linked again", f"its build has left no {name}")
        (kit / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(tree / name, kit / name)
    for folder in _HEADERS:
        shutil.copytree(tree / folder, kit / folder, ignore=_ignored, dirs_exist_ok=True)
    for source in filter(Path.is_file, _own(tree)):
        shutil.copy2(source, kit / ALGORITHMS)


def is_current(kit: Path) -> bool:
    """True if all that this version needs was kept."""
    return any(source.is_file() for source in _own(kit))


def _own(tree: Path) -> Iterator[Path]:
    return (tree / ALGORITHMS / f"tcp_{name}.c" for name in _OWN)


def _ignored(folder: str, names: list[str]) -> set[str]:
    if Path(folder).name in _UNUSED:
        return set(names)
    kept = {name for name in names if name.endswith(_ENDINGS) or Path(folder, name).is_dir()}
    return set(names) - kept


def compile_command(kit: Path, half: Path) -> list[str]:
    """The command that compiles in the folder `kit`, without the names of source and object."""
    text = (kit / half).read_text(encoding="utf-8")
    found = re.search(r"^(?:saved)?cmd_\S+ := (.*)$", text, re.MULTILINE)
    if not found:
        raise RunFailed("this kernel cannot be added to", f"no command in {kit / half}")
    words = shlex.split(found[1].split(" ; ")[0].replace("$(pound)", "#"))
    unwanted = re.compile(r"-Wp,-MM?D,.*|-DKBUILD_(MODFILE|BASENAME|MODNAME)=.*|-D__KBUILD_MODNAME=.*|-c")
    output = words.index("-o")
    return [word for word in [*words[:output], *words[output + 2 : -1]] if not unwanted.fullmatch(word)]


def weaken_command(kit: Path, output: Path) -> list[str]:
    """The command that writes the kernel in the folder `kit` as an object whose functions ours can replace."""
    return ["objcopy", *(f"--weaken-symbol={name}" for name in _REPLACED), str(kit / _KERNEL), str(output)]


def link_command(kit: Path, kernel: Path, objects: list[Path], output: Path) -> list[str]:
    """The command that links the object `kernel` with `objects`, in the order in which they shall begin.

    It runs in the folder `kit`.
    """
    words = shlex.split((kit / LINK).read_text(encoding="utf-8"))
    whole = [str(kernel), *_OBJECTS[1:], *(str(path) for path in objects)]
    libraries = ["-lutil", "-lrt", "-lpthread"]
    return [*words, "-o", str(output), "-Wl,--whole-archive", *whole, "-Wl,--no-whole-archive", *libraries]

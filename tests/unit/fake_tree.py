"""A folder that looks like a source tree of Linux to everything but a compiler: its make is a script."""

from __future__ import annotations

import re
from pathlib import Path

from dumbbell.kernels.additions import additions

MAKE = """#!/bin/sh
# The targets that a build asks for.
case "$*" in
*mrproper*) ;;
*olddefconfig*) if [ -e refuses ]; then echo CONFIG_INET=y >.config; fi ;;
*defconfig*) echo CONFIG_INET=y >.config ;;
*linux*)
    if [ -e fails ]; then
        echo "  CC      net/ipv4/tcp.o"
        echo "net/ipv4/tcp.c:7:1: error: it does not compile"
        echo "make: *** [Makefile:1: linux] Error 2"
        exit 2
    fi
    # Like the real one, it passes the signal on.
    if [ -e hangs ]; then trap 'kill -9 $!; exit 2' TERM; sleep 600 & touch "$HANGS"; wait; fi
    for name in a b c; do echo "  CC      net/$name.o"; done
    sh scripts/link-vmlinux.sh
    mkdir -p init net/ipv4 arch/um/os-Linux
    touch vmlinux.o init/version-timestamp.o
    echo "savedcmd_net/ipv4/tcp_dctcp.o := gcc -Wp,-MMD,x.d -O2 -DKBUILD_MODNAME='\\"tcp_dctcp\\"' -c -o a.o a.c" \\
        >net/ipv4/.tcp_dctcp.o.cmd
    echo "savedcmd_arch/um/os-Linux/util.o := gcc -O2 -c -o util.o util.c" >arch/um/os-Linux/.util.o.cmd
    ;;
esac
"""
NOTHING = "#!/bin/sh\nexit 1\n"
FOLDERS = ("include/linux", "arch/um", "arch/x86/include", "arch/x86/um", "net", "lib", "kernel", "mm", "fs", "scripts")


def fake_tree(at: Path, version: str = "6.12.7") -> Path:
    """A tree at the new folder `at` to which our patches apply."""
    for folder in FOLDERS:
        (at / folder).mkdir(parents=True)
    numbers = version.split(".")
    names = ("VERSION", "PATCHLEVEL", "SUBLEVEL")
    (at / "Makefile").write_text("".join(f"{name} = {number}\n" for name, number in zip(names, numbers, strict=True)))
    (at / "scripts" / "link-vmlinux.sh").write_text("#!/bin/sh\ntrue\n")
    (at / "include/linux/tcp.h").write_text("/* TCP */\n")
    (at / "net/ipv4").mkdir()
    (at / "net/ipv4/tcp_cubic.c").write_text("/* CUBIC */\n")
    major, minor = int(numbers[0]), int(numbers[1])
    for patch in additions().patches((major, minor)):
        _before(at, patch.content.decode())
    return at


def fake_make(folder: Path) -> Path:
    """A folder for PATH, with a make that pretends, and with the tools that it never calls: a machine may lack them."""
    folder.mkdir()
    for name, text in {"flex": NOTHING, "bison": NOTHING, "bc": NOTHING, "make": MAKE}.items():
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    return folder


def _before(tree: Path, patch: str) -> None:
    """Give the files of a patch, after what they have already, the lines that the patch expects."""
    for part in re.split(r"^(?=--- a/)", patch, flags=re.MULTILINE)[1:]:
        head, _, hunks = part.partition("\n")
        lines = [line[1:] for line in hunks.splitlines() if line[:1] in (" ", "-")]
        path = tree / head.removeprefix("--- a/")
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("a") as file:
            file.write("\n".join(lines) + "\n")

"""Source trees of Linux: where they are found, and what identifies them."""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from dumbbell.errors import InputError
from dumbbell.frozen import dataclass
from dumbbell.kernels import archives
from dumbbell.kernels.names import OLDEST, version_at, version_in, version_of

DEBIAN: Final = Path("/usr/src")
"""The folder into which Debian's packages linux-source-* put their tarballs."""

_TARBALLS: Final = (".tar", ".tar.xz", ".tar.gz", ".tar.bz2", ".tar.zst", ".tgz")
_MISSING: Final = (
    "on Debian and Ubuntu: sudo apt-get install linux-source-{name}; elsewhere give a tree of kernel.org or of your "
    "distribution: dumbbell kernel build {name} --source linux-{name}.tar.xz"
)


@dataclass(frozen=True)
class Source:
    """A source tree, or a tarball of one."""

    path: Path
    version: str
    """The version as its Makefile states it: `6.12.94`."""
    prefix: str = ""
    """The one folder of a tarball."""

    @property
    def is_tarball(self) -> bool:
        """True if it has to be unpacked."""
        return self.path.is_file()

    def sha256(self) -> str:
        """The hash of the tarball, or of all files of a tree with their names. A git tree's own data does not count."""
        if self.is_tarball:
            with self.path.open("rb") as file:
                return hashlib.file_digest(file, "sha256").hexdigest()
        digest = hashlib.sha256()
        for path in _files(self.path):
            digest.update(f"{path.relative_to(self.path)}\0".encode())
            digest.update(
                os.readlink(path).encode() if path.is_symlink() else hashlib.sha256(path.read_bytes()).digest()
            )
        return digest.hexdigest()


def debian(name: str) -> Source:
    """The source of Debian's package `linux-source-NAME`. Raises `InputError`."""
    found = [path for suffix in _TARBALLS if (path := DEBIAN / f"linux-source-{name}{suffix}").is_file()]
    tree = DEBIAN / f"linux-source-{name}"
    if found:
        return opened(found[0])
    if version_at(tree):
        return opened(tree)
    raise InputError(
        f"there is no source of Linux {name}", f"looked for {tree} and {tree.name}.tar.xz in {DEBIAN}",
        _MISSING.format(name=name),
    )  # fmt: skip


def opened(path: Path) -> Source:
    """The source tree or tarball at `path`. Raises `InputError`."""
    if path.is_dir():
        source = Source(path.resolve(), version_at(path))
    elif path.is_file():
        source = _tarball(path.resolve())
    else:
        raise InputError(f"{path}: no such file or folder", "expected a source tree of Linux, or a tarball of one", "")
    expected = "expected a source tree of Linux, whose Makefile begins with VERSION and PATCHLEVEL"
    if not source.version:
        raise InputError(f"{path}: not a Linux source tree", expected, "give the folder that holds Kbuild and Makefile")
    if version_of(source.version) < OLDEST:
        oldest = ".".join(str(number) for number in OLDEST)
        raise InputError(f"{path}: Linux {source.version}", f"expected {oldest} or later", "take a newer source")
    return source


def unpack(source: Source, into: Path) -> list[str]:
    """The command that puts the tree at `into`, a folder that is there and empty, without what no build needs."""
    if source.is_tarball:
        without = [f"--exclude={source.prefix}/{name}" for name in _UNUSED]
        return archives.extract(str(source.path), into, "--strip-components=1", *without)
    copy = 'tar --create --exclude-vcs --directory "$1" . | tar --extract --directory "$2"'
    return ["sh", "-c", f"set -e; {copy}", "sh", str(source.path), str(into)]


_UNUSED: Final = (
    "Documentation/*/*",
    "arch/*/boot/dts",
    "arch/arm/mach-*",
    *(
        f"{folder}/*.[ch]"
        for folder in (
            *("drivers/gpu", "drivers/infiniband", "drivers/media", "drivers/net/ethernet", "drivers/net/wireless"),
            *("drivers/scsi", "drivers/staging", "sound"),
        )
    ),
    "tools/perf",
    "tools/testing",
)
"""More than half of a tarball: documentation, and drivers of devices that a user-mode kernel cannot have."""


_LARGEST_MAKEFILE: Final = 8 << 20
_LONGEST_NAME: Final = 4096


def _tarball(path: Path) -> Source:
    if not path.name.endswith(_TARBALLS):
        raise InputError(f"{path}: not the name of a tarball", f"expected one of *{', *'.join(_TARBALLS)}", "")
    # The tree's Makefile is among the last members: the list is read until it comes.
    command = ["tar", "--extract", "--to-stdout", "--occurrence=1", "--wildcards", "--no-wildcards-match-slash",
               "--file", str(path), "*/Makefile"]  # fmt: skip
    try:
        text = archives.output(command, _LARGEST_MAKEFILE).decode(errors="replace")
    except OSError as error:
        raise InputError(f"{path}: not a tarball of Linux", error.strerror or str(error), "") from None
    listed = _first_member(path)
    return Source(path, version_in(text), listed.split("/")[0])


def _first_member(path: Path) -> str:
    with subprocess.Popen(
        ["tar", "--list", "--file", str(path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        preexec_fn=archives.limit,
    ) as tar:
        assert tar.stdout is not None
        first = tar.stdout.readline(_LONGEST_NAME).decode(errors="replace").strip()
        tar.kill()
    return first.removeprefix("./")


def _files(tree: Path) -> Iterator[Path]:
    """All files of a tree, in an order that does not depend on the file system."""
    for folder, folders, names in os.walk(tree):
        folders[:] = sorted(name for name in folders if name != ".git")
        for name in sorted(names):
            path = Path(folder, name)
            if path.is_symlink() or (path.is_file() and not _is_output(name)):
                yield path


def _is_output(name: str) -> bool:
    """True if a build has left it: such a file is no source."""
    return bool(re.fullmatch(r".*\.(o|a|cmd|d)|\.config.*|vmlinux.*|linux", name))

"""Our part of a kernel: `kernel/` in the repository. It is under version 2 of the GNU General Public License."""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Iterable, Iterator
from functools import cached_property
from pathlib import Path
from typing import Final

from dumbbell.command import rebuild
from dumbbell.errors import RunFailed
from dumbbell.frozen import dataclass
from dumbbell.kernels.names import Version, version_of

_ROOT: Final = Path(__file__).parents[3]
"""The repository's root. An installed package has what it needs beside its modules."""


@dataclass(frozen=True)
class Patch:
    """A patch, ours or the user's."""

    name: str
    content: bytes

    @property
    def sha256(self) -> str:
        """The hash of its content, in hex."""
        return hashlib.sha256(self.content).hexdigest()


@dataclass(frozen=True)
class Additions:
    """The folder `kernel/`, and the sources in `bpf/` that it shares with BPF programs."""

    root: Path
    """The folder that holds both."""

    @property
    def kernel(self) -> Path:
        """The folder of patches, configuration and sources."""
        return self.root / "kernel"

    def patches(self, version: Version) -> Iterator[Patch]:
        """Our patches for a version of Linux, in order."""
        folder = self.kernel / "patches"
        series = tomllib.loads((folder / "series.toml").read_text(encoding="utf-8"))
        for entry in series["patch"]:
            before = version_of(entry["before"]) if "before" in entry else None
            if version_of(entry["from"]) <= version and (before is None or version < before):
                yield Patch(entry["file"], (folder / entry["file"]).read_bytes())

    @cached_property
    def required(self) -> tuple[str, ...]:
        """Lines of configuration without which there is no run."""
        return _lines(self.kernel / "config" / "required.config")

    @cached_property
    def wanted(self) -> tuple[str, ...]:
        """Lines of configuration that a kernel may lack."""
        return _lines(self.kernel / "config" / "wanted.config")

    def base_hash(self, version: Version) -> str:
        """SHA-256 of what of ours goes into a kernel before anything is linked to it."""
        lines = [*self.required, *self.wanted, *(patch.sha256 for patch in self.patches(version))]
        return hashlib.sha256("\n".join(lines).encode()).hexdigest()

    def hash_of(self, files: Iterable[Path]) -> str:
        """SHA-256 of files below the root, with their names."""
        digest = hashlib.sha256()
        for path in sorted(files):
            digest.update(f"{path.relative_to(self.root)}\n{path.stat().st_size}\n".encode())
            digest.update(path.read_bytes())
        return digest.hexdigest()


def additions() -> Additions:
    """The additions of this installation.

    Raises:
        RunFailed: they are not there.
    """
    found = next((root for root in (_ROOT, Path(__file__).parent) if (root / "kernel" / "patches").is_dir()), None)
    if found is None:
        raise RunFailed(
            "this installation of dumbbell cannot build kernels",
            f"there is no folder kernel/ in {Path(__file__).parent}, nor in {_ROOT}",
            rebuild(),
        )
    return Additions(found)


def _lines(path: Path) -> tuple[str, ...]:
    text = path.read_text(encoding="utf-8")
    return tuple(line for line in text.splitlines() if line and not line.startswith("#"))

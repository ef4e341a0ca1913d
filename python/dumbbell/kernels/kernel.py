"""The description of a kernel that is built."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, field
from pathlib import Path
from typing import Any, Final, Self

from dumbbell import outputs
from dumbbell.frozen import dataclass
from dumbbell.kernels.config import read, unmet
from dumbbell.kernels.ready.machine import Machine

FORMAT: Final = 1
"""The format of `base.json`; a folder with another one is no kernel of this dumbbell."""
LINKED_FORMAT: Final = 2
"""The format of `kernel.json`: part of the hash of a kernel that is linked."""


@dataclass(frozen=True)
class Recipe:
    """All that decides what a kernel is, before anything of ours is linked to it."""

    version: str
    """`6.12.94`."""
    source: str
    """SHA-256 of the tarball, or of all files of the tree."""
    patches: tuple[tuple[str, str], ...]
    """Name and SHA-256 of each, ours first, in the order in which they are applied."""
    config: tuple[str, ...]
    """Lines of our fragment and then of the user's, `CONFIG_HZ_250=y`."""
    compiler: str
    """`gcc (Debian 12.2.0-14) 12.2.0; GNU ld ...`."""


@dataclass(frozen=True)
class Base:
    """A kernel as it was built from source: an entry of the store."""

    folder: Path
    hash: str
    """SHA-256 of the recipe, in hex."""
    names: tuple[str, ...]
    """The names that the user calls it."""
    recipe: Recipe
    origin: str
    """The origin of the source, for people."""
    ours: str
    """SHA-256 of our patches and configuration for this version."""
    user_patches: tuple[str, ...]
    """Names of the user's patches."""
    user_config: tuple[str, ...]
    """Lines of the user's configuration."""
    lacking: tuple[str, ...]
    """The options that our fragment asks for and this version does not have."""
    qdiscs: tuple[str, ...]
    built_at: float
    """Seconds of the Unix epoch."""
    seconds: float
    """Time that the build took."""
    objects: int
    """Files that were compiled."""

    @classmethod
    def read(cls, folder: Path) -> Self | None:
        """The base in `folder`; `None` if there is none that is whole."""
        try:
            told = json.loads((folder / "base.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
        if told.pop("format", None) != FORMAT:
            return None
        recipe = told.pop("recipe")
        patches = tuple((name, digest) for name, digest in recipe.pop("patches"))
        lists = {key: tuple(value) for key, value in told.items() if isinstance(value, list)}
        return cls(
            folder=folder,
            recipe=Recipe(**{**recipe, "patches": patches, "config": tuple(recipe["config"])}),
            **{**told, **lists},
        )

    def write(self) -> None:
        """Write `base.json` into its folder, whole or not at all."""
        told = {"format": FORMAT, **asdict(self)}
        del told["folder"]
        _write(self.folder / "base.json", told)


@dataclass(frozen=True)
class Kernel:
    """A kernel that can run."""

    name: str
    """The name that the user calls it."""
    version: str
    """`6.12.94`."""
    path: Path
    """The program."""
    hash: str
    """SHA-256 of all that went into it, in hex: part of a run's identity."""
    patches: tuple[str, ...]
    """Names of the user's patches."""
    algorithms: tuple[str, ...]
    """Congestion controls, sorted; as the kernel itself lists them."""
    qdiscs: tuple[str, ...]
    """Queueing disciplines, sorted."""
    sysctls: tuple[str, ...] = field(default=())
    """Settings of networks, sorted: `net.ipv4.tcp_ecn`, ..."""
    config: tuple[str, ...] = field(default=())
    """Lines of the user's configuration."""
    programs: tuple[str, ...] = field(default=())
    """Names of the user's congestion controls in it."""
    left_out: Mapping[str, str] = field(default_factory=dict)
    """Our additions that this tree is not made for, each with the compiler's first complaint."""
    bytes: int = 0
    """Size of the program."""
    machine: Machine | None = None
    """The virtual machine of a ready kernel; `None`: it is an ordinary process."""
    loads_bpf: bool = False
    """True if BPF programs can be loaded into it."""
    settings: Path | None = None
    """The file with its whole configuration, as Linux's `.config`."""

    def lacks(self, options: Iterable[str]) -> list[str]:
        """The `CONFIG_` lines that its configuration lacks.

        Args:
            options: symbols: `IP_MROUTE`, ...
        """
        lines = [f"CONFIG_{option}=y" for option in options]
        return lines if self.settings is None else unmet(lines, read(self.settings.read_text(encoding="utf-8")))


def write_linked(folder: Path, linked: dict[str, Any]) -> None:
    """Write `kernel.json` of a linked kernel."""
    _write(folder / "kernel.json", {"format": LINKED_FORMAT, **linked})


def read_linked(folder: Path) -> dict[str, Any] | None:
    """`kernel.json` of a linked kernel; `None` if there is none that is whole."""
    try:
        told: dict[str, Any] = json.loads((folder / "kernel.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return told if told.pop("format", None) == LINKED_FORMAT else None


def _write(path: Path, content: dict[str, Any]) -> None:
    outputs.write(path, json.dumps(content, indent=2))

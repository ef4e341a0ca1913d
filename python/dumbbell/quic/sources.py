"""Where the sources of the program of QUIC flows are: in a checkout, or in the package `dumbbell_quic` of its wheel."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Final

from dumbbell.frozen import dataclass
from dumbbell.kernels import cache

_CHECKOUT: Final = Path(__file__).parents[3]
_PACKAGE: Final = "dumbbell_quic"
_PROGRAM: Final = Path("quic", "Cargo.toml")


@dataclass(frozen=True)
class Sources:
    """The folder with `quic` and `crates`, and the folder in which cargo compiles them."""

    root: Path
    target: Path


def in_checkout() -> bool:
    """True if this package is that of a checkout."""
    return (_CHECKOUT / _PROGRAM).is_file()


def find() -> Sources | None:
    """The sources on this machine; `None`: there are none."""
    if in_checkout():
        return Sources(_CHECKOUT, _CHECKOUT / "target" / "quic")
    found = find_spec(_PACKAGE)
    if found is None or found.origin is None:
        return None
    root = Path(found.origin).parent / "sources"
    return Sources(root, cache.root().with_name("quic")) if (root / _PROGRAM).is_file() else None

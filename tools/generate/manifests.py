"""Python's list of congestion controls, from their manifests."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from dumbbell import _core

_HEAD: Final = '''"""The congestion controls that have a manifest, and the names of the kernel's own."""

from __future__ import annotations

from typing import Final

from dumbbell.cc.manifest import Manifest
'''

_KEYS: Final = ("name", "label", "sentence", "needs_ecn", "simulated")


def text(algorithms: Mapping[str, Any]) -> str:
    """The module `dumbbell.cc.manifests`, from the section `algorithms` of the declarations."""
    manifests = "\n".join(f"    {_manifest(one)}," for one in algorithms["declared"])
    kernel = ", ".join(repr(name) for name in algorithms["kernel"])
    return f"{_HEAD}\nMANIFESTS: Final = (\n{manifests}\n)\n\nKERNEL: Final = ({kernel})\n"


def _manifest(declared: Mapping[str, Any]) -> str:
    return f"Manifest({', '.join(f'{key}={declared[key]!r}' for key in _KEYS)})"


KERNEL_HEADERS: Final = (
    "dumbbell/state.h",
    *(
        f"algorithms/{name}/parameters.h"
        for name in ("bbr2", "bbr3", "bbr3-draft", "cubic", "dctcp", "htcp", "westwood")
    ),
)
"""The headers of a user-mode kernel that manifests make: states, and parameters of the algorithms built into it."""


def header(name: str) -> str:
    """A header that the manifests make, as a BPF program includes it by this name."""
    with tempfile.TemporaryDirectory() as directory:
        _core.cc_headers(directory)
        return (Path(directory) / name).read_text(encoding="utf-8")

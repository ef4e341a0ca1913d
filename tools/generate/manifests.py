"""Python's list of congestion controls, from their manifests."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

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


def _manifest(one: Mapping[str, Any]) -> str:
    return f"Manifest({', '.join(f'{key}={one[key]!r}' for key in _KEYS)})"

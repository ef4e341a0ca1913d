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


def _manifest(one: Mapping[str, Any]) -> str:
    return f"Manifest({', '.join(f'{key}={one[key]!r}' for key in _KEYS)})"


KERNEL_HEADERS: Final = ("bbr2", "bbr3", "bbr3-draft", "cubic", "dctcp")
"""The algorithms with parameters that are built into a user-mode kernel."""


def header(algorithms: Mapping[str, Any], name: str) -> str:
    """`<algorithms/NAME/parameters.h>`: `PARAMETERS(X)` is `X(type, name, default)` of each parameter.

    A source that is to have other values has defined it before.
    """
    found = next(one for one in algorithms["declared"] if one["name"] == name)
    lines = [f"\tX({_typed(one['name'], one['default'])})" for one in found["parameters"]]
    return "#ifndef PARAMETERS\n#define PARAMETERS(X) \\\n" + " \\\n".join(lines) + "\n#endif\n"


def _typed(name: str, default: bool | int) -> str:
    return f"bool, {name}, {str(default).lower()}" if isinstance(default, bool) else f"__u32, {name}, {default}"


def state_header() -> str:
    """`<dumbbell/state.h>`: the state that algorithms publish, in the places of a row of the per-ACK table."""
    with tempfile.TemporaryDirectory() as directory:
        _core.cc_headers(directory)
        return (Path(directory) / "dumbbell" / "state.h").read_text(encoding="utf-8")

"""The version of dumbbell. Driver and nodes must have the same, or a study's rows would not belong together."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

from dumbbell.records.manifest import core_version, tool_version


@cache
def version() -> str:
    """Package, core, and 12 digits of the SHA-256 of the package's Python code, which changes between releases too."""
    package, code = Path(__file__).parents[2], hashlib.sha256()
    for path in sorted(package.rglob("*.py")):
        code.update(f"{path.relative_to(package)}\0".encode() + path.read_bytes())
    return f"{tool_version()}, core {core_version() or 'missing'}, code {code.hexdigest()[:12]}"

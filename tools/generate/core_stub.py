"""The types of `dumbbell._core`: maturin writes them from what PyO3 keeps in the compiled core."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path


def text(root: Path) -> str:
    """The stub, unformatted. Builds the core below `root` if it is not current, which takes minutes."""
    environment = {**os.environ, "VIRTUAL_ENV": str(Path(sys.executable).parents[1])}
    with tempfile.TemporaryDirectory() as scratch:
        command = [str(Path(sys.executable).with_name("maturin")), "generate-stubs", "--quiet"]
        command += ["--profile", "release", "--out", scratch]
        done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=False)
        if done.returncode:
            raise SystemExit(f"maturin cannot write the stub of dumbbell._core:\n{done.stderr}")
        (stub,) = Path(scratch).rglob("*.pyi")
        return stub.read_text(encoding="utf-8")

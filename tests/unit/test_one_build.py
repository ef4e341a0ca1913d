"""Core, guests, tests and checks are built with the same features: each crate is compiled once for all of them."""

from __future__ import annotations

import json
import os
import subprocess
from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest

ROOT: Final = Path(__file__).parents[2]
CORE: Final = ("build", "--package=core-py")
SELECTIONS: Final = {
    "guests": ("build", *(f"--package={name}" for name in ("core-py", "guest-links", "guest-init", "ready-init"))),
    "tests": ("test", "--workspace"),
    "checks": ("build", "--workspace", "--all-targets"),
}

Key = tuple[str, str, str]


@cache
def compiled(command: str, *selection: str) -> dict[Key, set[str]]:
    """Maps package, kind of target and profile of each library that cargo compiles to its sets of features.

    Build scripts have profiles of their own: what they use may be compiled once more.
    """
    call = ["cargo", command, "--release", "--locked", "--unit-graph", "-Zunstable-options", *selection]
    # The graph is no stable output of cargo; the variable lets a stable cargo write it.
    told = subprocess.run(
        call, cwd=ROOT, env={**os.environ, "RUSTC_BOOTSTRAP": "1"}, capture_output=True, text=True, check=False
    )
    assert told.returncode == 0, told.stderr
    units: list[dict[str, Any]] = json.loads(told.stdout)["units"]
    found: dict[Key, set[str]] = {}
    for unit in units:
        kind = unit["target"]["kind"][0]
        if unit["mode"] == "build" and kind in ("lib", "rlib", "cdylib", "proc-macro"):
            key = (unit["pkg_id"], kind, json.dumps(unit["profile"]))
            found.setdefault(key, set()).add(" ".join(unit["features"]))
    return found


@pytest.mark.parametrize("name", SELECTIONS)
def test_a_selection_shares_every_crate_with_the_core(name: str) -> None:
    core, other = compiled(*CORE), compiled(*SELECTIONS[name])
    assert len(core) > 80
    twice = {key[0]: (core[key], other[key]) for key in core.keys() & other.keys() if core[key] != other[key]}
    assert not twice, "declare the features that differ in crates/core-py/Cargo.toml"
    assert all(len(ways) == 1 for ways in core.values())

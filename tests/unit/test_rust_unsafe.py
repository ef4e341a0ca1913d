"""Invariants of unsafe Rust are written down and lints switched on, for each crate."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any, Final

import pytest

ROOT: Final = Path(__file__).parents[2]
CRATES: Final = sorted(path.parent for path in ROOT.glob("crates/*/Cargo.toml"))
READERS: Final = ("capture", "connections", "edits", "figures", "messages", "plan", "quic-lines", "records")
"""Crates that compute with numbers out of files and programs of others."""
NOTE_LINES: Final = 12
"""Lines above an unsafe block within which its note begins: a statement may begin above the block."""


def read(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text(encoding="utf-8"))


def test_numbers_of_others_never_overflow_unnoticed() -> None:
    packages = read(ROOT / "Cargo.toml")["profile"]["release"]["package"]
    assert {name for name, settings in packages.items() if settings.get("overflow-checks")} == set(READERS)


def test_each_crate_has_the_lint_for_notes_on_safety() -> None:
    assert "undocumented_unsafe_blocks" in read(ROOT / "Cargo.toml")["workspace"]["lints"]["clippy"]
    assert not [crate.name for crate in CRATES if not read(crate / "Cargo.toml").get("lints", {}).get("workspace")]


@pytest.mark.parametrize("crate", CRATES, ids=lambda crate: crate.name)
def test_each_unsafe_block_has_a_note(crate: Path) -> None:
    """The lint says so, too, but clippy is no part of the tests."""
    bare = []
    for path in crate.rglob("*.rs"):
        lines = path.read_text(encoding="utf-8").splitlines()
        for number, line in enumerate(lines):
            code = line.partition("//")[0]
            if "unsafe {" in code or "unsafe impl" in code:
                above = lines[max(0, number - NOTE_LINES) : number + 1]
                if not any("SAFETY:" in one for one in above):
                    bare.append(f"{path.relative_to(ROOT)}:{number + 1}")
    assert not bare


def test_no_panic_unwinds_into_c() -> None:
    """Rust ends a process whose function of `extern "C"` panics since 1.81; only "C-unwind" lets a panic pass."""
    version = read(ROOT / "Cargo.toml")["workspace"]["package"]["rust-version"]
    assert tuple(map(int, version.split("."))) >= (1, 81)
    sources = (path for crate in CRATES for path in crate.rglob("*.rs"))
    assert not [path for path in sources if "-unwind" in path.read_text(encoding="utf-8")]

"""Crates whose manifests switch tests of a library off have none: cargo would compile the crate once more for them."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Final

import pytest

CRATES: Final = sorted(path.parent for path in (Path(__file__).parents[2] / "crates").glob("*/Cargo.toml"))
EXAMPLE: Final = re.compile(r"^\s*//[/!] ```(?!text)\w*\n(?:\s*//[/!].*\n)+?\s*//[/!] ```$", re.MULTILINE)
"""A block of code in a doc comment, which rustdoc compiles."""


@pytest.mark.parametrize(
    ("switch", "test"), [("doctest", EXAMPLE), ("test", re.compile(r"^\s*#\[test\]$", re.MULTILINE))]
)
def test_what_is_switched_off_has_no_test(switch: str, test: re.Pattern[str]) -> None:
    having, off = set[str](), set[str]()
    for crate in CRATES:
        manifest = tomllib.loads((crate / "Cargo.toml").read_text(encoding="utf-8"))
        if manifest.get("lib", {}).get(switch) is False:
            off.add(crate.name)
        if any(test.search(path.read_text(encoding="utf-8")) for path in (crate / "src").rglob("*.rs")):
            having.add(crate.name)
    assert having
    assert off
    assert not having & off, f"remove `{switch} = false` from the manifests of these crates"

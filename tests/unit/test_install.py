"""`tools/install` on machines whose tools are missing or too old, with nothing really installed."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

INSTALL = Path(__file__).parents[2] / "tools" / "install"
GOOD = {"python3": "3.11.2", "cargo": "cargo 1.88.0 (abc 2025-06-23)"}


def install(place: Path, root: bool, what: str = "build", **changed: str) -> tuple[int, str, str]:
    """Exit code, stderr, and what apt-get was asked for."""
    commands = {
        **GOOD,
        "cc": "cc",
        "clang": "14",
        "make": "4",
        "pkg-config": "1",
        "id": "0" if root else "1000",
        **changed,
    }
    for name, says in commands.items():
        (place / name).write_text(f"#!/bin/sh\necho '{says}'\n")
    (place / "apt-get").write_text(f'#!/bin/sh\necho "$@" >> {place}/asked\n')
    for path in place.iterdir():
        path.chmod(0o755)
    environment = {"PATH": f"{place}:/usr/bin:/bin"}
    done = subprocess.run(["sh", INSTALL, what], env=environment, capture_output=True, text=True, check=False)
    asked = place / "asked"
    return done.returncode, done.stderr, asked.read_text() if asked.exists() else ""


def test_nothing_is_asked_for_where_all_is_there(tmp_path: Path) -> None:
    if not Path("/usr/include/stdio.h").exists():
        pytest.skip("this machine has no C headers")
    assert install(tmp_path, root=False) == (0, "", "")


@pytest.mark.parametrize(
    ("command", "says", "package", "error"),
    [
        ("python3", "3.9.2", "python3", "error: python 3.9.2 is too old: 3.11 or later is needed"),
        ("cargo", "cargo 1.63.0", "cargo-web rustc-web", "error: rust 1.63.0 is too old: 1.88 or later is needed"),
    ],
)
def test_what_is_too_old_is_named_before_and_after(
    command: str, says: str, package: str, error: str, tmp_path: Path
) -> None:
    code, told, asked = install(tmp_path, root=False, **{command: says})
    assert (code, asked) == (1, "")
    assert told.startswith(f"{error}\n")
    assert f"hint: sudo apt-get install {package}\n" in told
    code, told, asked = install(tmp_path, root=True, **{command: says})
    assert code == 1
    assert told.startswith(f"{error}\nhint: install newer ones")
    assert package in asked


def test_what_a_kernel_needs_is_asked_for(tmp_path: Path) -> None:
    for tool in ("gcc", "ld", "flex", "bison", "bc", "patch", "xz"):
        (tmp_path / tool).write_text("#!/bin/sh\nexit 1\n")
    code, told, asked = install(tmp_path, root=False, what="kernel")
    assert (code, asked) == (1, "")
    assert "hint: sudo apt-get install gcc binutils flex bison bc patch xz-utils" in told

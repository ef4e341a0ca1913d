"""The build of the program of QUIC flows with a stack from another tree: its manifest and refusals."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from tools.quic_branch import PACKAGES, ROOT, Refused, build, locate, manifest

OWN = (ROOT / "quic" / "Cargo.toml").read_text()


def package(folder: Path, name: str, version: str = "9.0.0-dev") -> Path:
    """A package without content."""
    (folder / "src").mkdir(parents=True)
    (folder / "src" / "lib.rs").touch()
    (folder / "Cargo.toml").write_text(f'[package]\nname = "{name}"\nversion = "{version}"\nedition = "2021"\n')
    return folder


@pytest.mark.parametrize("stack", PACKAGES)
def test_a_manifest_differs_by_the_stacks_packages_and_its_program(stack: str) -> None:
    made = tomllib.loads(manifest(OWN, "retry", {name: Path("/trees") / name for name in PACKAGES[stack]}))
    own = tomllib.loads(OWN)
    for name, wanted in made["dependencies"].items():
        if name in PACKAGES[stack]:
            assert wanted.pop("path") == f"/trees/{name}"
            assert own["dependencies"][name].pop("version").startswith("=")
        elif own["dependencies"][name] == {"path": f"../crates/{name}"}:
            assert wanted == {"path": str(ROOT / "crates" / name)}
            continue
        assert wanted == own["dependencies"][name], name
    (program,) = made["bin"]
    assert program["name"] == "dumbbell-quic-retry"
    assert Path(program["path"]).is_file()
    assert made["profile"] == own["profile"]


def test_packages_are_found_in_a_workspace_and_by_themselves(tmp_path: Path) -> None:
    (tmp_path / "Cargo.toml").write_text('[workspace]\nmembers = ["one", "noq-proto"]\nresolver = "2"\n')
    package(tmp_path / "one", "noq")
    alone = package(tmp_path / "noq-proto", "noq-proto")
    assert locate(tmp_path, ("noq-proto",)) == {"noq-proto": (alone, "9.0.0-dev")}
    assert locate(alone, ("noq-proto",)) == {"noq-proto": (alone, "9.0.0-dev")}
    with pytest.raises(Refused, match="no package quiche: it has noq, noq-proto"):
        locate(tmp_path, ("quiche",))


@pytest.mark.parametrize(
    ("stack", "tree", "name", "why"),
    [
        ("picoquic", ".", "branch", "there are quinn, noq"),
        ("noq", ".", "../sh", "cannot be named"),
        ("noq", "nowhere", "branch", "has no Cargo.toml"),
    ],
)
def test_refusals(stack: str, tree: str, name: str, why: str, tmp_path: Path) -> None:
    with pytest.raises(Refused, match=why):
        build(stack, tmp_path / tree, name, tmp_path)

"""The build of the program of QUIC flows with a stack from another tree: its manifest and refusals."""

from __future__ import annotations

import json
import os
import tomllib
from pathlib import Path

import pytest

from dumbbell.errors import InputError, RunFailed
from dumbbell.quic import sources
from dumbbell.quic.build import PACKAGES, build, locate, manifest
from dumbbell.quic.program import NAME, VARIABLE

ROOT = Path(__file__).parents[2]
OWN = (ROOT / "quic" / "Cargo.toml").read_text()


def package(folder: Path, name: str, version: str = "9.0.0-dev") -> Path:
    """A package without content."""
    (folder / "src").mkdir(parents=True)
    (folder / "src" / "lib.rs").touch()
    (folder / "Cargo.toml").write_text(f'[package]\nname = "{name}"\nversion = "{version}"\nedition = "2021"\n')
    return folder


@pytest.mark.parametrize("stack", PACKAGES)
def test_a_manifest_differs_by_the_stacks_packages_and_its_program(stack: str) -> None:
    folders = {name: Path("/trees") / name for name in PACKAGES[stack]}
    made = tomllib.loads(manifest(sources.Sources(ROOT, ROOT / "target"), "retry", folders))
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
    with pytest.raises(InputError, match=r"no package quiche(?s:.*)it has noq, noq-proto"):
        locate(tmp_path, ("quiche",))


def test_files_of_the_working_folder_name_no_programs_for_cargo(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The folder may be a stranger's: `.cargo/config.toml` starts programs, `rust-toolchain.toml` a compiler."""
    workspace, places = tmp_path / "theirs", tmp_path / "places"
    workspace.mkdir()
    tree = package(tmp_path / "noq-proto", "noq-proto")
    cargo = tmp_path / "bin" / "cargo"
    cargo.parent.mkdir()
    metadata = json.dumps(
        {"packages": [{"name": "noq-proto", "manifest_path": str(tree / "Cargo.toml"), "version": "1.0.0"}]}
    )
    cargo.write_text(f"#!/bin/sh\npwd >> {places}\n[ $1 = metadata ] && echo '{metadata}'\n")
    cargo.chmod(0o755)
    monkeypatch.setenv("PATH", f"{cargo.parent}:{os.environ['PATH']}")
    monkeypatch.setenv(VARIABLE, str(tmp_path / NAME))
    monkeypatch.setattr(sources, "find", lambda: sources.Sources(ROOT, tmp_path / "target"))
    monkeypatch.chdir(workspace)
    with pytest.raises(RunFailed, match="does not build"):
        build("noq", Path("..", "noq-proto"), "branch")
    assert places.read_text().split() == ["/", "/"]


@pytest.mark.parametrize(
    ("stack", "tree", "name", "why"),
    [
        ("picoquic", ".", "branch", "expected one of quinn, noq"),
        ("noq", ".", "../sh", "cannot be named"),
        ("noq", "nowhere", "branch", "has no Cargo.toml"),
    ],
)
def test_refusals(stack: str, tree: str, name: str, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path / NAME))
    with pytest.raises(InputError, match=why):
        build(stack, tmp_path / tree, name)


def test_without_the_program_or_a_tool_the_build_says_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path / NAME))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(RunFailed, match=r"cargo is not on the PATH(?s:.*)https://rustup\.rs"):
        build("noq", tmp_path, "branch")
    monkeypatch.setattr(sources, "_CHECKOUT", tmp_path)
    monkeypatch.setattr(sources, "_PACKAGE", "dumbbell_quic_of_nobody")
    with pytest.raises(RunFailed, match=r"pip install --force-reinstall dumbbell_quic-\*\.whl"):
        build("noq", tmp_path, "branch")


def test_a_wheel_s_sources_are_compiled_below_the_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "packages" / "dumbbell_quic_tried"
    (package / "sources" / "quic").mkdir(parents=True)
    (package / "sources" / "quic" / "Cargo.toml").write_text(OWN)
    (package / "__init__.py").touch()
    monkeypatch.syspath_prepend(str(package.parent))
    monkeypatch.setattr(sources, "_CHECKOUT", tmp_path)
    monkeypatch.setattr(sources, "_PACKAGE", package.name)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    assert sources.find() == sources.Sources(package / "sources", tmp_path / "cache" / "dumbbell" / "quic")

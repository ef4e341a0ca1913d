"""Contents of dumbbell's packages. `make test-wheel` builds, installs and runs them."""

from __future__ import annotations

import importlib.util
import sys
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


@pytest.fixture
def backend() -> ModuleType:
    """The build backend, which is no module of a package."""
    found = importlib.util.spec_from_file_location("backend", ROOT / "tools" / "backend.py")
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


def test_the_version_is_one() -> None:
    workspace = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))["workspace"]["package"]
    assert PROJECT["project"]["version"] == workspace["version"]
    assert PROJECT["project"]["requires-python"] == ">=3.11"


def test_all_that_is_promised_is_named() -> None:
    project = PROJECT["project"]
    assert {"cluster", "query"} <= project["optional-dependencies"].keys()
    assert "Typing :: Typed" in project["classifiers"]
    assert (ROOT / "python" / "dumbbell" / "py.typed").exists()
    for pattern in project["license-files"]:
        assert (ROOT / pattern).is_file(), pattern
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert f"\n## {project['version']}" in changes or "\n## Unreleased\n" in changes


def test_the_backend_has_every_hook_that_pip_calls(backend: ModuleType) -> None:
    assert PROJECT["build-system"]["build-backend"] == "backend"
    for kind in ("wheel", "sdist", "editable"):
        assert callable(getattr(backend, f"build_{kind}"))
        assert callable(getattr(backend, f"get_requires_for_build_{kind}"))


def test_the_sources_of_kernels_stand_in_the_package_only_while_it_is_built(
    backend: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from dumbbell.kernels.additions import Additions, additions
    from dumbbell.kernels.link import algorithm_sources

    monkeypatch.setattr(backend, "PACKAGE", tmp_path)
    (tmp_path / "kernels").mkdir()
    here = additions()
    with backend.staged():
        packed = Additions(tmp_path / "kernels")
        assert packed.hash_of(algorithm_sources(packed)) == here.hash_of(algorithm_sources(here))
        assert packed.base_hash((6, 12)) == here.base_hash((6, 12))
        assert (packed.kernel / "LICENSE").exists()
    assert not any((tmp_path / "kernels").iterdir())


def test_what_a_build_lacks_is_said(backend: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(sys, "executable", "/nowhere/python3")
    with pytest.raises(SystemExit, match="cargo is not on the PATH"):
        backend.guest()

"""The user who runs the command in a test: root, an ordinary user, or each in turn."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

# The fidelity test uses the replay of a link in `benches`.
sys.path.insert(0, str(Path(__file__).parents[2]))

from harness import Place, place, place_of, runtime_of


@pytest.fixture(params=[pytest.param("root", marks=pytest.mark.thorough), "ordinary"])
def anyone(request: pytest.FixtureRequest) -> Iterator[Place]:
    """A working directory of an ordinary user's; in `make test-all` one of root's, too."""
    with place_of(request.param) as fresh:
        yield fresh


@pytest.fixture
def here() -> Iterator[Place]:
    """A working directory of the user who runs the tests."""
    with place(ordinary=False) as fresh:
        yield fresh


@pytest.fixture
def ordinary() -> Iterator[Place]:
    """A working directory of an ordinary user."""
    with place(ordinary=True) as fresh:
        yield fresh


@pytest.fixture
def user(anyone: Place, monkeypatch: pytest.MonkeyPatch) -> Place:
    """A user whose labs are apart from all others."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(runtime_of(anyone)))
    return anyone


@pytest.fixture
def apart(here: Place, monkeypatch: pytest.MonkeyPatch) -> Place:
    """`here` as the test's own working directory; labs of the test are apart from all others."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(runtime_of(here)))
    monkeypatch.chdir(here.directory)
    return here

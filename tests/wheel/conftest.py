"""The packages that were built, and bare systems to install them on."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from root import REPOSITORY, Root, bare

# The browser, and the application in it, are those of the browser tests.
sys.path.append(str(REPOSITORY / "tests" / "e2e"))

SUITES = {"Debian 12": "bookworm", "Debian 13": "trixie"}


@pytest.fixture(scope="session")
def wheel() -> Path:
    """The wheel that `make wheel` has built."""
    (found,) = (REPOSITORY / "dist").glob("dumbbell-*.whl")
    return found


@pytest.fixture(scope="session")
def sdist() -> Path:
    """The source distribution that `make sdist` has built."""
    (found,) = (REPOSITORY / "dist").glob("dumbbell-*.tar.gz")
    return found


@pytest.fixture(scope="session", params=SUITES.values(), ids=SUITES.keys())
def installed(request: pytest.FixtureRequest, wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Root:
    """A bare system on which root has installed the wheel, as the page on installation says: in /opt/dumbbell."""
    assert os.geteuid() == 0, "only root can make bare systems: sudo make test-wheel"
    root = Root(bare(request.param), tmp_path_factory.mktemp(request.param))
    root.write(f"/{wheel.name}", wheel.read_bytes())
    # Versions without hashes: with one, pip would ask for that of the wheel, too.
    pinned = (REPOSITORY / "requirements" / "run.txt").read_text(encoding="utf-8")
    versions = [line.split()[0] for line in pinned.splitlines() if "==" in line]
    root.write("/constraints.txt", "\n".join(versions).encode())
    root.run(
        "python3 -m venv /opt/dumbbell; /opt/dumbbell/bin/pip install --quiet --no-cache-dir --only-binary :all: "
        f"--constraint /constraints.txt /{wheel.name}"
    )
    return root

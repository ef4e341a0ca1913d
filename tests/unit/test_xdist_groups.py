"""Tests of one `xdist_group` run in one process, so that they share fixtures."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

TESTS = """\
import os
import pytest

@pytest.fixture(scope="module")
def shared():
    with open("made", "a") as file:
        file.write("once\\n")

@pytest.mark.xdist_group("of one kind")
@pytest.mark.parametrize("number", range(8))
def test_it(shared, number):
    pass
"""


def test_a_group_makes_a_fixture_once(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text('pytest_plugins = ["groups"]\n')
    (tmp_path / "test_it.py").write_text(TESTS)
    (tmp_path / "pytest.ini").write_text("[pytest]\n")
    words = [sys.executable, "-m", "pytest", "-p", "xdist", "--numprocesses", "2", "--dist", "loadgroup"]
    inherited = {key: value for key, value in os.environ.items() if not key.startswith("PYTEST")}
    own = {"PYTHONPATH": str(Path(__file__).parents[1]), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    done = subprocess.run(words, cwd=tmp_path, env=inherited | own, capture_output=True, text=True, check=False)
    assert "8 passed" in done.stdout, done.stdout
    assert (tmp_path / "made").read_text() == "once\n"

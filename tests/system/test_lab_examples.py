"""The examples of labs, most of them Mininet's own in our words: each runs to its end, and its assertions hold."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest
from harness import Place, knows_vlans, runtime_of
from stages import thorough_but

FOLDER = Path(__file__).parents[2] / "docs" / "examples" / "labs"
EXAMPLES = sorted(path.stem for path in FOLDER.glob("*.py"))

ORDINARY_TOO = {"linuxrouter", "mobility", "scratchnet", "walkthrough"}
"""Examples that do what an ordinary user may lack the right to do. Others run as whoever runs the tests."""

EACH_KIND = {"linuxrouter", "mobility", "popen", "sshd", "vlans", "walkthrough"}
"""Examples with parts that others have, too."""

MEASURE = {"linearbandwidth": [pytest.mark.real_time]}
"""Examples that assert how much comes through."""


def run(user: Place, name: str) -> None:
    if name == "vlans" and not knows_vlans():
        pytest.skip("bridges of this kernel know no VLANs")
    # An ordinary user may not read the checkout.
    shutil.copy(FOLDER / f"{name}.py", user.directory)
    words = user.python(f"{name}.py")
    done = subprocess.run(words, cwd=user.directory, capture_output=True, text=True, timeout=180)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=MEASURE.get(name, [] if name in EACH_KIND else [pytest.mark.thorough]))
        for name in EXAMPLES
    ],
)
def test_an_example_runs(here: Place, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(runtime_of(here)))
    run(here, name)


@pytest.mark.parametrize("name", thorough_but(["walkthrough"], sorted(ORDINARY_TOO)))
def test_an_ordinary_user_runs_it_too(ordinary: Place, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(runtime_of(ordinary)))
    run(ordinary, name)


def test_the_page_from_mininet_names_each() -> None:
    page = (FOLDER.parents[1] / "how-to" / "from-mininet.md").read_text(encoding="utf-8")
    assert set(EXAMPLES) == set(re.findall(r"examples/labs/(\w+)\.py", page))

"""The how-to about slow transfers, followed literally."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "how-to" / "why-slow.md"


def typed(folder: Path, line: str) -> str:
    env = os.environ | {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    done = subprocess.run(["bash", "-c", line], cwd=folder, env=env, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, (line, done.stderr)
    return done.stdout


@pytest.mark.thorough
def test_the_page_gives_the_right_answer_on_its_three_captures(tmp_path: Path) -> None:
    text = PAGE.read_text(encoding="utf-8")
    runs = re.findall(r"^    (dumbbell run why-slow .*)$", text, re.MULTILINE)
    assert len(runs) == 3
    for line in runs:
        typed(tmp_path, line)
    (block,) = re.findall(r"```console\n(.*?)```", text, re.DOTALL)
    sessions = [one.splitlines() for one in block.split("$ ")[1:]]
    assert len(sessions) == 3
    for command, *expected in sessions:
        assert typed(tmp_path, command).splitlines()[: len(expected)] == expected
    # Sections on both ends and on profiles: what they type works, and says the same.
    pair, share, again = (
        re.findall(rf"^    (dumbbell fit {start}.*)$", text, re.MULTILINE)[0]
        for start in (r"runs/policer-\* runs/", r"runs/bloat-\* --anonymize", "small.json")
    )
    assert typed(tmp_path, pair).startswith("A policer limits this transfer")
    answer = typed(tmp_path, share).splitlines()[0]
    assert typed(tmp_path, again).splitlines()[0] == answer
    assert answer == sessions[2][1]

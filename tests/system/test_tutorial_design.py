"""The tutorial "Design, score, break, mend", followed to the letter."""

from __future__ import annotations

import os
import re
import shlex
import shutil
from pathlib import Path

import pytest

from dumbbell.cli import invoke

PAGE = Path(__file__).parents[2] / "docs" / "tutorial" / "design-score-mend.md"
STEP = re.compile(r"```(console|diff)\n(.*?)```", re.DOTALL)


@pytest.mark.thorough
@pytest.mark.skipif(shutil.which("clang") is None, reason="apt-get install clang")
def test_the_tutorial_is_true(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    text = PAGE.read_text(encoding="utf-8")
    steps = STEP.findall(text)
    # Every block is a step.
    assert len(steps) == text.count("```") // 2
    for kind, block in steps:
        if kind == "diff":
            apply(Path("mine.bpf.c"), block)
            continue
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, *shown = part.splitlines()
            follow(command, shown, capsys)


def apply(file: Path, diff: str) -> None:
    """Change the only place of `file` that a diff without line numbers fits."""
    lines = diff.splitlines()
    before, after = ("".join(f"{line[1:]}\n" for line in lines if not line.startswith(sign)) for sign in ("+", "-"))
    text = file.read_text()
    assert text.count(before) == 1, before
    file.write_text(text.replace(before, after))


def follow(command: str, shown: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    """Run a command; the lines that the page shows occur in what it prints, in this order."""
    program, *arguments = shlex.split(command)
    if program == "cd":
        os.chdir(arguments[0])
        return
    assert program == "dumbbell"
    assert invoke(arguments) == 0, command
    output = capsys.readouterr()
    printed = iter(output.out.splitlines())
    for line in shown:
        assert any(line in one for one in printed), f"{line!r} is not, or not there, in\n$ {command}\n{output.out}"

"""The tutorials on labs, followed to the letter: each file is written, each command prints what the page shows."""

from __future__ import annotations

import re
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from harness import Place
from stages import thorough_after

PAGES = Path(__file__).parents[2] / "docs" / "tutorial"
STEP = re.compile(
    r"[Ww]rite\s+this to `(?P<file>[\w.]+)`:\n\n```\w+\n(?P<text>.*?)```|```console\n(?P<console>.*?)```", re.DOTALL
)


@pytest.mark.parametrize("page", thorough_after(1, ["lab.md", "bgp.md", "bare-routers.md"]))
def test_the_tutorial_is_true(user: Place, page: str) -> None:
    text = (PAGES / page).read_text(encoding="utf-8")
    steps = list(STEP.finditer(text))
    # Every block is a step: none is left out because its sentence has another form.
    assert len(steps) == text.count("```") // 2
    for step in steps:
        if step["file"]:
            (user.directory / step["file"]).write_text(step["text"], encoding="utf-8")
        else:
            for command, typed, shown in commands(step["console"]):
                follow(user, command, typed, shown)


def commands(console: str) -> Iterator[tuple[str, list[str], list[str]]]:
    """Each command of a block, the lines typed into it, and what it prints."""
    for part in re.split(r"^\$ ", console, flags=re.MULTILINE)[1:]:
        command, *lines = part.splitlines()
        typed = [line.partition("> ")[2] for line in lines if is_typed(line)]
        yield command, typed, [line for line in lines if not is_typed(line)]


def is_typed(line: str) -> bool:
    return re.match(r"[\w-]+> ", line) is not None


def follow(user: Place, command: str, typed: list[str], shown: list[str]) -> None:
    program, *arguments = shlex.split(command)
    words = {"dumbbell": user.command, "python": user.python}[program](*arguments)
    lines = "".join(f"{line}\n" for line in typed)
    done = subprocess.run(words, cwd=user.directory, input=lines, capture_output=True, text=True, timeout=180)
    said = f"$ {command}\n{done.stdout}{done.stderr}"
    # A run's verdict may be invalid: the machine has other work.
    assert done.returncode in ((0, 3) if arguments[0] == "run" else (0,)), said
    printed = iter([alike(line) for line in (done.stdout + done.stderr).splitlines()])
    for line in map(alike, shown):
        assert any(line in one for one in printed), f"{line!r} is not, or not there, in\n{said}"


def alike(line: str) -> str:
    """A line without what differs from run to run: measured numbers, ages, ids, spaces at the end."""
    line = re.sub(r"(?<![\d.])\d+(\.\d+)?(?= Mbit/s$)|\d\d:\d\d:\d\d|(?<=nhid )\d+", "N", line.rstrip())
    return re.sub(r"[\d.]+ Mbit/s(?=\s{2,}| *$)", "N Mbit/s", line)

"""A small scenario with one link, and how scenarios are refused: for tests of refusals."""

import tomllib
from pathlib import Path
from typing import Any

import pytest

from dumbbell.errors import Problem, ScenarioError
from dumbbell.scenario.file.loading import load

BASE = """\
name = "base"
duration = "20 s"

[topology]
kind = "path"
rtt = "30 ms"

[topology.bottleneck]
rate = "10 Mbit/s"
buffer = "100 packets"

[[flows]]
from = "h1"
to = "h2"
"""


def refused(text: str) -> str:
    """The printed text."""
    Path("my.toml").write_text(text)
    with pytest.raises(ScenarioError) as caught:
        load("my.toml")
    points_at_the_text(caught.value, text)
    return str(caught.value)


def points_at_the_text(refusal: ScenarioError, text: str) -> None:
    """Each problem has a key, and a place in the file that has that key, or the table that lacks it."""
    for problem in refusal.problems:
        assert problem.place is not None
        assert problem.place.file == "my.toml"
        assert problem.wrong
        assert problem.what.endswith(problem.wrong)
        if not problem.wrong.startswith("not TOML"):
            _points_at_its_key(problem, text)


def _points_at_its_key(problem: Problem, text: str) -> None:
    place, there, value = problem.place, *_followed(problem.key, tomllib.loads(text))
    assert place is not None
    if not there:  # The file as a whole lacks it.
        assert place.line is None
        return
    assert place.line
    assert place.column
    assert place.length
    line = text.splitlines()[place.line - 1]
    piece = line[place.column - 1 : place.column - 1 + place.length]
    assert len(piece) == place.length
    assert piece == piece.strip()
    if isinstance(there[-1], str):
        assert there[-1] in piece.partition("=")[0]
    elif piece.startswith("[["):
        assert piece == f"[[{'.'.join(str(part) for part in there if isinstance(part, str))}]]"
    else:
        assert tomllib.loads(f"item = {piece}")["item"] == value


def _followed(key: str, value: Any) -> tuple[list[str | int], Any]:
    """The parts of a key that there are, and the value that they lead to."""
    there: list[str | int] = []
    rest: Any = tomllib.loads(f"{key} = 0")
    while isinstance(rest, dict):
        name, rest = next(iter(rest.items()))
        part = int(name) if isinstance(value, list) else name
        if not (part in value if isinstance(value, dict) else isinstance(value, list) and part < len(value)):
            break
        value = value[part]
        there.append(part)
    return there, value

"""The pages for users of other tools name only what is there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.main import get_command

import dumbbell
from dumbbell.cli import app
from dumbbell.labs.live import Link, Node
from dumbbell.labs.network import Network
from dumbbell.labs.pings import Pings
from dumbbell.labs.program import Program
from dumbbell.labs.shell.shell import MODULES
from dumbbell.labs.shell.words import WORDS
from dumbbell.labs.traffic import FlowResult
from dumbbell.scenario.file.schema import json_schema

HOW_TO = Path(__file__).parents[2] / "docs" / "how-to"
PAGES = ("from-mininet.md", "from-others.md")

CLASSES = {"lab": [dumbbell.Lab], "Lab": [dumbbell.Lab], "program": [Program], "h1": [Node], "r1": [Node]}
"""The classes of the names that calls begin with."""

RESULTS = [dumbbell.Lab, Node, Link, Pings, FlowResult, Network, Program]
"""Whose attributes follow a call, as in `lab.ping_all().rtt_ns`."""

SUBPROCESS = {"stdout", "stderr", "returncode"}


def ours(page: str) -> Iterator[str]:
    """The texts in backticks of the column "here"."""
    for line in (HOW_TO / page).read_text(encoding="utf-8").splitlines():
        cells = re.split(r"(?<!\\)\|", line)
        if line.startswith("|") and len(cells) > 3:
            yield from re.findall(r"`([^`]+)`", cells[2])


def test_every_line_has_a_tick_or_a_reason() -> None:
    for page in PAGES:
        for line in (HOW_TO / page).read_text(encoding="utf-8").splitlines():
            if (
                line.startswith("|")
                and not line.startswith("|--")
                and not line.endswith("| |")
                and not line.startswith("| |")
            ):
                cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
                assert len(cells) == 3, line
                assert cells[1], line
                assert cells[2] == "✓" or len(cells[2]) > 3, line
                assert cells[2] != "✓" or not re.match("no( |$)", cells[1]), line


@pytest.mark.parametrize("page", PAGES)
def test_calls_are_those_of_the_api(page: str) -> None:
    found = 0
    for text in ours(page):
        if text.startswith("dumbbell "):
            continue  # A command, whose words may be names of files.
        for name, attribute in re.findall(r'(?<!")\b(lab|Lab|program|h1|r1)\.(\w+)', text):
            assert any(hasattr(one, attribute) for one in CLASSES[name]), text
            found += 1
        for attribute in re.findall(r"(?:\)|^)\.(\w+)", text):
            assert attribute in SUBPROCESS or any(has(one, attribute) for one in RESULTS), text
    assert found >= 3


def has(one: type, attribute: str) -> bool:
    return hasattr(one, attribute) or attribute in getattr(one, "__dataclass_fields__", {})


@pytest.mark.parametrize("page", PAGES)
def test_commands_and_options_are_those_of_the_command(page: str) -> None:
    root, found = get_command(app), 0
    for text in ours(page):
        if not text.startswith("dumbbell "):
            continue
        command, found = root, found + 1
        words = iter(text.split()[1:])
        for word in words:
            if not hasattr(command, "get_command"):
                break
            verb = command.get_command(command.context_class(command), word)
            assert verb is not None, text
            command = verb
        known = {option for parameter in command.params for option in parameter.opts}
        for option in re.findall(r"(?<= )(--?\w[\w-]*)", text.partition("|")[0].partition(" exec ")[0]):
            assert option in known, text
    assert found >= 3


def test_words_are_those_of_the_shell() -> None:
    assert MODULES
    text = (HOW_TO / "from-mininet.md").read_text(encoding="utf-8")
    shell = text.partition("## The shell")[2].partition("## The Python")[0]
    rows = [line.split("|") for line in shell.splitlines() if line.startswith("| `")]
    same = [name for row in rows if "same words" in row[2] for name in re.findall(r"`([a-z]+)`", row[1])]
    assert set(same) <= set(WORDS)
    assert len(same) > 15
    own = re.findall(r"`([a-z]+)`", shell.splitlines()[-2])
    assert set(own) <= set(WORDS), own
    assert {"show", "why"} <= set(own)


@pytest.mark.parametrize("page", PAGES)
def test_keys_are_those_of_a_scenario(page: str) -> None:
    known = set(re.findall(r"'(\w+)'", str(json_schema())))
    keys = [match for text in ours(page) for match in re.findall(r"^(?!lab|program)(\w+) = ", text)]
    assert keys
    assert set(keys) <= known

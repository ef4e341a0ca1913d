"""What the reference says about scenarios is so."""

import re
import shlex
import tomllib
from pathlib import Path

import pytest

from dumbbell.cli import invoke
from dumbbell.plan import expand
from dumbbell.scenario.loading import load
from dumbbell.scenario.schema import json_schema

REFERENCE = Path(__file__).parents[2] / "docs" / "reference"


def test_the_example_can_be_planned() -> None:
    (example,) = re.findall(r"```toml\n(.*?)```", (REFERENCE / "scenario.md").read_text(), re.DOTALL)
    plan = expand(load(tomllib.loads(example)))
    sacks = [node["sysctl"]["net.ipv4.tcp_sack"] for node in plan["nodes"] if node["kind"] == "host"]
    assert sacks == ["0", "1", "1", "1"]
    assert [flow["id"] for flow in plan["flows"]] == ["f1", "f2", "background"]


@pytest.mark.parametrize("definition", ["Bottleneck", "Dumbbell", "TcpFlow", "UdpFlow", "CommandFlow", None])
def test_every_key_is_in_the_reference(definition: str | None) -> None:
    schema = json_schema()
    table = schema["$defs"][definition] if definition else schema
    text = (REFERENCE / "scenario.md").read_text()
    assert [key for key in table["properties"] if f"`{key}" not in text and f"[{key}]" not in text] == []


def test_the_commands_work(capsys: pytest.CaptureFixture[str]) -> None:
    text = (REFERENCE / "command-line.md").read_text()
    commands = re.findall(r"^    dumbbell (plan .*)$", text, re.MULTILINE)
    assert len(commands) == 3
    for command in commands:
        assert invoke(shlex.split(command)) == 0

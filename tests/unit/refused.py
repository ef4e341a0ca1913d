"""A small scenario with one link, and how it is refused: for tests of what a link does."""

from pathlib import Path

import pytest

from dumbbell.errors import ScenarioError
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
    """What is printed."""
    Path("my.toml").write_text(text)
    with pytest.raises(ScenarioError) as caught:
        load("my.toml")
    return str(caught.value)

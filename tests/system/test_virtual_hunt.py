"""A hunt by the whole command: what it finds in the simulator, a kernel shows in virtual time."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dumbbell import kernels
from dumbbell.cli import invoke
from dumbbell.errors import InputError

SCENARIO = """\
name = "attacked"
duration = "4 s"

[topology]
kind = "path"
rtt = "20 ms"
bottleneck = { rate = "5 Mbit/s", buffer = "1 bdp" }

[[flows]]
from = "h1"
to = "h2"

[hunt]
kinds = ["pulse"]
most = 1
"""


def test_a_fault_is_found_confirmed_in_a_kernel_and_shown_by_its_scenario(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The limit is far above what the attack leaves: the model's small errors do not decide."""
    try:
        kernels.find("6.12")
    except InputError as error:
        pytest.skip(f"{error}: make kernel builds it")
    monkeypatch.chdir(tmp_path)
    Path("attacked.toml").write_text(SCENARIO)
    command = ["hunt", "attacked.toml", "--cc", "reno", "--for", "goodput of f1 < 2 Mbit/s", "--budget", "130"]
    assert invoke([*command, "--confirm", "--quiet"]) == 4
    said = capsys.readouterr().out
    assert "kernel: confirmed: goodput of f1" in said
    (place,) = Path("hunts").iterdir()
    told = json.loads((place / "hunt.json").read_text())
    (find,) = told["finds"]
    assert find["kernel"] == "confirmed"
    assert find["value"] < find["limit"] == 2e6
    again = ["run", str(place / find["folder"] / "scenario.toml"), "--no-report", "--quiet"]
    assert invoke([*again, "--engine", "simulate"]) == 4
    assert invoke([*again, "--engine", "simulate", "--set", "flows.1.rate=1 kbit/s"]) == 0

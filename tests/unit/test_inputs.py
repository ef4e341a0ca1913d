"""Files that a user names: what is no text of a bounded size is refused, not waited for and not taken in whole."""

from __future__ import annotations

import io
import os
import tomllib
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from refused import BASE

from dumbbell import inputs
from dumbbell.cli import invoke
from dumbbell.errors import InputError, ScenarioError
from dumbbell.scenario import load
from dumbbell.scenario.file.toml import TOMLDecodeError, parse


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("base.toml").write_text(BASE)
    return tmp_path


def why(source: Any, overrides: Any = None) -> str:
    with pytest.raises(InputError) as caught:
        load(source, overrides)
    return str(caught.value)


def test_devices_and_pipes_are_no_scenarios() -> None:
    os.mkfifo("pipe.toml")
    hint = "\nhint: a pipe can be standard input: -"
    assert why("/dev/zero") == f"/dev/zero: cannot read the scenario\n  Not a regular file{hint}"
    assert why("pipe.toml") == f"pipe.toml: cannot read the scenario\n  Not a regular file{hint}"
    assert why("./") == ".: cannot read the scenario\n  Is a directory"


def test_devices_and_pipes_are_no_traces_and_no_programs() -> None:
    os.mkfifo("pipe.bpf.c")
    assert "cannot read it: not a regular file" in why(
        "base.toml", {"topology.bottleneck.rate": {"trace": "/dev/zero"}}
    )
    assert "cannot read it: not a regular file" in why("base.toml", {"flows.0.cc": {"bpf": "pipe.bpf.c"}})


def test_a_file_is_read_up_to_a_size(monkeypatch: pytest.MonkeyPatch) -> None:
    with Path("large.toml").open("wb") as file:
        file.truncate(1 << 40)
    assert why("large.toml") == "large.toml: cannot read the scenario\n  More than 16 MiB"
    assert inputs.read("base.toml", len(BASE)) == BASE.encode()


@pytest.mark.parametrize("begin", ["\ufeff", "\ufeff\r\n"])
def test_a_byte_order_mark_and_line_ends_of_windows_are_no_mistake(begin: str) -> None:
    Path("mark.toml").write_bytes((begin + BASE.replace("\n", "\r\n")).encode())
    assert load("mark.toml").name == "base"


def test_a_key_of_many_words_takes_no_memory() -> None:
    """tomllib takes 6 GB for these 200 kB."""
    for key in ("a." * 100_000 + "a = 1", '"b" . ' * 30_000 + "a = 1", "[" + "'c'." * 50_000 + "a]"):
        tracemalloc.start()
        with pytest.raises(TOMLDecodeError, match="nested more than 64 deep"):
            parse(key)
        most = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert most < 1 << 20
    assert parse(".".join("a" * 64) + " = 1\n" + '# "a.b".c.\n'), "an allowed key"


@pytest.mark.parametrize(
    "text",
    ["x = " + "[" * 3000 + "]" * 3000, "x = " + "{ a = " * 3000 + "1" + "}" * 3000, ".".join("a" * 3000) + " = 1"],
)
def test_what_is_nested_too_deeply_is_no_toml(text: str) -> None:
    Path("deep.toml").write_text(f"{text}\n{BASE}")
    assert why("deep.toml") == "deep.toml: not TOML: tables or lists are nested more than 64 deep"
    nested: Any = 1
    for _ in range(5000):
        nested = [nested]
    assert why({"name": nested}).startswith("scenario: name: tables or lists that are nested too deeply")
    endless: dict[str, Any] = {}
    endless["self"] = endless
    with pytest.raises(ScenarioError) as refused:
        load({"name": endless})
    assert [problem.key for problem in refused.value.problems] == ["name"]


def test_a_number_of_thousands_of_digits_is_refused_with_its_place() -> None:
    Path("long.toml").write_text(f"\nseed = {'1' * 5000}\n{BASE}")
    assert why("long.toml").startswith("long.toml:2:8: not TOML: a number has 5,000 digits\n")
    assert "seed" in why("base.toml", [f"seed={'1' * 5000}"])
    assert "override seed=a number of thousands of digits: out of range" in why("base.toml", {"seed": 10**5000})


def test_values_of_numpy_are_values() -> None:
    given = {"seed": np.int64(7), "topology.rtt": np.str_("40 ms")}
    found = load("base.toml", given)
    assert (found.seed, str(found.topology.rtt)) == (7, "40 ms")
    data = tomllib.loads(BASE)
    assert load({**data, "seed": np.uint8(9)}).seed == 9


def test_a_minus_is_standard_input(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    inputs.standard_input.cache_clear()
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(BASE.encode())))
    assert invoke(["run", "-", "--engine", "simulate", "--set", "duration=100 ms", "--json"]) == 0
    assert '"name": "base"' in capsys.readouterr().out
    inputs.standard_input.cache_clear()
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"name = 1")))
    assert why("-").startswith("standard input:1: name = 1: not a text")
    inputs.standard_input.cache_clear()
    monkeypatch.setattr("sys.stdin", None)
    assert why("-") == "standard input: cannot read the scenario\n  Standard input is closed"
    inputs.standard_input.cache_clear()

"""`--events`: progress for other programs; `--no-report`: the report is made later."""

from __future__ import annotations

import json
import types
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, NotRequired, Union, get_args, get_origin, get_type_hints

import pytest
from pydantic import ValidationError
from typing_extensions import is_typeddict

from dumbbell.cli import event_lines, invoke
from dumbbell.server.lab_messages import LabProgress

SCENARIO = """\
name = "small"
duration = "3 s"
topology = { kind = "path", rtt = "10 ms", bottleneck = { rate = "5 Mbit/s", buffer = "1 bdp" } }
flows = [{ from = "h1", to = "h2", cc = "cubic" }]
"""
RUN = ["run", "small.toml", "--engine", "simulate", "--no-report"]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("small.toml").write_text(SCENARIO)


def test_events_of_a_run_are_lines_of_json_in_a_file() -> None:
    assert invoke([*RUN, "--quiet", "--events", "events.jsonl"]) == 0
    found = [json.loads(line) for line in Path("events.jsonl").read_text().splitlines()]
    assert [one["event"] for one in found if one["event"] != "progress"][:2] == ["planned", "simulating"]
    last = [one for one in found if one["event"] == "progress"][-1]
    assert last["flows"][0]["received_bytes"] > 0
    assert found[0].keys() == {"event", "run_id", "engine"}


def test_events_of_a_study_go_to_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke([*RUN, "--json", "--repeat", "2", "--events", "-"]) == 0
    shown = capsys.readouterr()
    told = json.loads(shown.out)
    assert (told["runs"], told["report"]) == (2, None)
    last = [one for line in shown.err.splitlines() if (one := json.loads(line))["event"] == "progress"][-1]
    assert (last["runs"], last["of"]) == (2, 2)


def test_a_file_that_cannot_be_written_is_refused_before_the_run(capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke([*RUN, "--events", "no/such/folder"]) == 2
    assert "error: cannot write no/such/folder" in capsys.readouterr().err
    assert not Path("runs").exists()


def test_without_a_report_the_last_line_is_the_directory(capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke([*RUN, "--quiet"]) == 0
    (run,) = (path for path in Path("runs").iterdir() if path.is_dir())
    assert capsys.readouterr().out.splitlines()[-1] == str(run)
    assert not (run / "report.html").exists()


def is_of(value: Any, hint: Any) -> bool:
    """Whether a value of JSON is of a declared type, with all of its keys and no others."""
    origin, parts = get_origin(hint), get_args(hint)
    if is_typeddict(hint):
        hints = get_type_hints(hint, include_extras=True)
        needed = {key for key, of in hints.items() if get_origin(of) is not NotRequired}
        there = isinstance(value, dict) and needed <= value.keys() <= hints.keys()
        return there and all(is_of(value[key], hints[key]) for key in value)
    if origin is NotRequired:
        return is_of(value, parts[0])
    if origin in (Union, types.UnionType):
        return any(is_of(value, part) for part in parts)
    if origin is Literal:
        return value in parts
    if origin is list:
        return isinstance(value, list) and all(is_of(one, parts[0]) for one in value)
    if origin is not None and issubclass(origin, Mapping):
        return isinstance(value, dict)
    return type(value) in ((int, float) if hint is float else (hint,))


@pytest.mark.parametrize(
    ("options", "declared", "seen"),
    [
        ([], event_lines.RUN, {"planned", "simulating", "progress", "composing"}),
        (["--repeat", "3", "--vary", "flows.0.cc=cubic,reno"], event_lines.STUDY, {"planning", "planned", "progress"}),
    ],
)
def test_every_line_is_as_declared(options: list[str], declared: tuple[type, ...], seen: set[str]) -> None:
    assert invoke([*RUN, *options, "--quiet", "--events", "events.jsonl"]) == 0
    found = [json.loads(line) for line in Path("events.jsonl").read_text().splitlines()]
    assert {one["event"] for one in found} == seen
    for one in found:
        assert any(is_of(one, event) for event in declared), one


def test_a_line_with_another_key_or_type_is_not_as_declared() -> None:
    sound = {"event": "planning", "cells": 1, "of": 2}
    assert is_of(sound, event_lines.Planning)
    for other in ({**sound, "more": 1}, {"event": "planning", "cells": 1}, {**sound, "cells": "1"}):
        assert not is_of(other, event_lines.Planning)


def test_a_full_disk_ends_the_lines_and_not_the_run(capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke([*RUN, "--quiet", "--events", "/dev/full"]) == 0
    said = capsys.readouterr()
    assert said.err.splitlines() == ["cannot write /dev/full: No space left on device; further events are not written"]
    assert Path(said.out.splitlines()[-1], "summary.json").exists()


def test_a_labs_progress_is_that_of_a_run() -> None:
    assert invoke([*RUN, "--quiet", "--events", "events.jsonl"]) == 0
    found = [json.loads(line) for line in Path("events.jsonl").read_text().splitlines()]
    told = next(one for one in found if one["event"] == "progress")
    message = LabProgress(time_ns=told["time_ns"], links=told["links"], flows=told["flows"]).model_dump()
    assert (message["links"], message["flows"]) == (told["links"], told["flows"])
    with pytest.raises(ValidationError, match="goodput_bps"):
        LabProgress(time_ns=0, links=[], flows=[{**told["flows"][0], "goodput_bps": "fast"}])

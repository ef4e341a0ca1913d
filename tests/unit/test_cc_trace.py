"""`dumbbell cc trace`: each call of a program, with the fields that it read and set."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from dumbbell.cc.new import create
from dumbbell.cli import invoke
from dumbbell.pipeline.traced import CALLBACKS

pytestmark = pytest.mark.skipif(shutil.which("clang") is None, reason="apt-get install clang")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    create("mine", tmp_path / "mine")
    monkeypatch.chdir(tmp_path / "mine")


def traced(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[dict[str, Any]]:
    assert invoke(["cc", "trace", "mine.bpf.c", *arguments, "--json"]) == 0
    return [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_each_call_begins_with_the_state_in_which_the_one_before_ended(capsys: pytest.CaptureFixture[str]) -> None:
    calls = traced(capsys, "test.toml", "--limit", "20000")
    assert calls[0]["call"] == "init"
    assert {call["call"] for call in calls} == {"init", "cong_avoid", "ssthresh"}
    assert [call["time_ns"] for call in calls] == sorted(call["time_ns"] for call in calls)
    known: dict[str, int] = {}
    for call in calls:
        for name, value in call["read"].items():
            assert not name.startswith("state.") or value == known[name]
        for name, (before, after) in call["set"].items():
            assert not name.startswith("state.") or before == known.get(name, 0)
            known[name] = after
    # Congestion avoidance grows by a packet when a window is acknowledged.
    grown = [call for call in calls if "state.acked" in call["set"] and "snd_cwnd" in call["set"]]
    assert len(grown) > 20
    for call in grown:
        before, after = call["set"]["snd_cwnd"]
        assert after == before + 1
        acked, left = call["set"]["state.acked"]
        assert left == acked + call["arguments"]["acked"] - before


def test_it_tells_what_a_loss_does_the_same_each_time(capsys: pytest.CaptureFixture[str]) -> None:
    calls = traced(capsys, "test.toml", "--call", "ssthresh")
    assert calls == traced(capsys, "test.toml", "--call", "ssthresh")
    assert len(calls) > 1
    assert all(call["returns"] == max(call["read"]["snd_cwnd"] // 2, 2) for call in calls)
    other = traced(capsys, "test.toml", "--call", "ssthresh", "--set", "keep=717")
    assert other[0]["returns"] == other[0]["read"]["snd_cwnd"] * 717 // 1024


def test_filters_choose_calls_and_the_limit_bounds_them(capsys: pytest.CaptureFixture[str]) -> None:
    calls = traced(capsys, "test.toml", "--from", "2 s", "--to", "3 s", "--changes", "--limit", "1000")
    assert calls
    assert all(2e9 <= call["time_ns"] < 3e9 for call in calls)
    assert all(any(before != after for before, after in call["set"].values()) for call in calls)
    several = ["--case", "itself/4-20ms-1bdp", "--flow", "mine.3", "--limit", "3"]
    assert invoke(["cc", "trace", "mine.bpf.c", *several]) == 0
    shown = capsys.readouterr()
    assert shown.out.count("mine.3  ") == 3
    assert "mine.1" not in shown.out
    assert "    set    state.acked 0 -> 0, as before" in shown.out
    assert "snd_ssthresh infinite" in shown.out
    assert shown.err == "and more: --limit 30 shows ten times as many\n"
    assert list(Path().glob("runs")) == []


def test_state_in_socket_storage_has_the_names_of_its_map_and_its_members(capsys: pytest.CaptureFixture[str]) -> None:
    text = Path("mine.bpf.c").read_text()
    state = "struct state *state = inet_csk_ca(sk);"
    create = "bpf_sk_storage_get(&flows, sk, NULL, BPF_SK_STORAGE_GET_F_CREATE)"
    stored = f"struct state *state = {create};\n\tif (!state) return;"
    map_of_flows = (
        "\nstruct { __uint(type, BPF_MAP_TYPE_SK_STORAGE); __uint(map_flags, BPF_F_NO_PREALLOC); __type(key, int); "
        '__type(value, struct state); } flows SEC(".maps");\n'
    )
    private = traced(capsys, "test.toml", "--limit", "500")
    declared = text.index("};") + 2
    Path("mine.bpf.c").write_text(text[:declared] + map_of_flows + text[declared:].replace(state, stored))
    assert text.count(state) == 2
    calls = traced(capsys, "test.toml", "--limit", "500")
    assert any("flows.acked" in call["set"] for call in calls)
    assert json.loads(json.dumps(private).replace("state.", "flows.")) == calls


def test_a_program_that_stops_the_run_shows_its_last_call(capsys: pytest.CaptureFixture[str]) -> None:
    text = Path("mine.bpf.c").read_text()
    line = "\tstate->acked += acked;\n"
    Path("mine.bpf.c").write_text(text.replace(line, line + "\t*(volatile __u32 *)((char *)state + 4000) = 1;\n"))
    assert invoke(["cc", "trace", "mine.bpf.c", "test.toml", "--call", "cong_avoid", "--limit", "10000"]) == 1
    shown = capsys.readouterr()
    last = shown.out.splitlines()[-1]
    assert last.startswith("    stops  it writes 4 bytes where it may not write (mine.bpf.c:35: ")
    assert "error: the congestion control mine" in shown.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["mine.bpf.c", "test.toml", "--call", "ssthres"], "did you mean ssthresh?"),
        (["mine.bpf.c", "test.toml", "--flow", "h1"], "--flow h1: the scenario has no such flow"),
        (["mine.bpf.c", "--case", "loss"], "loss is a group of 12 networks"),
        (["mine.bpf.c", "--from", "soon"], "--from soon is not a time"),
        (["other.bpf.c"], "other.bpf.c: no such file"),
    ],
)
def test_bad_input_is_told_in_words(arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["cc", "trace", *arguments]) == 2
    assert said in capsys.readouterr().err


def test_callbacks_are_those_that_the_interpreter_calls() -> None:
    source = (Path(__file__).parents[2] / "crates/bpf-vm/src/callbacks.rs").read_text()
    assert re.findall(r'"(\w+)" => &mut self', source) == list(CALLBACKS)

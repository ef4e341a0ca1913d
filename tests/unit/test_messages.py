"""Sentences of the program: counts, values that are refused, and hints that do not mislead."""

from __future__ import annotations

import json
import re
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import typer

import dumbbell
from dumbbell import cli
from dumbbell.captures import warnings
from dumbbell.cli import invoke
from dumbbell.cli.run import print_run
from dumbbell.cli.study import _redone
from dumbbell.counts import by_number, count, listed, ordinal
from dumbbell.engines.realm import machine
from dumbbell.errors import DamagedFile
from dumbbell.labs.shell.look import described
from dumbbell.plan.expand import expand
from dumbbell.scenario.file.loading import load
from dumbbell.scenario.traffic.bursts import Burst
from dumbbell.units import BufferSize, Percent, QuantityError, Rate, Size, Time


def test_counts_agree_with_their_nouns() -> None:
    assert [count(n, "run") for n in (0, 1, 2, 1204)] == ["0 runs", "1 run", "2 runs", "1,204 runs"]
    assert [count(n, "reply", "replies") for n in (1, 2)] == ["1 reply", "2 replies"]
    assert count(12345) == "12,345"
    assert [by_number(n, "is", "are") for n in (0, 1, 2)] == ["are", "is", "are"]
    numbers = (1, 2, 3, 4, 11, 12, 13, 21, 102, 111)
    assert [ordinal(n) for n in numbers] == [
        "1st",
        "2nd",
        "3rd",
        "4th",
        "11th",
        "12th",
        "13th",
        "21st",
        "102nd",
        "111th",
    ]
    assert [listed("abc"[:n], "or") for n in range(4)] == ["", "a", "a or b", "a, b or c"]


@pytest.mark.parametrize(
    ("attempts", "cured", "said"),
    [
        (1, 1, "Repeated 1 disturbed run; it is now valid."),
        (2, 2, "Repeated 2 disturbed runs; both are now valid."),
        (9, 9, "Repeated 9 disturbed runs; all are now valid."),
        (3, 1, "Repeated disturbed runs in 3 attempts; 1 run is now valid."),
        (3, 0, "Repeated disturbed runs in 3 attempts; no run is now valid."),
    ],
)
def test_disturbed_runs(attempts: int, cured: int, said: str) -> None:
    assert _redone(attempts, cured) == said


@pytest.mark.parametrize(
    ("notes", "sums", "said"),
    [
        ({"damages": 1}, {}, "The file is damaged in one place; reading continued after it."),
        ({"damages": 3}, {}, "The file is damaged in 3 places; reading continued after each."),
        (
            {},
            {"unseen_bytes": 1},
            "The capture lacks packets: 1 byte was acknowledged but not captured. Loss counts are upper bounds.",
        ),
        ({}, {"one_sided": 1}, "Packets of one direction only: 1 connection."),
        ({}, {"capture_duplicates": 1}, "1 packet was captured twice and counts once."),
        ({}, {"capture_duplicates": 2}, "2 packets were captured twice and count once."),
        (
            {},
            {"capture_duplicates": 2, "packets": 2},
            "The capture holds each packet twice, as one of all interfaces (tcpdump -i any) does on a bridge or a "
            "router: 2 copies were left out. To capture packets once, name one interface.",
        ),
        ({"capture_drops": 1}, {}, "The capturing program dropped 1 packet, as the file says."),
        (
            {"backward_steps": 1, "largest_backward_step_ns": 2_000_000},
            {},
            "The clock went backwards 1 time, by at most 2.000 ms.",
        ),
        ({"unknown_links": [(147, 1)]}, {}, "Not read: 1 packet of link type 147, which dumbbell does not know."),
    ],
)
def test_what_limits_a_capture(notes: dict[str, Any], sums: dict[str, int], said: str) -> None:
    every = Counter[str](notes)

    def total(table: str, *columns: str) -> tuple[int, ...]:
        return tuple(sums.get(column, 0) for column in columns)

    summary = {"notes": {"unknown_links": [], **dict.fromkeys(_NOTES, 0), **every}, "evicted": 0}
    assert warnings.of(summary, total) == [said]


_NOTES = ("capture_drops", "damages", "cut_files", "headless_frames", "overlapping_files", "backward_steps")


REFUSED = [
    ("report x --confidence abc", "--confidence must be 90, 95 or 99\n  given: abc\nhint: omit it for 95\n"),
    ("compare x y --confidence 42", "--confidence must be 90, 95 or 99\n  given: 42\n"),
    ("run one.toml --repeat abc", "--repeat must be a whole number\n  given: abc\nhint: dumbbell run --help"),
    ("run one.toml --repeat 1.5", "--repeat must be a whole number\n  given: 1.5\n"),
    ("run one.toml --jobs 0", "--jobs must be at least 1\n  given: 0\n"),
    ("ui --port 65536", "--port must be at most 65535\n  given: 65536\n"),
    ("lab capture h1 --seconds soon", "--seconds must be a number\n  given: soon\n"),
    ("pcap x --at nowhere", "--at must be sender, receiver or middle\n  given: nowhere\n"),
    ("pcap x --interval 0ms", '--interval must be greater than zero\n  given: 0ms\nhint: --interval "100 ms"\n'),
    ("pcap x --interval soon", "--interval soon is not a time\n"),
]


@pytest.mark.parametrize(("line", "said"), REFUSED)
def test_an_option_with_another_value(line: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(line.split()) == 2
    assert capsys.readouterr().err.startswith(f"error: {said}")


HINTS = [
    (Percent, "0.005", 'is it "0.5 %" or "0.005 %"?'),
    (Percent, 1, 'is it "100 %" or "1 %"?'),
    (Percent, "50", 'write "50 %"'),
    (Percent, "5 ‰", '5 ‰ is "0.5 %"'),
    (Rate, "10000000", 'write "10000000 Mbit/s" or "10000000 bit/s"'),
    (Rate, "100 MBps", 'rates are in bits: 100 MBps is "800 Mbit/s"'),
    (Rate, "10 KB/s", 'units are case-sensitive: write "80 kbit/s"'),
    (Rate, "100 mb/s", 'units are case-sensitive: write "100 Mbit/s"'),
    (Rate, "1g", 'write "1 Gbit/s"'),
    (Size, "1 mb", 'units are case-sensitive: is it "1 MB", or 1 Mb ("125 kB")?'),
    (Size, "64 K", 'write "64 kB" or "64 KiB"'),
    (Time, "2 minutes", 'write "2 min"'),
    (Time, "100 msec", 'write "100 ms"'),
    (Time, "1.5 h", '1.5 h is "90 min"'),
    (Time, "soon", 'for example "30 ms"'),
    (Burst, "1 Mbit", '1 Mbit is "125 kB"'),
    (Burst, "2 h", '2 h is "120 min"'),
    (BufferSize, "80 Mb", 'sizes are in bytes: 80 Mb is "10 MB"'),
    (BufferSize, "100 pkt", 'write "100 packets"'),
]


@pytest.mark.parametrize(("kind", "given", "hint"), HINTS)
def test_a_hint_keeps_the_size_of_a_value_or_asks(kind: Any, given: object, hint: str) -> None:
    with pytest.raises(QuantityError) as caught:
        kind.parse(given)
    assert caught.value.hint == hint
    for text in re.findall('"(.*?)"', hint):
        kind.parse(text)


def test_a_file_here_is_suggested(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("one.toml").touch()
    assert invoke(["plan", "one"]) == 2
    assert capsys.readouterr().err == "error: no bundled scenario is named one\nhint: did you mean ./one.toml?\n"


def test_a_capture_of_a_similar_name_is_suggested(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("slow.pcap").touch()
    assert invoke(["pcap", "slow.pcpa"]) == 2
    assert capsys.readouterr().err == "error: slow.pcpa: no such file\nhint: did you mean slow.pcap?\n"


def test_a_folder_that_cannot_be_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Root may write anywhere, but not below a file."""
    (tmp_path / "file").touch()
    assert invoke(["scenarios", "copy", "single-flow", str(tmp_path / "file" / "mine.toml")]) == 2
    said = capsys.readouterr().err
    assert said.endswith("hint: choose a file in another folder: dumbbell scenarios copy single-flow FILE\n")
    assert "--output" not in said


def test_a_default_algorithm_that_no_host_may_have(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "net/ipv4").mkdir(parents=True)
    (tmp_path / "net/ipv4/tcp_congestion_control").touch()
    (tmp_path / "net/ipv4/tcp_allowed_congestion_control").write_text("reno bbr\n")
    monkeypatch.setattr(machine, "SYSCTLS", tmp_path)
    scenario = load("single-flow", ['hosts.h1.sysctl."net.ipv4.tcp_congestion_control"=cubic'])
    problems = [problem for problem in machine.check(scenario, expand(scenario)) if "sysctl" in problem.key]
    assert [(problem.wrong, problem.hint) for problem in problems] == [
        ("this kernel lets no host have cubic as its default", 'set it per flow: cc = "cubic"')
    ]


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ('expect=[{metric="jain_index",within=["1 %"]}]', "too short\n  expected at least 2 items"),
        ('expect=[{metric="jain_index",within=["1 %","2 %","3 %"]}]', "too long\n  expected at most 2 items"),
        ('emulate.kernel="a b"', "invalid name\n  expected at most 64 letters, digits, `.`, `_`, `+` and `-`"),
        ("seed=1.5", "not an integer\n  expected a whole number"),
    ],
)
def test_a_key_with_another_value(setting: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    """In our words: none of pydantic's."""
    assert invoke(["plan", "buffer-sweep", "--set", setting]) == 2
    assert f": {said}" in capsys.readouterr().err


def test_a_name_with_a_space(capsys: pytest.CaptureFixture[str]) -> None:
    assert invoke(["plan", "bbr-vs-cubic", "--set", "name=my run"]) == 2
    assert capsys.readouterr().err == (
        "error: --set name=my run: invalid name\n"
        "  expected at most 64 letters, digits, `.`, `_` and `-`, a letter or digit first; no spaces\n"
        'hint: write name = "my-run"\n'
    )


def _commands() -> list[str]:
    groups = {verb: typer.main.get_command(cli.app).get_command(None, verb) for verb in cli.VERBS}  # type: ignore[attr-defined]
    return [
        " ".join(filter(None, [verb, inner])) for verb, command in groups.items() for inner in ("", *_inner(command))
    ]


def _inner(command: Any) -> list[str]:
    return list(getattr(command, "commands", ()))


@pytest.mark.parametrize("line", ["", *_commands()])
def test_help_fills_its_lines(line: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """A line ends where the next word would not fit into 80 columns, or where its paragraph ends."""
    monkeypatch.setenv("COLUMNS", "80")
    assert invoke([*line.split(), "--help"]) == 0
    prose = capsys.readouterr().out.partition("╭")[0].rstrip().splitlines()
    assert all(len(one) <= 80 for one in prose)
    after_usage = next(i for i, one in enumerate(prose) if "Usage:" in one) + 1
    for one, following in pairwise(prose[after_usage:]):
        if one.strip() and following.strip():
            assert len(one.rstrip()) + 1 + len(following.split()[0]) >= 79, one


def test_a_link_of_a_lab_has_the_values_of_its_impairments() -> None:
    plan = expand(
        load(
            "single-flow",
            [
                'topology.bottleneck.loss="0.5 %"',
                'topology.bottleneck.jitter="2 ms"',
                'topology.bottleneck.buffer="1 packet"',
            ],
        )
    )
    links = {link.name: link for link in plan.links}
    told = described(links["bottleneck"])
    assert told.endswith("buffer 1 packet, loss 0.5 % before the queue, jitter uniform 0 s to 2 ms, in order"), told
    assert "loss" not in described(links["bottleneck-reverse"])


def test_runs_in_a_folder_that_does_not_exist(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for verb in ("list", "clean"):
        assert invoke(["runs", verb, "--in", "nowhere"]) == 2
        assert capsys.readouterr().err.startswith("error: --in nowhere: no such folder\n")
    assert invoke(["runs", "list"]) == 0
    assert capsys.readouterr().out.startswith("0 runs, ")


def test_runs_of_cells_are_told_apart(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """By the values of the cell, and the seed of the repetition."""
    command = ["run", "single-flow", "--engine", "simulate", "--set", "duration=0.1 s", "--no-report", "--quiet"]
    study = [*command, "--vary", "flows.0.cc=cubic,reno", "--repeat", "2", "--output", str(tmp_path)]
    for cell, repetition in ((0, 1), (1, 0)):
        assert invoke([*study, "--cell", str(cell), "--repetition", str(repetition)]) == 0
    capsys.readouterr()
    assert invoke(["runs", "list", "--in", str(tmp_path), "--json"]) == 0
    told = [one["overrides"] for one in reversed(json.loads(capsys.readouterr().out))]
    assert told == [
        ["duration=0.1 s", 'flows.0.cc="cubic"', 'starts="10 ms"', "seed=2"],
        ["duration=0.1 s", 'flows.0.cc="reno"', 'starts="10 ms"', "seed=1"],
    ]


def test_a_warning_is_printed_once(capsys: pytest.CaptureFixture[str]) -> None:
    for _ in range(2):
        cli._warn(DamagedFile("x.json cannot be read"), DamagedFile, "x.py", 1)
    assert capsys.readouterr().err == "warning: x.json cannot be read\n"


def test_goodputs_above_the_capacity_are_explained(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each is of its flow's own time; flows of the same time never add up to more."""
    flows = [{"from": "s1", "to": "r1", "stop": "1 s"}, {"from": "s2", "to": "r2", "start": "1 s"}]
    network = {"kind": "dumbbell", "pairs": 2, "rtt": "10 ms", "bottleneck": {"rate": "10 Mbit/s", "buffer": "1 bdp"}}
    scenario = {"name": "turns", "duration": "2 s", "topology": network, "flows": flows}
    in_turns = dumbbell.run(scenario, directory=tmp_path, engine="simulate", report=False)
    assert isinstance(in_turns, dumbbell.Run)
    print_run(in_turns, report=False)
    said = re.search(r"note: The goodputs across bottleneck add up to (.*) Mbit/s, more than", capsys.readouterr().out)
    assert said is not None
    assert 15 < float(said[1]) < 20
    assert "The goodputs across bottleneck add up to" in in_turns.report().read_text(encoding="utf-8")
    scenario["flows"] = [{"from": "s1", "to": "r1"}, {"from": "s2", "to": "r2"}]
    at_once = dumbbell.run(scenario, directory=tmp_path, engine="simulate", report=False)
    assert isinstance(at_once, dumbbell.Run)
    print_run(at_once, report=False)
    assert "The goodputs" not in capsys.readouterr().out

"""Files of strangers at the command line: each verb refuses what is no file or no name, at once, with a message."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from itertools import chain, islice
from pathlib import Path
from types import FrameType
from typing import Any, Final

import pytest
import typer
from stages import thorough_after
from synthetic_run import Synthetic

from dumbbell.cli import app, invoke
from dumbbell.cli.tables import print_table
from dumbbell.table import Table

LONGEST_S: Final = 30
PARTS: Final = 5
"""Parts of all calls: each has every verb, and `make test` makes the calls of one."""
SUFFIXES: Final = {
    "cc": (".bpf.c", ".bpf.o", ".c"),
    "pcap": (".pcap",),
    "import": (".mn", ".yml", ".conf"),
    "kernel": ("", ".deb", ".tar.xz", ".patch"),
}
"""Suffixes by which verbs tell files; for other verbs, those of scenarios and of directories."""
OTHERS: Final = ("", ".toml")
NAMES: Final = ("x" * 300, "a\nb", "a\x1b[2Jb", os.fsdecode(b"byte-\xff"), "..", "/dev/zero")
KINDS: Final = ("pipe", "socket", "huge", "loop")
FOLDERS: Final = ("piped", "linked")
FILES: Final = frozenset(
    ["DIR", "DIRECTORY", "FILE", "PATH", "NAME", "DIR|TARBALL", "[NAME]", "[SCENARIO]", "[NAME|FILE]"]
)
"""Metavariables of options and of arguments that may be omitted."""
SUCCEED: Final = frozenset(["runs list", "runs clean", "runs remove", "reproduce", "cc headers", "cc new"])
"""Verbs that take any folder, or pass over what they do not know."""
WITH: Final = {"kernel build": ["--source", "nothing.tar.xz"]}
"""Options without which a verb would do its work."""
WRITTEN: Final = frozenset(["--output", "-o", "--xplot", "--events", "--uds"])
"""Options that name what is written: that may be a pipe, which somebody reads."""


def build(folder: Path) -> None:
    """Fill a folder with all kinds of what is no file."""
    for suffix in {*OTHERS, *chain(*SUFFIXES.values())}:
        os.mkfifo(folder / f"pipe{suffix}")
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(os.fspath(folder / f"socket{suffix}"))
        with (folder / f"huge{suffix}").open("wb") as file:
            file.truncate(1 << 40)
        (folder / f"loop{suffix}").symlink_to(f"loop{suffix}")
    for name in ("manifest.json", "plan.json", "study.json", "summary.json", "lab.conf", "Makefile", "capture.json"):
        for inside in FOLDERS:
            (folder / inside).mkdir(exist_ok=True)
        os.mkfifo(folder / "piped" / name)
        (folder / "linked" / name).symlink_to("/dev/zero")


def verbs(command: Any, words: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], list[Any]]]:
    """Each verb with its arguments and options."""
    inner = getattr(command, "commands", None)
    if not inner:
        yield words, command.params
        return
    context = typer.Context(command)
    for name in command.list_commands(context):
        yield from verbs(command.get_command(context, name), (*words, name))


def calls() -> Iterator[tuple[tuple[str, ...], list[str]]]:
    """The words of each verb, and what it is given."""
    for words, parameters in verbs(typer.main.get_command(app)):
        suffixes = SUFFIXES.get(words[0], OTHERS)
        values = [
            *NAMES,
            *(f"{kind}{suffix}" for kind in KINDS for suffix in suffixes),
            *FOLDERS,
            "./piped",
            "./linked",
        ]
        needed = [one for one in parameters if one.param_type_name == "argument" and one.required]
        for one in parameters:
            is_option = one.param_type_name == "option"
            more = [] if one.opts[0] == "--source" else WITH.get(" ".join(words), [])
            if one not in needed and (one.metavar not in FILES or one.opts[0] in WRITTEN):
                continue
            for value in values:
                others = ["nothing.toml" if other is not one else value for other in needed]
                given = [*others, one.opts[0], value] if is_option else others if one in needed else [*others, value]
                yield words, [*given, *more]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr("sys.stdin", None)
    build(tmp_path)
    return tmp_path


def late(number: int, frame: FrameType | None) -> None:
    raise TimeoutError(f"it takes more than {LONGEST_S} s")


@pytest.mark.parametrize("part", thorough_after(1, range(PARTS)))
def test_no_verb_waits_or_fails_otherwise_than_with_a_message(
    folder: Path, capsys: pytest.CaptureFixture[str], part: int
) -> None:
    """The codes are 2, or 1 for a file of a run that is damaged, or what the kernel refuses."""
    former, wrong, count = signal.signal(signal.SIGALRM, late), [], 0
    try:
        for words, given in islice(calls(), part, None, PARTS):
            if words[0] == "ui":  # Its folder is served, and nothing in it is read before a request asks.
                continue
            count += 1
            signal.alarm(LONGEST_S)
            try:
                code: Any = invoke([*words, *given])
            except BaseException as error:
                code = repr(error)
            signal.alarm(0)
            said = capsys.readouterr()
            may_succeed = code == 0 and " ".join(words) in SUCCEED
            if not may_succeed and (code not in (1, 2) or not said.err.startswith("error: ")):
                wrong.append((*words, *(one[:40] for one in given), code, said.err[:200]))
            if "\x1b[2J" in said.err + said.out:
                wrong.append((*words, "has an escape sequence"))
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, former)
    assert not wrong, "\n".join(map(str, wrong[:30]))
    assert count > 500 / PARTS


def test_settings_of_matplotlib_in_the_working_directory_are_not_read(tmp_path: Path) -> None:
    """They may start LaTeX. A pipe shows it: whoever opens it waits for ever."""
    run = Synthetic().write(tmp_path / "runs" / "theirs")
    os.mkfifo(tmp_path / "matplotlibrc")
    command = [sys.executable, "-P", "-m", "dumbbell", "report", "runs/theirs", "--format", "svg"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, timeout=120, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert list(run.glob("*.svg"))


def test_a_terminal_obeys_no_note_of_an_import(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    odd = "\x1b[2J\x9b31m\u202e\r"
    node = {"kind": "linux", odd: odd, "image": odd, "exec": [odd]}
    links = [{"endpoints": ["a:eth1", "b:eth1"], odd: odd}]
    file = tmp_path / "odd.clab.yml"
    file.write_text(json.dumps({"topology": {"nodes": {"a": node, "b": {}}, "links": links}}))
    assert invoke(["import", str(file)]) == 0
    told = capsys.readouterr()
    assert "the key [2J 31m of nodes is left out" in told.err
    assert not set(odd) - set("[2J31m") & set(told.out + told.err)


def test_a_terminal_obeys_no_name_of_a_flow_or_a_column(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    odd = "\x1b[2J\u202e"
    run = Synthetic(duration_s=2, packets=False).write(tmp_path / "run")
    summary = json.loads((run / "summary.json").read_text())
    for flow in summary["flows"]:
        flow["label"] = odd
    (run / "summary.json").write_text(json.dumps(summary))
    assert invoke(["report", str(run), "--format", "iperf"]) == 0
    print_table(Table(odd, [odd], [[odd]]))
    told = capsys.readouterr().out
    assert "[  1]" in told
    assert not set("\x1b\u202e") & set(told)

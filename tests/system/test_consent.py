"""A run starts the programs that were listed before, and dumbbell's own: as the kernel tells it, not as we do."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import exec_log
import pytest
from harness import Place

from dumbbell.scenario.file.loading import read
from dumbbell.studies.programs import programs

SCENARIO = """\
name = "listed"
duration = "2 s"
[topology]
kind = "dumbbell"
pairs = 1
rtt = "4 ms"
[topology.bottleneck]
rate = "5 Mbit/s"
[[flows]]
from = "s1"
to = "r1"
[[flows]]
from = "s1"
to = "r1"
[[programs]]
node = "r1"
command = "touch program"
ready = "exit"
"""
SWEEP = '[sweep]\n\'flows.1."comm\\u0061nd"\' = ["touch first", "touch second"]\n'


@pytest.mark.parametrize(
    ("text", "listed"),
    [(SCENARIO, ["touch program"]), (SCENARIO + SWEEP, ["touch program", "touch first", "touch second"])],
    ids=["run", "study"],
)
def test_a_run_starts_what_was_listed(here: Place, text: str, listed: list[str]) -> None:
    scenario = here.directory / here.write(text)
    assert programs(read(scenario)) == tuple(listed)
    started = started_by(here, "run", str(scenario), "--quiet")
    theirs = [words for words in started if not is_own(words)]
    # Each line by a shell of its own; a shell may become the line's last program.
    lines = [words[2] for words in theirs if words[:2] == ["/bin/sh", "-c"]]
    assert sorted(set(lines)) == sorted(listed)
    assert {" ".join(words) for words in theirs if words[:2] != ["/bin/sh", "-c"]} == set(listed)
    assert any(is_own(words) for words in started)


def started_by(place: Place, *words: str) -> list[list[str]]:
    """The programs that `dumbbell` starts, with their arguments."""
    return traced(place, *place.command(*words))


def traced(place: Place, *command: str) -> list[list[str]]:
    """The programs that a command starts, itself the first."""
    log = place.directory / "log"
    done = subprocess.run(
        [sys.executable, exec_log.__file__, str(log), *command],
        cwd=place.directory,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode in (0, 3), done.stderr
    return [json.loads(line) for line in log.read_text().splitlines()]


PLAIN = SCENARIO.partition("[[programs]]")[0] + "[record]\ncapture = true\n"
READING = (
    "run plain.toml --engine simulate --quiet",
    "run plain.toml --engine simulate --quiet --repeat 2",
    "pcap runs/{run}/capture.pcapng",
    "report runs/{run} capture.pcapng.analysis",
    "compare runs/{run} runs/{run}",
    "query studies/{study} SELECT",
    "report studies/{study}",
    "runs list",
    "export plain.toml --output plain.mn",
    "import plain.mn --output imported.toml",
)
"""Commands that start nothing, whatever they are given."""


@pytest.mark.thorough
def test_files_are_read_without_starting_anything(here: Place) -> None:
    (here.directory / "plain.toml").write_text(PLAIN)
    for line in READING:
        names = {}
        for kind, folder in (("run", "runs"), ("study", "studies")):
            names[kind] = next((one.name for one in (here.directory / folder).glob("listed-*")), "")
        words = ["select 1" if word == "SELECT" else word for word in line.format(**names).split()]
        assert [one for one in started_by(here, *words) if not is_own(one)] == [], line


def test_a_lab_starts_what_is_typed(apart: Place) -> None:
    (apart.directory / "plain.toml").write_text(PLAIN)
    verbs = (["up", "plain.toml", "--detach"], ["exec", "s1", "touch", "typed"], ["down"])
    lines = [shlex.join(apart.command("lab", *words)) for words in verbs]
    # With its tracer, a lab ends: all commands have the same one.
    started = traced(apart, "/bin/sh", "-c", " && ".join(lines))
    assert [words for words in started[1:] if not is_own(words)] == [["touch", "typed"]]


def is_own(words: list[str]) -> bool:
    """True of dumbbell's own processes."""
    return words[0] == sys.executable and any(word.partition(".")[0] == "dumbbell" for word in words[1:5])


def test_the_log_misses_nothing(tmp_path: Path) -> None:
    line = "true one; (sh -c 'true two; exec true three' &); python -c ''; wait"
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    command = [sys.executable, exec_log.__file__, str(tmp_path / "log"), "/bin/sh", "-c", f"{line}; exit 7"]
    done = subprocess.run(command, env={**os.environ, "PATH": path}, timeout=60, check=False)
    assert done.returncode == 7
    started = [json.loads(one) for one in (tmp_path / "log").read_text().splitlines()]
    assert ["python", "-c", ""] in started
    assert started[0][-1].startswith(line)

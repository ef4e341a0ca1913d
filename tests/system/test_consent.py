"""A run starts the programs that were listed before, and dumbbell's own: as the kernel tells it, not as we do."""

from __future__ import annotations

import json
import os
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
duration = "500 ms"
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
    log = here.directory / "log"
    done = subprocess.run(
        [sys.executable, exec_log.__file__, str(log), *here.command("run", str(scenario), "--quiet")],
        cwd=here.directory,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode in (0, 3), done.stderr
    started = [json.loads(line) for line in log.read_text().splitlines()]
    theirs = [words for words in started if not is_own(words)]
    # Each line by a shell of its own; a shell may become the line's last program.
    lines = [words[2] for words in theirs if words[:2] == ["/bin/sh", "-c"]]
    assert sorted(set(lines)) == sorted(listed)
    assert {" ".join(words) for words in theirs if words[:2] != ["/bin/sh", "-c"]} == set(listed)
    assert any(is_own(words) for words in started)


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

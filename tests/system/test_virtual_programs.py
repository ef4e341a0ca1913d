"""Programs of the machine as flows of a kernel in virtual time."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from scenarios import path
from stages import thorough_after

import dumbbell
from dumbbell.engines.names import VIRTUAL

FILE = 200_000
"""Bytes that the client gets."""


@pytest.mark.parametrize("server", thorough_after(1, ["{server}", "h2"]), ids=["address", "name"])
def test_a_server_that_looks_up_its_name_serves(tmp_path: Path, server: str) -> None:
    """Python's server asks for the name of its address before it listens: in a lab somebody must know it at once."""
    (tmp_path / "served").mkdir()
    (tmp_path / "served" / "file").write_bytes(bytes(FILE))
    serve = f"python3 -m http.server {{port}} --bind {{server}} --directory {tmp_path}/served"
    get = f"curl -sS -o {tmp_path}/got http://{server}:{{port}}/file"
    entry = f'server_command = "{serve}"\ncommand = "{get} && wc -c < {tmp_path}/got"'
    text = path(f'[[flows]]\nfrom = "h1"\nto = "h2"\n{entry}\n', duration="2 s")
    run = dumbbell.run(tomllib.loads(text), directory=tmp_path / "runs", engine=VIRTUAL, report=False)
    assert run.verdict == "valid", run.summary["reasons"]
    assert (run.directory / "logs" / "f1.stdout").read_text().strip() == str(FILE)
    assert '"GET /file HTTP/1.1" 200' in (run.directory / "logs" / "f1.server.stderr").read_text()


def test_time_passes_for_a_program_that_asks_again_and_again(tmp_path: Path) -> None:
    """Some poll without waiting until a moment has come, as routing daemons do before each of their timers."""
    program = tmp_path / "asks.py"
    program.write_text(
        "import select, time\n"
        "asked, poll, end = 0, select.poll(), time.monotonic() + 1\n"
        "while time.monotonic() < end:\n"
        "    poll.poll(0)\n"
        "    asked += 1\n"
        "print(asked)\n"
    )
    text = path(f'[[flows]]\nfrom = "h1"\nto = "h2"\ncommand = "python3 {program}"\n', duration="2 s")
    run = dumbbell.run(tomllib.loads(text), directory=tmp_path / "runs", engine=VIRTUAL, report=False)
    asked = int((run.directory / "logs" / "f1.stdout").read_text())
    # Each answer but the first few takes 50 us.
    assert 19_000 < asked <= 20_010

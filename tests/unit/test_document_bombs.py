"""JSON documents of a stranger: small ones of which errors, or objects of Python, would fill this machine's memory.

Each took gigabytes, or minutes, before.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from dumbbell.documents import MOST_VALUES
from dumbbell.errors import Damaged
from dumbbell.hunt.log import Log
from dumbbell.records.files import lock, read_json
from dumbbell.server.going import Lookout

MOST_MB = 600
"""Memory of a process that reads one, Python and its packages included. Those before took 1,000 to 18,000."""
_MEASURED = """
from pathlib import Path
from dumbbell.errors import Damaged
try:
    {read}
except Damaged as error:
    print(error)
# Unlike `getrusage`, this has nothing of the process that has started this one.
status = Path("/proc/self/status").read_text()
print(int(status.partition("VmHWM:")[2].split()[0]) >> 10)
"""
_ITEMS = '{"":0},' * 400_000


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ('{"flows": [%s 0]}', "from dumbbell.records.model import summary; summary(Path('.'))"),
        ('{"a": [%s 0]}', "from dumbbell.studies.model import manifest; manifest(Path('.'))"),
        ('{"notes": {"a": [%s 0]}}', "from dumbbell.captures.model import summary; summary(Path('.'))"),
        ('{"nodes": [{"a": [%s 0]}]}', "from dumbbell.records.plan import read_plan; read_plan(Path('plan.json'))"),
        ('{"fit": {"a": [%s 0]}}', "from dumbbell.fitting.profile import read; read(Path('profile.json'))"),
    ],
    ids=["summary", "study", "capture", "plan", "profile"],
)
def test_errors_of_a_document_take_little_memory(tmp_path: Path, text: str, read: str) -> None:
    for name in ("summary.json", "study.json", "capture.json", "plan.json", "profile.json"):
        (tmp_path / name).write_text(text % _ITEMS)
    command = [sys.executable, "-c", _MEASURED.format(read=read)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=True)
    *_, size = done.stdout.split()
    assert "cannot be read" in done.stdout
    assert int(size) < MOST_MB


@pytest.mark.parametrize("item", ["[],", "{},", "0,", '"",'])
def test_a_document_of_very_many_values_is_refused_before_it_is_parsed(tmp_path: Path, item: str) -> None:
    (tmp_path / "traffic.json").write_text(f'{{"a": [{item * MOST_VALUES} 0]}}')
    with pytest.raises(Damaged, match="1,500,000 values"):
        read_json(tmp_path / "traffic.json")


@pytest.mark.parametrize(
    ("folder", "manifest", "name"),
    [("runs/.partial-a-000000000000-1", "manifest.json", "lock"), ("studies/a-000000000000", "study.json", "lock")],
)
def test_documents_of_what_does_not_go_on_are_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder: str, manifest: str, name: str
) -> None:
    """The page looks for what goes on again and again; a stranger's folder may have thousands of large documents."""
    place = tmp_path / folder
    place.mkdir(parents=True)
    (place / manifest).write_text('{"status": "running", "scenario_source": "a.toml"}')
    (place / name).touch()
    looked: list[Path] = []

    def seen(read: Callable[[Path], object]) -> Callable[[Path], object]:
        return lambda path: (looked.append(path), read(path))[1]

    monkeypatch.setattr("dumbbell.server.going.read_json", seen(read_json))
    lookout = Lookout(tmp_path)
    assert "a.toml" not in lookout.look()
    assert looked == []
    with lock(place / name):
        assert "a.toml" in lookout.look()
    assert looked == [place / manifest]


def test_a_long_line_of_a_hunt_is_refused_before_it_is_parsed(tmp_path: Path) -> None:
    (tmp_path / "log.jsonl").write_text(f'{{"events": [{"[]," * 100_000} 0]}}\n')
    with pytest.raises(Damaged, match="line 1: it has more than 64 KiB"):
        Log(tmp_path / "log.jsonl")


def test_the_log_of_a_hunt_is_bounded_as_a_whole(tmp_path: Path) -> None:
    """Each of its lines takes ten times as much memory: one of 1 GiB took more than machines have."""
    log = tmp_path / "log.jsonl"
    with log.open("wb") as file:
        file.truncate(200 << 20)
    with pytest.raises(Damaged, match=r"More than 128 MiB(?s:.*)the same command begins anew"):
        Log(log)
    assert log.stat().st_size == 200 << 20

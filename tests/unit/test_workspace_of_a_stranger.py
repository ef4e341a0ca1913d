"""A folder of a stranger's brings no code of Python into the program, and leads it to no files of others."""

from __future__ import annotations

import ast
import os
import subprocess
from pathlib import Path

import pytest

import dumbbell
from dumbbell.errors import InputError
from dumbbell.records import files
from dumbbell.server.children import COMMAND
from dumbbell.server.journal import journals
from dumbbell.server.runs import _events
from dumbbell.studies import directory


def test_a_module_in_the_folder_is_not_imported(tmp_path: Path) -> None:
    for name in ("dumbbell", "json"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("open('taken', 'w')\n")
    done = subprocess.run([*COMMAND, "--version"], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert (done.returncode, (tmp_path / "taken").exists()) == (0, False), done.stderr


def test_each_start_of_python_leaves_out_the_working_directory() -> None:
    """`-P` stands behind `sys.executable` wherever it begins a command with `-m` or `-c`."""
    starts = []
    for file in Path(dumbbell.__file__).parent.rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.List | ast.Tuple) and node.elts and ast.unparse(node.elts[0]) == "sys.executable":
                starts.append((file.name, [ast.unparse(one) for one in node.elts[1:3]]))
    assert len(starts) >= 6
    assert [start for start in starts if start[1][0] != "'-P'"] == []


@pytest.mark.parametrize("part", ["shards", "runs", "lock", "study.json"])
def test_a_study_whose_part_is_a_link_is_refused(tmp_path: Path, part: str) -> None:
    (tmp_path / "precious" / "inside").mkdir(parents=True)
    (tmp_path / "study").mkdir()
    (tmp_path / "study" / part).symlink_to(tmp_path / "precious")
    with pytest.raises(InputError, match="is a link"), directory.locked(tmp_path / "study"):
        pass
    assert (tmp_path / "precious" / "inside").is_dir()


def test_a_lock_that_is_a_link_makes_no_file(tmp_path: Path) -> None:
    (tmp_path / ".lock").symlink_to(tmp_path / "made")
    with pytest.raises(OSError, match=os.strerror(40)), files.lock(tmp_path / ".lock"):
        pass
    assert not (tmp_path / "made").exists()


def test_a_journal_of_a_stranger_is_passed_over(tmp_path: Path) -> None:
    folder = tmp_path / "edits"
    folder.mkdir()
    (folder / "deep.jsonl").write_text("[" * 200_000)
    (folder / "huge.jsonl").touch()
    os.truncate(folder / "huge.jsonl", 1 << 30)
    assert [one for one in journals(folder) if one.read() is not None] == []


def test_events_are_counted_in_bounded_memory(tmp_path: Path) -> None:
    (tmp_path / "events.jsonl").write_text("{}\n" * 5)
    assert _events(tmp_path) == 5
    os.truncate(tmp_path / "events.jsonl", 1 << 30)
    assert _events(tmp_path) == 5

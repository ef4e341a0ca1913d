"""Second chances: who gets one, what the log says of it, and what a test that is not proven counts as."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from stages import thorough_after

from tools.second_chances import Record, defects, summary

ROOT = Path(__file__).parents[2]
HEAD = """
import os
from pathlib import Path
import pytest
from proof import not_proven

def first(name):
    file = Path(__file__).with_name(name)
    was_there = file.exists()
    file.touch()
    return not was_there
"""
WORKERS = ("-p", "xdist", "--numprocesses", "2")
REAL_TIME = "@pytest.mark.real_time\n"
ONCE_BAD = "def test_once_bad():\n    assert not first('once_bad')\n"
BAD = "def test_bad():\n    assert False\n"
GOOD = "def test_good():\n    pass\n"
BUSY = "def test_busy():\n    not_proven('stall: longest 300 ms')\n"
ONCE_BUSY = "def test_once_busy():\n    if first('once_busy'):\n        not_proven('stall')\n"


@dataclass
class Project:
    """A folder with a file of tests, and the plugin."""

    folder: Path

    def run(self, *tests: str, options: tuple[str, ...] = (), **environment: str) -> subprocess.CompletedProcess[str]:
        """Runs them as `make test` does."""
        (self.folder / "conftest.py").write_text('pytest_plugins = ["proof", "groups"]\n')
        (self.folder / "test_it.py").write_text(HEAD + "\n".join(tests))
        (self.folder / "pytest.ini").write_text(
            "[pytest]\naddopts = --strict-markers\nmarkers =\n  real_time: x\n  alone: x\n  xdist_group: x\n"
        )
        words = [sys.executable, "-m", "tools.second_chances", *options, "test_it.py"]
        own = {"PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "tests")]), "SECOND_CHANCES": str(self.log)}
        # Other plugins of this environment take seconds to load.
        own["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
        inherited = {key: value for key, value in os.environ.items() if not key.startswith(("PYTEST", "TEST_RUN"))}
        return subprocess.run(
            words, cwd=self.folder, env=inherited | own | environment, capture_output=True, text=True, check=False
        )

    @property
    def log(self) -> Path:
        return self.folder / "log.jsonl"

    def records(self) -> list[Record]:
        return [Record(**json.loads(line)) for line in self.log.read_text().splitlines()]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


@pytest.mark.parametrize(
    "options", [pytest.param((), marks=pytest.mark.thorough), (*WORKERS, "--dist", "loadgroup")], ids=["one", "workers"]
)
def test_a_marked_test_gets_a_second_chance_alone(project: Project, options: tuple[str, ...]) -> None:
    group = '@pytest.mark.xdist_group("lab")\n'
    done = project.run(REAL_TIME + group + ONCE_BAD, GOOD, options=options)
    assert done.returncode == 0, done.stdout
    assert done.stdout.splitlines()[-2:] == ["1 second chances: test_it.py::test_once_bad (passed)", "0 not proven"]
    assert "1 passed" in done.stdout.partition("A second chance, alone")[2], "the test that passed is not run again"
    (record,) = project.records()
    assert (record.folders, record.second_chances) == (["test_it.py"], {"test_it.py::test_once_bad": "passed"})


def test_a_fixture_is_made_anew_for_it(project: Project) -> None:
    fixture = "@pytest.fixture(scope='module')\ndef measured():\n    assert not first('measured')\n    return 1\n"
    done = project.run(fixture, REAL_TIME + "def test_it(measured):\n    assert measured == 1\n")
    assert done.returncode == 0, done.stdout
    assert "1 second chances" in done.stdout


def test_a_second_failure_counts(project: Project) -> None:
    done = project.run(REAL_TIME + BAD)
    assert done.returncode == 1
    assert "1 second chances: test_it.py::test_bad (failed)" in done.stdout


@pytest.mark.parametrize("marker", thorough_after(1, ["@pytest.mark.alone\n", ""]))
def test_an_unmarked_test_gets_none(project: Project, marker: str) -> None:
    done = project.run(marker + ONCE_BAD, GOOD)
    assert done.returncode == 1
    assert "0 second chances\n" in done.stdout


def test_an_unmarked_failure_stays_one_beside_a_second_chance_that_passes(project: Project) -> None:
    done = project.run(REAL_TIME + ONCE_BAD, BAD)
    assert done.returncode == 1
    assert "1 second chances: test_it.py::test_once_bad (passed)" in done.stdout


def test_many_failures_are_no_bad_luck(project: Project) -> None:
    many = "@pytest.mark.parametrize('n', range(11))\ndef test_many(n):\n    assert not first(f'many-{n}')\n"
    done = project.run(REAL_TIME + many)
    assert done.returncode == 1
    assert "0 second chances\n" in done.stdout


def test_a_broken_file_gets_none(project: Project) -> None:
    done = project.run(REAL_TIME + ONCE_BAD, "nonsense\n")
    assert done.returncode == 2
    assert "0 second chances\n" in done.stdout


@pytest.mark.parametrize("options", [pytest.param((), marks=pytest.mark.thorough), WORKERS], ids=["one", "workers"])
def test_what_is_not_proven_is_neither_passed_nor_skipped(project: Project, options: tuple[str, ...]) -> None:
    done = project.run(REAL_TIME + BUSY, GOOD, options=options)
    assert done.returncode == 0, done.stdout
    assert "1 passed, 1 not proven" in done.stdout
    assert "NOT PROVEN test_it.py::test_busy: stall: longest 300 ms" in done.stdout
    assert done.stdout.splitlines()[-2:] == [
        "1 second chances: test_it.py::test_busy (not proven)",
        "1 not proven: test_it.py::test_busy",
    ]
    (record,) = project.records()
    assert record.not_proven == {"test_it.py::test_busy": "stall: longest 300 ms"}


def test_what_is_proven_by_a_second_chance_is_proven(project: Project) -> None:
    done = project.run(REAL_TIME + ONCE_BUSY)
    assert done.stdout.splitlines()[-2:] == ["1 second chances: test_it.py::test_once_busy (passed)", "0 not proven"]


def test_an_unmarked_test_that_is_not_proven_is_counted(project: Project) -> None:
    done = project.run("@pytest.mark.alone\n" + BUSY)
    assert done.returncode == 0
    assert done.stdout.splitlines()[-2:] == ["0 second chances", "1 not proven: test_it.py::test_busy"]


@pytest.mark.parametrize("marker", thorough_after(1, [REAL_TIME, ""]))
def test_it_fails_if_all_must_be_proven(project: Project, marker: str) -> None:
    done = project.run(marker + BUSY, options=("--strict-proof",))
    assert done.returncode == 1
    assert "not proven: stall: longest 300 ms" in done.stdout


def test_a_second_chance_that_is_skipped_is_not_said_to_have_passed(project: Project) -> None:
    done = project.run(REAL_TIME + "def test_it():\n    assert not first('it')\n    pytest.skip('no kernel')\n")
    assert "1 second chances: test_it.py::test_it (skipped)" in done.stdout


def test_several_calls_of_one_run_share_a_line(project: Project) -> None:
    project.run(REAL_TIME + ONCE_BAD, TEST_RUN="first")
    project.run(REAL_TIME + ONCE_BUSY, TEST_RUN="first")
    done = project.run(GOOD, TEST_RUN="second")
    first, second = project.records()
    assert [*first.second_chances] == ["test_it.py::test_once_bad", "test_it.py::test_once_busy"]
    assert (first.run, second.run, second.second_chances) == ("first", "second", {})
    assert done.stdout.splitlines()[-2:] == ["0 second chances", "0 not proven"]


def recorded(*chances: tuple[str, ...], folder: str = "tests/system") -> list[Record]:
    """Runs of a folder in which these tests needed a second chance."""
    return [Record(str(n), "", "", [folder], dict.fromkeys(tests, "passed")) for n, tests in enumerate(chances)]


def test_twice_in_ten_runs_is_a_defect() -> None:
    a, b = "tests/system/test_a.py::test_a", "tests/system/test_b.py::test_b"
    runs = recorded((a,), (b,), *[()] * 8, (a, b))
    assert defects(runs) == {b: 2}, "the first use of a was eleven runs ago"
    assert summary(runs)[-1] == f"a defect to mend: {b} needed a second chance in 2 of its last 10 runs"
    assert defects(recorded((a,), *[()] * 9)) == {}


def test_runs_of_other_folders_do_not_count() -> None:
    a = "tests/system/test_a.py::test_a"
    assert defects([*recorded((a,)), *recorded(*[()] * 10, folder="tests/e2e"), *recorded((a,))]) == {a: 2}


def test_nothing_is_recorded_before_the_first_run() -> None:
    assert summary([]) == ["no run is recorded"]

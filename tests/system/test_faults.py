"""Whatever call fails, or wherever it is killed: nothing partial passes as whole, and the next command works.

`tests/faults` lets the nth call that changes files, or starts a process, fail.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import polars as pl
import pytest
from faults import Done, Fault, Faults, cases
from faults.actions import NEW
from harness import until
from stages import thorough_but

import dumbbell
from dumbbell.errors import DumbbellError
from dumbbell.records.kept import kept
from dumbbell.studies.results import Study
from dumbbell.studies.status import status

SCENARIO = """\
name = "small"
duration = "300 ms"
topology = { kind = "path", rtt = "10 ms", bottleneck = { rate = "5 Mbit/s", buffer = "1 bdp" } }
flows = [{ from = "h1", to = "h2", cc = "cubic" }]
"""
RUN = ("run", "small.toml", "--engine", "simulate", "--quiet")
STUDY = (*RUN, "--repeat", "3")
SAMPLE = 5
"""Faults of a command, unless all are met."""

REASONS = "No space left|Input/output|Too many open|Permission denied|EAGAIN|ENOMEM|temporarily unav|Cannot alloc"
"""Errors that `preload.c` gives, as C or Rust names them."""

Whole = Callable[[Faults, Path, Done], None]
"""Asserts that nothing partial passes as whole in a folder; after code 0, that all is there."""
Before = Callable[[Faults, Path], None]
"""Prepares a folder for the command."""


@pytest.fixture(scope="module")
def faults(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Faults]:
    with Faults(tmp_path_factory.mktemp("faults")) as made:
        yield made


def fresh(faults: Faults, name: str) -> Path:
    folder = faults.root / name
    folder.mkdir(mode=0o700)
    (folder / "small.toml").write_text(SCENARIO)
    return folder


def meet(faults: Faults, name: str, kinds: Sequence[Fault], most: int | None) -> None:
    """Let calls of a command fail, each in a folder of its own, and repeat it without a fault. `most`: how many."""
    words, whole, before = COMMANDS[name]
    first = fresh(faults, "first")
    before(faults, first)
    calls = faults.calls(words, first)
    whole(faults, first, Done(0, "", "", "", ""))
    usual, wrong = files(first), []
    shutil.rmtree(first)
    for nth, fault in cases(len(calls), kinds, most):
        folder = fresh(faults, f"{fault.name}-{nth}")
        wrong.append(case(faults, name, usual, folder, nth, fault))
        shutil.rmtree(folder)
    found = [text for text in wrong if text]
    assert not found, f"{len(found)} of {len(wrong)} faults\n" + "\n\n".join(found)


def case(faults: Faults, name: str, usual: set[str], folder: Path, nth: int, fault: Fault) -> str:
    """Returns what is wrong after a fault; empty if nothing is. `usual`: the files that the command leaves."""
    words, whole, before = COMMANDS[name]
    before(faults, folder)
    done = faults.run(words, folder, nth, fault)
    try:
        tells(done)
        whole(faults, folder, done)
        age(folder)
        again = faults.run(words, folder)
        assert again.code == 0, f"again: {again.code} {again.err}"
        whole(faults, folder, again)
        left = files(folder) - usual
        assert not {one for one in left if ".failed-" not in one or "/." in one}, left
    except (AssertionError, DumbbellError):
        return f"{done.fault} (code {done.code})\n{done.err}{done.out}{traceback.format_exc(limit=2)}"
    finally:
        for process in processes(folder):
            os.kill(process, signal.SIGKILL)
    return ""


def files(folder: Path) -> set[str]:
    """All files below a folder, except the lock of labs. Earlier runs of a plan are where the latest is; a study that
    continues has more shards."""
    names = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()} - {"dumbbell/labs/.lock"}
    return {re.sub(r"(-[0-9a-f]{12})\.[0-9]+/|(shards)/[0-9]+-[0-9]+/", r"\1\2/", name) for name in names}


def age(folder: Path) -> None:
    """Let all files be two minutes old: what is younger may be written by another command."""
    for path in folder.rglob("*"):
        with suppress(FileNotFoundError):  # A lab that ends removes its own.
            os.utime(path, (path.stat().st_atime, path.stat().st_mtime - 120))


def tells(done: Done) -> None:
    """A command that fails says what failed, why, and what to do."""
    assert "Traceback" not in done.err
    if done.code == -9:
        assert done.fault.startswith("KILL")
    elif done.code:
        assert done.code in (1, 2)
        assert [line.startswith("error: ") for line in done.err.splitlines()].count(True) == 1
        assert "\nhint: " in done.err
        assert re.search(REASONS, done.err) or done.fault.startswith("KILL")


def nothing(faults: Faults, folder: Path) -> None:
    """Prepare nothing."""


def whole_run(faults: Faults, folder: Path, done: Done) -> None:
    """Checks that a run listed as complete is complete."""
    complete = [one for one in kept(folder / "runs") if one.verdict == "valid"]
    for one in complete:
        run = dumbbell.open(one.path)
        assert run.manifest["status"] == "complete"
        assert [frame.height > 0 for frame in (run.samples, run.packets, run.links, run.flows)] == [True] * 4
        assert (one.path / "scenario.toml").read_text() == SCENARIO
        assert page_is_whole(one.path / "report.html")
    if done.code == 0:
        (path,) = [one.path for one in complete if "." not in one.path.name]
        assert (path / "report.html").exists()


def page_is_whole(path: Path) -> bool:
    return not path.exists() or path.read_text().rstrip().endswith("</html>")


def ran(faults: Faults, folder: Path) -> None:
    """A run of the scenario, always the same."""
    known = faults.root / ".ran"
    if not known.exists():
        known.mkdir()
        shutil.copy(folder / "small.toml", known)
        assert faults.run((*RUN, "--no-report"), known).code == 0
    shutil.copytree(known / "runs", folder / "runs")


def whole_run_again(faults: Faults, folder: Path, done: Done) -> None:
    """The earlier run, or this one, has the plan's name, unless the command was killed between two renames, or no more
    renames were possible."""
    whole_run(faults, folder, done)
    named = [one for one in kept(folder / "runs") if re.fullmatch(r"small-[0-9a-f]{12}", one.path.name)]
    assert len(named) == 1 or done.code == -9 or re.match("LASTS .*: rename ", done.fault)


def whole_study(faults: Faults, folder: Path, done: Done) -> None:
    """A study is complete only with all runs."""
    for path in (folder / "studies").glob("*"):
        try:
            study = Study(path)
        except DumbbellError:
            assert done.code != 0
            continue
        told = status(study)
        assert told.runs == 3
        rows = study.accounted().collect() if study.has_runs else pl.DataFrame()
        assert told.done == rows.height
        assert rows.height == 3 or told.status != "complete"
        assert page_is_whole(path / "report.html")
        assert done.code != 0 or (told.status == "complete" and (path / "report.html").exists())


def with_report(format: str) -> Before:
    """A run with an old report."""

    def prepare(faults: Faults, folder: Path) -> None:
        ran(faults, folder)
        (run,) = (folder / "runs").glob("small-*")
        if format == "csv":
            (run / "report-csv").mkdir()
        else:
            (run / f"report.{format}").write_bytes(OLD)

    return prepare


OLD = b"old"
ENDS = {".html": b"</html>", ".png": b"IEND\xaeB`\x82", ".csv": b"\n"}


def whole_report(faults: Faults, folder: Path, done: Done) -> None:
    """Each file is the old or the new one."""
    (run,) = (folder / "runs").glob("small-*")
    found = [path for path in run.rglob("*") if path.suffix in ENDS]
    for path in found:
        content = path.read_bytes()
        assert content.rstrip(b" \n").endswith(ENDS[path.suffix].rstrip()) or content == OLD
        assert content != OLD or done.code != 0
    if done.code == 0:
        assert set(done.out.split()) <= {str(path.relative_to(folder)) for path in found}


def whole_document(faults: Faults, folder: Path, done: Done) -> None:
    """A document is the old or the new text, and the page says which. A killed server has lost no acknowledged text."""
    text = (folder / "small.toml").read_text()
    assert text in (SCENARIO, SCENARIO + NEW)
    if done.call and done.code == 0 and not done.out.startswith("saved"):
        assert re.search(REASONS, done.out)
        assert "\nhint: " in done.out
    assert not done.out.startswith("saved") or text == SCENARIO + NEW


def whole_lab(faults: Faults, folder: Path, done: Done) -> None:
    """A lab is up and can be used, or it is not there; then none of its processes is."""
    listed = faults.run(("lab", "list", "--json"), folder)
    assert listed.code == 0, listed.err
    labs = json.loads(listed.out)
    assert len(labs) == 1 or done.code != 0
    if labs:
        ran = faults.run(("lab", "exec", "h1", "true"), folder)
        assert ran.code == 0, ran.err
        ended = faults.run(("lab", "down"), folder)
        assert ended.code == 0, ended.err
    until(lambda: not processes(folder), 60, f"the end of {processes(folder)}")


def processes(folder: Path) -> list[int]:
    """Processes that work in this folder."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if os.readlink(process / "cwd") == str(folder):
                found.append(int(process.name))
    return found


COMMANDS: dict[str, tuple[Sequence[str], Whole, Before]] = {
    "run": (RUN, whole_run, nothing),
    "run-again": (RUN, whole_run_again, ran),
    "study": (STUDY, whole_study, nothing),
    "html": (("report", "small"), whole_report, with_report("html")),
    "png": (("report", "small", "--format", "png"), whole_report, with_report("png")),
    "csv": (("report", "small", "--format", "csv"), whole_report, with_report("csv")),
    "edit": (("@edit",), whole_document, nothing),
    "lab": (("lab", "up", "small.toml", "--detach"), whole_lab, nothing),
}


@pytest.mark.parametrize(
    "name",
    thorough_but(["run"], COMMANDS),
)
def test_some_faults(faults: Faults, name: str) -> None:
    meet(faults, name, list(Fault)[1:], SAMPLE)


@pytest.mark.thorough
@pytest.mark.exhaustive
@pytest.mark.parametrize("fault", list(Fault)[1:], ids=lambda fault: fault.name.lower())
@pytest.mark.parametrize("name", COMMANDS)
def test_every_fault(faults: Faults, name: str, fault: Fault) -> None:
    meet(faults, name, [fault], None)

"""A folder of a stranger's brings no code of Python into the program, and leads it to no files of others."""

from __future__ import annotations

import ast
import asyncio
import json
import os
import shutil
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from serving import serving
from synthetic_run import Synthetic
from synthetic_study import SCENARIO
from synthetic_study import Synthetic as SyntheticStudy

import dumbbell
from dumbbell import outputs
from dumbbell.cli import invoke
from dumbbell.errors import InputError
from dumbbell.published.recorded import whole
from dumbbell.records import files
from dumbbell.records.directory import RunDirectory
from dumbbell.scenario.file import writing
from dumbbell.scenario.file.loading import load
from dumbbell.server import live
from dumbbell.server.children import COMMAND, Children
from dumbbell.server.journal import Journal, Recovered, journals
from dumbbell.server.runs import _events
from dumbbell.studies import Study, directory
from dumbbell.studies.single import recorded_runs, scenario_of

HUNTED = """
name = "hunted"
duration = "200 ms"
[topology]
kind = "dumbbell"
rtt = "10 ms"
bottleneck = { rate = "5 Mbit/s", buffer = "20 packets" }
[[flows]]
from = "s1"
to = "r1"
cc = "reno"
"""


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


@pytest.mark.parametrize("part", ["shards", "runs", "lock", "study.json", "log.jsonl", "going", "single-runs", "x"])
def test_a_study_whose_part_is_a_link_is_refused(tmp_path: Path, part: str) -> None:
    (tmp_path / "precious" / "inside").mkdir(parents=True)
    (tmp_path / "study").mkdir()
    (tmp_path / "study" / part).symlink_to(tmp_path / "precious")
    with pytest.raises(InputError, match="is a link"), directory.locked(tmp_path / "study"):
        pass
    assert (tmp_path / "precious" / "inside").is_dir()


def test_a_study_that_is_a_link_is_neither_continued_nor_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A stranger knows beforehand what a study's directory will be called."""
    monkeypatch.chdir(tmp_path)
    Path("s.toml").write_text(HUNTED + '[sweep]\n"flows.0.cc" = ["reno", "cubic"]\n')
    run = ["run", "s.toml", "--engine", "simulate", "--jobs", "1", "--quiet", "--no-report"]
    assert invoke(run) == 0
    (study,) = Path("studies").iterdir()
    Path("precious").mkdir()
    Path("precious/scenario.toml").write_text("mine")
    shutil.rmtree(study)
    study.symlink_to(tmp_path / "precious")
    assert invoke(run) == 2
    assert [path.name for path in Path("precious").iterdir()] == ["scenario.toml"]
    assert Path("precious/scenario.toml").read_text() == "mine"


def test_headers_and_events_overwrite_no_file_to_which_a_link_leads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Names of the headers are known beforehand, and those of files of events can be guessed."""
    monkeypatch.chdir(tmp_path)
    Path("precious").write_text("mine")
    for name in ("include/dumbbell/ack.h", "include/algorithms/bbr3/parameters.h", "events.jsonl"):
        Path(name).parent.mkdir(parents=True, exist_ok=True)
        Path(name).symlink_to(tmp_path / "precious")
    assert invoke(["cc", "headers", "include"]) == 0
    assert "struct" in Path("include/dumbbell/ack.h").read_text()
    Path("s.toml").write_text(HUNTED)
    assert invoke(["run", "s.toml", "--engine", "simulate", "--quiet", "--no-report", "--events", "events.jsonl"]) == 0
    assert '"event"' in Path("events.jsonl").read_text()
    assert Path("precious").read_text() == "mine"


@pytest.mark.parametrize("part", ["dumbbell", "algorithms/bbr3"])
def test_a_folder_of_headers_that_leads_elsewhere_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, part: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("elsewhere").mkdir()
    Path("include", part).parent.mkdir(parents=True)
    Path("include", part).symlink_to(tmp_path / "elsewhere")
    assert invoke(["cc", "headers", "include"]) != 0
    assert list(Path("elsewhere").iterdir()) == []


@pytest.mark.parametrize(
    ("default", "command", "overwritten"),
    [
        ("scores", ["cc", "score", "reno", "--case", "alone/2Mbps-20ms-1bdp", "--quiet"], "reno-part.json"),
        ("runs/agree", ["agree", "s.toml", "--engines", "virtual,simulate", "--quiet"], "hunted/agreement.csv"),
        ("reproductions", ["reproduce", "rincao-2021", "--as-is"], "rincao-2021/report.html"),
    ],
)
def test_a_default_folder_that_is_a_link_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, default: str, command: list[str], overwritten: str
) -> None:
    """A stranger knows, or chooses, what is written there, and where the link leads something may be called so."""
    theirs, precious = tmp_path / "theirs", tmp_path / "precious" / overwritten
    precious.parent.mkdir(parents=True)
    precious.write_text("mine")
    (theirs / default).parent.mkdir(parents=True)
    (theirs / default).symlink_to(tmp_path / "precious")
    (theirs / "s.toml").write_text(HUNTED)
    monkeypatch.chdir(theirs)
    assert invoke(command) == 2
    assert [path for path in (tmp_path / "precious").rglob("*") if path.is_file()] == [precious]
    assert precious.read_text() == "mine"


@pytest.mark.skipif(shutil.which("clang") is None, reason="apt-get install clang")
def test_a_network_of_the_yardstick_goes_into_no_folder_to_which_a_link_leads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    precious = tmp_path / "precious" / "mine.bpf.c"
    precious.parent.mkdir()
    precious.write_text("mine")
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    (theirs / "algorithms").symlink_to("../precious")
    monkeypatch.chdir(theirs)
    assert invoke(["cc", "new", "mine"]) == 0
    asked = ["cc", "score", "mine/mine.bpf.c", "--case", "alone/2Mbps-20ms-1bdp", "--output", "case.toml"]
    assert invoke(asked) == 2
    assert precious.read_text() == "mine"
    (theirs / "algorithms").unlink()
    assert invoke(asked) == 0
    assert (theirs / "algorithms" / "mine.bpf.c").is_file()


def test_copies_of_a_scenario_s_files_go_where_no_link_leads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for folder, beta in (("a", 1), ("b", 2)):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "own.bpf.c").write_text(f"const volatile int beta = {beta};\n")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/own.bpf.c").write_text("theirs")
    for name in ("a", "b"):
        Path(f"{name}.toml").write_text(HUNTED.replace('cc = "reno"', f'cc = "{name}/own.bpf.c"'))
    scenario, cell, study = load("a.toml"), load("b.toml"), tmp_path / "study"
    (study / "algorithms").mkdir(parents=True)
    (study / "algorithms/2").symlink_to("../../outside")
    with pytest.raises(OSError, match="lies outside"):
        writing.write(scenario, study, [cell])
    assert (tmp_path / "outside/own.bpf.c").read_text() == "theirs"
    (study / "algorithms/2").unlink()
    writing.write(scenario, study, [cell])
    assert "beta = 2" in (study / "algorithms/2/own.bpf.c").read_text()


def test_a_log_that_is_a_link_is_neither_cut_nor_continued(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Half a line at the end of a hunt's log is cut off."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s.toml").write_text(HUNTED)
    (tmp_path / "token").write_text("no newline")
    hunt = ["hunt", "s.toml", "--budget", "1", "--jobs", "1", "--quiet"]
    assert invoke(hunt) == 0
    (directory_,) = (tmp_path / "hunts").iterdir()
    (directory_ / "log.jsonl").unlink()
    (directory_ / "log.jsonl").symlink_to(tmp_path / "token")
    assert invoke(hunt) == 2
    with pytest.raises(OSError, match=os.strerror(40)):
        outputs.append(directory_ / "log.jsonl", "more")
    assert (tmp_path / "token").read_text() == "no newline"


def test_a_run_that_is_a_link_was_left_by_nobody(tmp_path: Path) -> None:
    """Remains of a killed command get another name, and their manifest says so."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "lock").touch()
    (outside / "manifest.json").write_text("{}")
    runs = tmp_path / "runs"
    runs.mkdir()
    (runs / ".partial-x-123456789abc-1").symlink_to(outside)
    RunDirectory.begin(runs, "y", "0" * 12).complete()
    assert (outside / "lock").exists()
    assert (outside / "manifest.json").read_text() == "{}"


def test_a_run_that_is_simulated_again_is_written_into_its_study(tmp_path: Path) -> None:
    path = SyntheticStudy().write(tmp_path / "study")
    (tmp_path / "elsewhere").mkdir()
    (path / "single-runs").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(InputError, match="is a link"):
        recorded_runs(Study(path), 10)
    assert list((tmp_path / "elsewhere").iterdir()) == []


@pytest.mark.parametrize("trace", ["../outside.trace", "ABSOLUTE/outside.trace", "linked.trace", "inside.trace"])
def test_a_run_that_is_simulated_again_takes_no_file_from_outside_its_study(tmp_path: Path, trace: str) -> None:
    """Runs keep copies of files: who shares the study after a report would share theirs."""
    study = Study(SyntheticStudy().write(tmp_path / "study"))
    for path in (tmp_path / "outside.trace", study.directory / "inside.trace"):
        path.write_text("1\n2\n3\n4\n")
    (study.directory / "linked.trace").symlink_to("../outside.trace")
    file = study.directory / "scenario.toml"
    named = trace.replace("ABSOLUTE", str(tmp_path))
    file.write_text(HUNTED.replace('rate = "5 Mbit/s"', f'rate = {{ trace = "{named}" }}'))
    if trace == "inside.trace":
        assert scenario_of(study, 0, 0).duration == 200_000_000
    else:
        with pytest.raises(InputError, match="cannot read it: it lies outside"):
            scenario_of(study, 0, 0)
        with pytest.raises(InputError, match="cannot read it: it lies outside"):
            recorded_runs(study, 10)


@pytest.mark.parametrize("part", ["series", "series/0", "series/0/0"])
def test_a_run_over_time_is_written_into_its_study(tmp_path: Path, part: str) -> None:
    path = SyntheticStudy().write(tmp_path / "study")
    (tmp_path / "elsewhere").mkdir()
    (path / part).parent.mkdir(parents=True, exist_ok=True)
    (path / part).symlink_to(tmp_path / "elsewhere")
    with pytest.raises(InputError, match="is a link"):
        whole(Study(path), 0)
    assert list((tmp_path / "elsewhere").iterdir()) == []


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
    assert list(journals(folder)) == []


def journal(folder: Path, path: str, *lines: Mapping[str, object]) -> Journal:
    made = Journal(folder, path)
    folder.mkdir(exist_ok=True)
    made.file.write_text("".join(json.dumps(line) + "\n" for line in ({"path": path}, *lines)))
    return made


def state(text: str, layout: str = "", revision: int = 1) -> Mapping[str, object]:
    return {"do": "push", "text": text, "layout": layout, "label": "", "revision": revision}


def test_a_journal_that_dumbbell_cannot_have_written_is_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dumbbell.server.journal._MOST_LINES", 1000)
    assert journal(tmp_path, "a.toml", *[state("x = 1")] * 998).read() is not None
    assert journal(tmp_path, "b.toml", *[state("x = 1")] * 1000).read() is None
    assert journal(tmp_path, "c.toml", state("#" * 2_000_001)).read() is None


def test_layouts_of_a_journal_take_bounded_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dumbbell.server.journal._MOST_LAYOUTS", 1000)
    laid = [json.dumps({"nodes": {f"h{number}": {"x": number, "y": 0}}}) for number in range(100)]
    lines = [state(f"# {number}", one) for number, one in enumerate(laid)]
    found = journal(tmp_path, "a.toml", *lines).read()
    assert found is not None
    texts = [one.text for one in found.history.states]
    assert 20 < len(texts) < 40
    assert texts == [f"# {number}" for number in range(100 - len(texts), 100)]
    assert found.history.now.text == "# 99"
    assert all(one.layout.nodes for one in found.history.states)
    # The present text counts though states before which it was undone have taken all the room.
    back = journal(tmp_path, "b.toml", *lines, {"do": "at", "index": 3, "revision": 1}).read()
    assert back is not None
    assert back.history.now.text == "# 3"


def test_the_latest_journals_are_looked_through_as_far_as_is_worth_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dumbbell.server.journal._MOST_AT_ONCE", 1000)
    for number in range(100):
        os.utime(journal(tmp_path, f"{number}.toml").file, (number, number))
    assert 20 < len(found := list(journals(tmp_path))) < 60
    assert found == [f"{number}.toml" for number in range(99, 99 - len(found), -1)]


def test_a_server_answers_while_journals_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a.toml").write_text("x = 1\n")
    journal(tmp_path / ".dumbbell", "none.toml")
    journal(tmp_path / ".dumbbell" / "edits", "a.toml", state("x = 2\n"))
    read, may_end = Journal.read, threading.Event()

    def slow(self: Journal) -> Recovered | None:
        may_end.wait(60)
        return read(self)

    monkeypatch.setattr(Journal, "read", slow)
    with serving(tmp_path) as served:
        assert served.json("GET", "/api/files")["entries"]
        assert (tmp_path / "a.toml").read_text() == "x = 1\n"
        may_end.set()
        # It is saved though nobody opens it.
        until = time.monotonic() + 60
        while (tmp_path / "a.toml").read_text() != "x = 2\n" and time.monotonic() < until:
            time.sleep(0.05)
    assert (tmp_path / "a.toml").read_text() == "x = 2\n"


def test_events_of_a_stranger_make_nobody_wait(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = Synthetic(name="theirs", duration_s=1, packets=False).write(tmp_path / "runs" / "theirs")
    odd = b'{"event":"x"}\n{}\n{"event":5}\n[]\n{"event":"replay","events":5}\n'
    odd += b'{"event":"progress","health":{"worst":[]}}\n{"event":"progress","health":5}\n'
    (path / "events.jsonl").write_bytes(odd * 20_000)
    parsed, threads = live.parsed, set()

    def told(lines: list[bytes], first: int, wanted: int) -> Iterator[Any]:
        threads.add(threading.current_thread())
        return parsed(lines, first, wanted)

    async def heard() -> list[Any]:
        return [event async for event in live.Live(tmp_path, Children(tmp_path))(path.name, None)]

    monkeypatch.setattr(live, "parsed", told)
    events = asyncio.run(heard())
    replays = [event for event in events if event.get("event") == "replay"]
    assert replays
    for replay in replays:
        kinds = Counter(event["event"] for event in replay["events"])
        assert kinds["x"] == live.MOST_OTHERS
        assert live.MOST_PROGRESS // 2 <= kinds["progress"] <= live.MOST_PROGRESS + 1
        assert set(kinds) == {"x", "progress"}
    assert threads
    assert threading.main_thread() not in threads


def test_events_are_counted_in_bounded_memory(tmp_path: Path) -> None:
    (tmp_path / "events.jsonl").write_text("{}\n" * 5)
    assert _events(tmp_path) == 5
    os.truncate(tmp_path / "events.jsonl", 1 << 30)
    assert _events(tmp_path) == 5


COLUMNS = """
[sweep]
"flows.0.cc" = ["cubic", "reno"]
[report]
columns = "flows.0.cc"
[[programs]]
node = "s1"
command = "touch taken"
"""


@pytest.mark.parametrize("engine", ["emulate", "virtual", "simulate"])
def test_a_report_of_a_study_starts_no_program(tmp_path: Path, engine: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A study has the figures of its runs, and none of their records: only simulated runs are made again."""
    started: list[object] = []

    def run(*_: object, **given: object) -> None:
        started.append(given["engine"])
        raise InputError("simulated")

    monkeypatch.setattr("dumbbell.pipeline.run.run", run)
    cells = [{"flows.0.cc": "cubic"}, {"flows.0.cc": "reno"}]
    study = Study(SyntheticStudy(cells=cells).write(tmp_path / "studies" / "theirs-0123456789ab"))
    manifest = study.directory / "study.json"
    manifest.write_text(json.dumps({**json.loads(manifest.read_text()), "engine": engine}))
    (study.directory / "scenario.toml").write_text(SCENARIO + COLUMNS)
    study = Study(study.directory)
    expected = "simulated" if engine == "simulate" else "a report starts no programs"
    for ask in (study.report, lambda: recorded_runs(study, 8), lambda: whole(study, 0)):
        with pytest.raises(InputError, match=expected):
            ask()
    assert set(started) <= {"simulate"}
    started.clear()
    with serving(tmp_path) as served:
        status, _, page = served.ask("GET", "/api/studies/theirs-0123456789ab/report.html")
    assert (status, started) == (200, [])
    assert b"Pictures" not in page

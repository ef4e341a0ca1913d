"""Simulated studies: the figures of single runs, whatever the number of threads, and on from where it was."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from polars.testing import assert_frame_equal

import dumbbell
from dumbbell.cli import invoke
from dumbbell.cli.study_progress import Bar, Lines
from dumbbell.engines.events import Event
from dumbbell.errors import InputError, Interrupted, ScenarioError
from dumbbell.studies import planning
from dumbbell.studies.entries import PLANNED
from dumbbell.studies.planning import RECORD

SCENARIO: dict[str, Any] = {
    "name": "mixed",
    "duration": "3 s",
    "topology": {
        "kind": "dumbbell",
        "pairs": 2,
        "rtt": ["20 ms", "35 ms"],
        "bottleneck": {"rate": "10 Mbit/s", "buffer": "1 bdp", "loss": "0.1 %", "reverse": {"rate": "50 Mbit/s"}},
    },
    "flows": [
        {"from": "s1", "to": "r1", "cc": "cubic"},
        {"from": "s2", "to": "r2", "cc": "bbr", "start": "300 ms", "stop": "2700 ms"},
        {"from": "s1", "to": "r1", "cc": "reno", "bytes": "200 kB", "start": "1 s"},
        {"from": "s1", "to": "r1", "cc": "reno", "bytes": "200 MB", "start": "1 s"},
        {"from": "s2", "to": "r2", "protocol": "udp", "rate": "1 Mbit/s", "start": "2 s"},
    ],
}
SMALL: dict[str, Any] = {
    "name": "small",
    "duration": "300 ms",
    "topology": {"kind": "path", "rtt": "10 ms", "bottleneck": {"rate": "5 Mbit/s", "buffer": "1 bdp", "loss": "5 %"}},
    "flows": [{"from": "h1", "to": "h2", "cc": "cubic"}],
}
RMEM = "net.ipv4.tcp_rmem"
OWN = ("run", "run_id", "cell", "repetition", "seed")
QUEUES = ["drop-tail", "red", "codel", "fq-codel"]


def simulate(scenario: Any, vary: Any = None, repeat: int | None = None, **more: Any) -> dumbbell.Study:
    return dumbbell.run(scenario, engine="simulate", vary=vary or {}, repeat=repeat, report=False, **more)


@pytest.mark.filterwarnings("ignore::dumbbell.errors.Foreseen")
def test_equal_cells_are_simulated_once_and_have_a_row_each(tmp_path: Path) -> None:
    """5 Mbit/s and 10 ms: 60 ms of queue are 37,500 bytes."""
    vary = {"topology.bottleneck.buffer": ["60 ms", "37.5 kB", "30 ms"]}
    study = simulate(SMALL, vary, 2, directory=tmp_path)
    assert study.manifest["equal_cells"] == [[0, 1]]
    assert study.manifest["cost"]["simulated_s"] == pytest.approx(4 * 0.3)
    assert study.runs.select("run", "cell", "repetition").rows() == [
        (cell + 3 * repetition, cell, repetition) for repetition in (0, 1) for cell in (0, 1, 2)
    ]
    own = ("run", "cell", "topology.bottleneck.buffer")
    for frame in (study.runs, study.flows, study.links):
        one, other = (frame.filter(pl.col("cell") == cell).drop(own) for cell in (0, 1))
        assert_frame_equal(one, other)
    assert study.runs["error"].null_count() == 6


def test_a_row_is_what_a_single_run_has(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each figure that a study keeps is the one that the code which judges single runs finds in their tables."""
    monkeypatch.setattr(dumbbell.Run, "report", lambda run: run.directory)
    vary = {"topology.bottleneck.queue": QUEUES}
    study = simulate(SCENARIO, vary, 2, jobs=2, directory=tmp_path, overrides={"seed": 3})
    assert study.runs.height == 8
    for row in study.runs.iter_rows(named=True):
        cell = {"topology.bottleneck.queue": row["topology.bottleneck.queue"], "seed": row["seed"]}
        run = dumbbell.run(SCENARIO, {**cell, **RECORD}, tmp_path / "runs", engine="simulate")
        assert isinstance(run, dumbbell.Run)
        assert row["run_id"] == run.run_id
        assert row["error"] is None
        assert row["jain_index"] == pytest.approx(run.summary["jain_index"], rel=1e-12)
        assert [row["jain_start_s"], row["jain_stop_s"]] == run.summary["jain_window_s"]
        of_run = pl.col("run_id") == run.run_id
        flows = study.flows.filter(of_run)
        _assert_flows(flows.drop(PLANNED), run.flows)
        assert flows["base_rtt_ms"].to_list() == [flow["base_rtt_ms"] for flow in run.summary["flows"]]
        _assert_links(study.links.filter(of_run), run.summary["links"])


def _assert_flows(found: pl.DataFrame, expected: pl.DataFrame) -> None:
    columns = [column for column in found.columns if column not in OWN and "." not in column]
    # Figures that need a row per packet are missing, and so are limits that hosts in virtual time never have.
    unknown = {"queue_p50_ms", "queue_p95_ms", "queue_max_ms", "ce_packets", "ce_share", "sndbuf_limited_share"}
    assert set(columns) | unknown == set(expected.columns)
    assert_frame_equal(found.select(columns), expected.select(columns), rel_tol=1e-12, abs_tol=0)


def _assert_links(found: pl.DataFrame, expected: list[dict[str, Any]]) -> None:
    by_name = {link["name"]: link for link in expected}
    assert {"bottleneck", "bottleneck-reverse"} < set(found["link"])
    for row in found.iter_rows(named=True):
        link = by_name[row["link"]]
        queue = link["queue_ms"] or dict.fromkeys(("p50", "p95", "max"))
        flat = {f"queue_{key}_ms": value for key, value in queue.items()}
        flat |= {fate.replace("-", "_"): count for fate, count in link["drops_by_reason"].items()}
        for column in set(row) - {*OWN, "link", "topology.bottleneck.queue"}:
            wanted = {**link, **flat}[column]
            assert row[column] == (wanted if wanted is None else pytest.approx(wanted, rel=1e-12)), (row, column)


def test_threads_change_nothing(tmp_path: Path) -> None:
    studies = [
        simulate(SMALL, {"flows.0.cc": ["cubic", "bbr", "reno"]}, 5, jobs=n, directory=tmp_path / str(n))
        for n in (1, 3)
    ]
    files = [{p.name: p.read_bytes() for p in study.directory.glob("shards/*/*.parquet")} for study in studies]
    assert files[0] == files[1]


def test_repetitions_differ_by_their_seeds_alone(tmp_path: Path) -> None:
    study = simulate(SMALL, {"flows.0.cc": ["cubic", "bbr"]}, 3, directory=tmp_path, overrides={"seed": 7})
    assert study.runs["seed"].to_list() == [7, 7, 8, 8, 9, 9]
    assert study.runs["flows.0.cc"].to_list() == ["cubic", "bbr"] * 3
    assert study.runs["run_id"].n_unique() == 6
    # Bytes alone are a hundred segments, and may be as many twice.
    assert study.flows.select("received_bytes", "retransmitted_segments", "rtt_p95_ms").n_unique() == 6
    assert study.summary["runs"].to_list() == [3, 3]
    mean = study.flows.filter(cell=0)["goodput_bps"].mean()
    assert study.summary["goodput_bps"][0] == pytest.approx(mean)


def test_flows_together_never_carry_more_than_the_link(tmp_path: Path) -> None:
    study = simulate(SCENARIO, directory=tmp_path)
    assert study.flows["goodput_bps"].sum() > 10e6
    assert 8e6 < study.summary["goodput_bps"][0] < 10e6


def test_cases_have_names_and_keys_of_their_own(tmp_path: Path) -> None:
    cases = [{"name": "plain", "flows.0.cc": "reno"}, {"name": "marked", "flows.0.ecn": True}]
    study = simulate({**SMALL, "sweep": {"cases": cases, "topology.rtt": ["10 ms", "20 ms"]}}, directory=tmp_path)
    assert study.keys == ["topology.rtt", "case", "flows.0.cc", "flows.0.ecn"]
    assert study.cells["flows.0.cc"].to_list() == ["reno", None] * 2
    assert study.cells["flows.0.ecn"].to_list() == [None, True] * 2
    assert study.flows["cc"].to_list() == ["reno", "cubic"] * 2
    assert study.summary["case"].to_list() == ["plain", "marked"] * 2


def test_a_single_run_of_a_study_has_all_records(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    study = simulate("rtt-unfairness", directory=tmp_path, overrides={"duration": "2 s", "expect": []})
    command = ["run", "rtt-unfairness", "--engine", "simulate", "--set", "duration=2 s", "--output", str(tmp_path)]
    assert invoke([*command, "--cell", "1", "--repetition", "2"]) == 0
    run = dumbbell.open(Path(capsys.readouterr().out.splitlines()[-1]).parent)
    of_study = study.flows.filter(cell=1, repetition=2)
    assert run.flows["received_bytes"].to_list() == of_study["received_bytes"].to_list()
    assert run.packets is not None
    with pytest.raises(InputError, match="has no records") as lacking:
        study.open(of_study["run"][0])
    assert lacking.value.hint.endswith("--engine simulate --cell 1 --repetition 2")
    assert invoke([*command, "--cell", "3"]) == 2
    assert "error: no cell 3\n  rtt-unfairness has 3 cells, numbered from 0\n" in capsys.readouterr().err
    assert invoke([*command, "--cell", "1", "--repetition", "3"]) == 2
    said = "error: no repetition 3\n  rtt-unfairness has 3 repetitions of each cell, numbered from 0\n"
    assert said in capsys.readouterr().err
    assert invoke([*command, "--cell", "1", "--repetition", "3", "--repeat", "4"]) == 0
    assert invoke([*command, "--cell", "1", "--failed"]) == 2
    assert "error: --failed beside --cell\n" in capsys.readouterr().err


def test_only_runs_that_failed_again(tmp_path: Path) -> None:
    """Simulated ones would fail again; where none has, there is nothing to do."""
    with pytest.raises(InputError, match="nothing has been run yet"):
        simulate(SMALL, repeat=2, directory=tmp_path, failed=True)
    study = simulate(SMALL, repeat=2, directory=tmp_path)
    before = (study.directory / "study.json").read_bytes()
    assert simulate(SMALL, repeat=2, directory=tmp_path, failed=True).runs.height == 2
    assert (study.directory / "study.json").read_bytes() == before
    # A window that is too small for the second, and looks as if we had computed it.
    long = {"kind": "path", "rtt": "100 ms", "bottleneck": {"rate": "5 Mbit/s", "buffer": "1 bdp"}}
    held = {**SMALL, "duration": "2 s", "topology": long, "hosts": {"sysctl": {RMEM: "4096 6291456 6291456"}}}
    rates = {"topology.bottleneck.rate": ["5 Mbit/s", "1 Gbit/s"]}
    simulate(held, rates, 2, directory=tmp_path)
    with pytest.raises(InputError, match="fail the same way again") as refused:
        simulate(held, rates, 2, directory=tmp_path, failed=True)
    assert refused.value.hint.endswith("--cell 1 --repetition 0")


def test_a_study_grows(tmp_path: Path) -> None:
    few = simulate(SMALL, repeat=2, directory=tmp_path)
    shard = few.directory / "shards" / "00000000-00000001" / "flows.parquet"
    before = shard.stat().st_mtime_ns
    many = simulate(SMALL, repeat=5, directory=tmp_path)
    assert many.directory == few.directory
    assert many.manifest["cost"]["found"] == 2
    assert shard.stat().st_mtime_ns == before
    assert many.runs["run"].to_list() == [0, 1, 2, 3, 4]
    # A smaller number asked for again gives that number.
    assert simulate(SMALL, repeat=1, directory=tmp_path).runs.height == 1
    assert simulate(SMALL, repeat=1, directory=tmp_path, overrides={"seed": 2}).directory != few.directory


def test_an_interrupted_study_goes_on(tmp_path: Path) -> None:
    def interrupt(event: Event) -> None:
        if event["event"] == "progress" and event["wall_s"] > 0:
            raise KeyboardInterrupt

    with pytest.raises(Interrupted, match="interrupted") as stopped:
        simulate(SMALL, repeat=4000, jobs=1, directory=tmp_path, on_event=interrupt)
    (directory,) = tmp_path.iterdir()
    assert str(directory) in stopped.value.why
    kept = dumbbell.Study(directory)
    assert kept.manifest["status"] == "interrupted"
    done = kept.runs.height
    assert 0 < done < 4000
    again = simulate(SMALL, repeat=done + 3, jobs=1, directory=tmp_path)
    assert again.directory == directory
    assert again.manifest["cost"]["found"] == done
    whole = simulate(SMALL, repeat=done + 3, jobs=2, directory=tmp_path / "whole")
    assert_frame_equal(again.flows, whole.flows)


def test_bad_cells_are_refused_before_anything_starts(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match=r"topology\.bottleneck\.rate"):
        simulate(SMALL, {"topology.bottleneck.rate": ["5 Mbit/s", "5"]}, directory=tmp_path)
    with pytest.raises(ScenarioError, match="bottlneck: unknown key") as refused:
        simulate(SMALL, {"topology.bottlneck.rate": ["5 Mbit/s"]}, directory=tmp_path)
    assert 'in the cell topology.bottlneck.rate="5 Mbit/s"' in str(refused.value)
    with pytest.raises(InputError, match="no-such-cc"):
        simulate(SMALL, {"flows.0.cc": ["cubic", "no-such-cc"]}, directory=tmp_path)
    with pytest.raises(InputError, match="repeat"):
        simulate(SMALL, repeat=0, directory=tmp_path)
    assert not list(tmp_path.iterdir())


def test_many_cells_are_planned_in_processes_to_the_same_end(tmp_path: Path) -> None:
    """The planning is in a separate process: this one has threads, and therefore plans by itself, and finds all
    done."""
    rates = [f"{5 + i} Mbit/s" for i in range(planning.MANY)]
    short = {**SMALL, "duration": "20 ms"}
    script = f"import dumbbell; dumbbell.run({short!r}, vary={{'topology.bottleneck.rate': {rates!r}}}, jobs=2, "
    script += f"engine='simulate', report=False, directory={str(tmp_path)!r})"
    subprocess.run([sys.executable, "-c", script], check=True)
    here = simulate(short, {"topology.bottleneck.rate": rates}, directory=tmp_path)
    assert here.manifest["cost"]["found"] == planning.MANY


def test_no_study_is_said_so(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no study at"):
        dumbbell.Study(tmp_path)


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scenario = tmp_path / "small.toml"
    scenario.write_text(
        'name = "small"\nduration = "300 ms"\n[topology]\nkind = "path"\nrtt = "10 ms"\n'
        'bottleneck = { rate = "5 Mbit/s", buffer = "1 bdp" }\n[[flows]]\nfrom = "h1"\nto = "h2"\n'
    )
    command = [
        "run",
        str(scenario),
        "--engine",
        "simulate",
        "--vary",
        "flows.0.cc=cubic,bbr",
        "--vary",
        "topology.rtt=10 ms,20 ms",
    ]
    command += ["--repeat", "2", "--jobs", "2", "--output", str(tmp_path / "studies")]
    assert invoke(command) == 0
    said = capsys.readouterr().out
    assert "4 cells x 2 repetitions x 0.3 s = 8 runs, 2.4 s of traffic\n" in said
    (row,) = [line for line in said.splitlines() if line.startswith("bbr") and "20 ms" in line]
    assert "Mbit/s" in row
    report = Path(said.splitlines()[-1])
    assert report.name == "report.html"
    assert "8 runs: 8 valid" in report.read_text()
    study = dumbbell.Study(report.parent)
    assert study.runs.height == 8
    kept = (study.directory / "scenario.toml").read_text()
    assert kept.startswith(scenario.read_text().partition("[topology]")[0])
    again = [
        "run",
        str(study.directory / "scenario.toml"),
        "--engine",
        "simulate",
        "--output",
        str(tmp_path / "studies"),
    ]
    assert invoke(again) == 0
    assert capsys.readouterr().out.splitlines()[-1] == str(report)
    assert len(list((tmp_path / "studies").iterdir())) == 1
    assert invoke([*command, "--json"]) == 0
    assert '"failed": 0' in capsys.readouterr().out
    assert invoke(["run", str(scenario), "--engine", "simulate", "--vary", "flows.0.cc"]) == 2


def test_every_column_is_documented(tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "reference" / "records.md").read_text()
    own = page.split("\n## Studies\n")[1].split("\n## ")[0]
    flows = page.split("\n## flows\n")[1].split("\n## ")[0]
    study = simulate(SMALL, directory=tmp_path)
    for table, sections in (("runs", own), ("flows", own + flows), ("links", own)):
        assert [column for column in study.scan(table).collect_schema() if f"`{column}`" not in sections] == []


def test_planning_many_cells_says_the_size_first_and_shows_progress(capsys: pytest.CaptureFixture[str]) -> None:
    now = [0.0]
    lines = Lines(clock=lambda: now[0])
    lines({"event": "planning", "cells": 0, "of": 250_000, "least": 4})
    for cells, at_s in ((1, 0.1), (10_000, 2.1), (10_001, 2.2), (30_000, 6.1), (250_000, 50.0)):
        now[0] = at_s
        lines({"event": "planning", "cells": cells, "of": 250_000})
    assert capsys.readouterr().out.splitlines() == [
        "250,000 cells x 4 repetitions = 1,000,000 runs: planning",
        "planned 10,000 of 250,000 cells, 50 s left",
        "planned 30,000 of 250,000 cells, 45 s left",
    ]


def test_planning_few_cells_is_not_worth_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    lines = Lines(clock=lambda: 0.0)
    for cells in (0, 1, 2):
        lines({"event": "planning", "cells": cells, "of": 2, "least": 4})
    assert capsys.readouterr().out == ""


def test_the_size_is_told_before_planning_begins(tmp_path: Path) -> None:
    """Before the bar begins, which would keep planning from several processes: it has a thread."""
    told: list[Any] = []
    simulate(SMALL, {"topology.rtt": ["10 ms", "20 ms"]}, 2, directory=tmp_path, on_event=told.append)
    assert told[0] == {"event": "planning", "cells": 0, "of": 2, "least": 2}
    threads = threading.active_count()
    with Bar() as bar:
        bar({"event": "planning", "cells": 0, "of": 250_000, "least": 4})
        assert threading.active_count() == threads


def test_the_bar_shows_speed_and_finish(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    for name, value in (("FORCE_COLOR", "1"), ("TERM", "xterm"), ("COLUMNS", "120")):
        monkeypatch.setenv(name, value)
    # Another test's console, which was no terminal, would serve here, too.
    monkeypatch.setattr("rich._console", None)
    with Bar() as bar:
        bar({"event": "planning", "cells": 1, "of": 2})
        size = {"cells": 2, "least": 100, "until": False, "runs": 200, "longest_s": 20.0, "traffic_s": 4000.0}
        bar({"event": "planned", **size, "at_once": 3.6, "forecast_s": 1111.0})
        bar({"event": "progress", "runs": 60, "found": 10, "of": 200, "failed": 1, "wall_s": 0.5})
    said = capsys.readouterr().out
    assert "2 cells x 100 repetitions x 20 s = 200 runs, 1 h 6 min of traffic; 4 at a time: about 18 min 31 s" in said
    assert "100 runs/s, 1 s left, 1 failed" in said
    with Bar() as bar:
        bar(
            {"event": "progress", "runs": 1, "found": 0, "of": 9, "failed": 0, "repeated": 2, "wall_s": 9, "left_s": 80}
        )
    said = capsys.readouterr().out
    assert "1 min 20 s left, until about " in said
    assert ", 2 repeated" in said


def test_a_study_that_goes_on_says_when_it_began(tmp_path: Path) -> None:
    first = simulate(SMALL, repeat=2, directory=tmp_path)
    again = simulate(SMALL, repeat=3, directory=tmp_path)
    assert "continued_at" not in first.manifest
    assert again.manifest["started_at"] == first.manifest["started_at"] < again.manifest["continued_at"]
    assert "; continued " in again.report().read_text(encoding="utf-8")

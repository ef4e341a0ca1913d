"""Studies as a user meets them: killed and gone on with, and a short one in real time."""

from __future__ import annotations

import json
import re
import signal
from pathlib import Path

import polars as pl
import pytest
from harness import Live, Place, until
from proof import not_proven
from scenarios import flow, path

import dumbbell

SMALL = path(flow(), duration="5 s")
RUNS = 5000
"""Minutes of work: never through before it is stopped."""
SIMULATED = ("--engine", "simulate", "--repeat", str(RUNS))


def study_of(place: Place) -> dumbbell.Study:
    (found,) = (place.directory / "studies").iterdir()
    return dumbbell.Study(found)


def shards(place: Place) -> list[Path]:
    return list(place.directory.glob("studies/*/shards/[0-9]*"))


def wait_for_shards(place: Place, live: Live) -> None:
    until(lambda: len(shards(place)) > 2 or live.process.poll() is not None, 60, "the first shards")
    assert live.process.poll() is None, live.output()


@pytest.mark.thorough
def test_a_killed_study_goes_on_without_doing_anything_twice(anyone: Place) -> None:
    with anyone.starting(SMALL, *SIMULATED) as live:
        wait_for_shards(anyone, live)
        assert anyone.invoke("status", "test").stdout.startswith("test (simulate): running\n")
        live.process.send_signal(signal.SIGKILL)
        assert live.end() == -signal.SIGKILL
    said = anyone.invoke("status", "test", "--json")
    assert said.returncode == 0, said.stderr
    told = json.loads(said.stdout)
    assert told["status"] == "killed"
    assert 0 < told["done"] < told["runs"] == RUNS
    kept = {shard: (shard / "flows.parquet").stat().st_mtime_ns for shard in shards(anyone)}
    # A few more are enough.
    wanted = told["done"] + 70
    done = anyone.invoke("run", "./scenario.toml", "--engine", "simulate", "--repeat", str(wanted), "--quiet")
    assert done.returncode == 0, done.stderr
    study = study_of(anyone)
    assert study.manifest["cost"]["found"] >= told["done"]
    assert study.runs["run"].to_list() == list(range(wanted))
    assert study.runs["error"].null_count() == wanted
    assert kept.items() <= {shard: (shard / "flows.parquet").stat().st_mtime_ns for shard in shards(anyone)}.items()
    assert anyone.invoke("status", str(study.directory)).stdout.startswith(f"test (simulate): complete\n{wanted:,} of")


def test_an_interrupted_study_says_how_to_go_on(here: Place) -> None:
    with here.starting(SMALL, *SIMULATED) as live:
        wait_for_shards(here, live)
        live.process.send_signal(signal.SIGINT)
        assert live.end() == 130
        assert "error: the study was interrupted\n  finished runs are in studies/test-" in live.output()
        assert "hint: the same command continues from there" in live.output()
    assert here.invoke("status", "test").stdout.startswith("test (simulate): interrupted\n")


# Its two runs have a CPU each: beside other tests both are invalid.
@pytest.mark.alone
@pytest.mark.real_time
def test_a_study_in_real_time(anyone: Place) -> None:
    """Two cells, one run each: each run's figures are in the study's tables, its records in a separate directory."""
    expect = '\n[[expect]]\nmetric = "goodput"\nmin = "1 Mbit/s"\n'
    scenario = anyone.write(path(flow(), duration="1 s") + expect)
    command = ("run", scenario, "--vary", "flows.0.cc=cubic,reno")
    done = anyone.invoke(*command, timeout_s=120)
    assert done.returncode in (0, 3, 5), done.stderr
    # As many as have CPUs of their own.
    size = "2 cells x 1 repetition x 1 s = 2 runs, 2 s of traffic; (1 at a time: about 4 s|2 at a time: about 2 s)\n"
    assert re.search(size, done.stdout)
    study = study_of(anyone)
    assert study.manifest["engine"] == "emulate"
    usable = study.runs.filter(pl.col("verdict").is_in(["valid", "suspect"]))
    for row in usable.iter_rows(named=True):
        run = study.open(row["run"])
        assert run.verdict == row["verdict"]
        assert run.packets is None
        flows = study.flows.filter(run=row["run"])
        assert flows["cc"].to_list() == [row["flows.0.cc"]]
        assert flows["goodput_bps"].to_list() == run.flows["goodput_bps"].to_list()
    again = anyone.invoke(*command, "--json", "--quiet")
    assert again.returncode == done.returncode
    assert json.loads(again.stdout)["runs"] == 2
    assert study_of(anyone).manifest["cost"]["found"] == 2
    if usable.height < 2:
        not_proven(f"{2 - usable.height} of 2 runs were invalid each time: {study.runs['verdict'].to_list()}")
    assert (anyone.directory / done.stdout.splitlines()[-1]).read_text().startswith("<!doctype html>")
    assert "holds: goodput >= 1 Mbit/s: " in done.stdout

"""`dumbbell run bbr-vs-cubic`, shortened: all that it leaves and says.

No test asks for the verdict `valid`: it depends on how busy the machine is. Checks that do not, such as the
conservation of packets, must be valid everywhere.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator

import polars as pl
import pytest
from harness import Place, place_of
from page import References
from scenarios import checks, link

import dumbbell
from dumbbell.analysis import metrics
from dumbbell.analysis.rules.rule import Verdict, worst

# Tests of one process share the runs.
pytestmark = pytest.mark.xdist_group("run")

RATE = 30_000_000
SHORT = {"duration": "3 s", "flows.1.start": "500 ms", "topology.bottleneck.rate": "30 Mbit/s"}
SET = [word for key, value in SHORT.items() for word in ("--set", f"{key}={value}")]
BRIEF = ["--set", "duration=500 ms", "--set", "flows.1.start=100 ms"]
FILES = {
    *("emulator.json", "flows.parquet", "lab.json", "links.parquet", "logs", "manifest.json", "packets.parquet"),
    *("plan.json", "report.html", "samples.parquet", "scenario.toml", "summary.json", "traffic.json"),
}


@pytest.fixture(scope="module", params=["root", "ordinary"])
def done(request: pytest.FixtureRequest) -> Iterator[tuple[dumbbell.Run, int, str]]:
    """The run, the command's exit code, and what it printed."""
    with place_of(request.param) as place:
        command = place.invoke("run", "bbr-vs-cubic", *SET)
        assert command.stderr == ""
        last = command.stdout.splitlines()[-1]
        yield dumbbell.open((place.directory / last).parent), command.returncode, command.stdout


def test_it_leaves_all_files(done: tuple[dumbbell.Run, int, str]) -> None:
    run, _, _ = done
    recorded = {"acks.parquet", "probe.json"} if run.manifest["lab"]["acks"]["recorded"] else set()
    assert {path.name for path in run.directory.iterdir()} == FILES | recorded
    assert run.manifest["status"] == "complete"
    assert run.manifest["run_id"] == run.summary["run_id"] == run.directory.name.removeprefix("bbr-vs-cubic-")
    assert run.repeat == f"dumbbell run {run.directory}/scenario.toml"
    assert run.manifest["machine"]["kernel"]
    assert 0 < run.manifest["cost"]["logging"] < 1
    assert run.scenario_text.startswith("# One CUBIC and one BBR flow")


def test_it_says_what_it_does_and_found(done: tuple[dumbbell.Run, int, str]) -> None:
    run, code, output = done
    lines = output.splitlines()
    assert lines[0] == "bbr-vs-cubic: checking"
    assert lines.index("building the lab") < lines.index("running") < lines.index("judging the run")
    assert f"verdict: {run.verdict}" in output
    assert "f1 cubic" in output
    assert "f2 bbr" in output
    assert code == (3 if run.verdict == "invalid" else 0)


def test_what_does_not_depend_on_time_is_valid(done: tuple[dumbbell.Run, int, str]) -> None:
    found = checks(done[0])
    for name in ("conservation", "packet-log", "ring-drops", "delay-line", "send-errors", "interfaces", "unroutable"):
        assert found[name]["verdict"] == "valid", found[name]
    for name in ("complete", "flow-errors", "algorithm", "offloads", "sysctls", "clock-steps", "rtt-floor"):
        assert found[name]["verdict"] == "valid", found[name]
    assert found["algorithm"]["measured"] == "f1: cubic, f2: bbr"


@pytest.mark.real_time
def test_the_figures_are_plausible(done: tuple[dumbbell.Run, int, str]) -> None:
    run, _, _ = done
    flows = {flow["id"]: flow for flow in run.summary["flows"]}
    assert [(flow["cc"], flow["protocol"]) for flow in flows.values()] == [("cubic", "tcp"), ("bbr", "tcp")]
    # The headers leave at most this over the whole run; within a window, bytes behind a hole may come at once.
    assert sum(flow["received_bytes"] for flow in flows.values()) * 8 <= 3 * RATE * 1448 / 1514
    # The queue is full after the first second; a loaded machine takes its share of the rest.
    steady = metrics.between(run.directory, 1_000_000_000, 3_000_000_000).received_bytes
    assert sum(steady.values()) * 8 / 2 >= 0.85 * RATE
    for flow in flows.values():
        assert 30 <= flow["rtt_ms"]["min"] <= flow["rtt_ms"]["p50"] <= flow["rtt_ms"]["p95"]
        assert flow["goodput_bps"] > 0
    # 1 BDP of queue: 30 ms, rounded down to whole bytes.
    assert link(run)["queue_ms"]["max"] <= 30 + 8 * 1514 / RATE * 1e3
    assert link(run)["queue_ms"]["p50"] <= link(run)["queue_ms"]["p95"] <= link(run)["queue_ms"]["max"]
    assert link(run)["drops"] > 0
    assert sum(flow["retransmitted_segments"] for flow in flows.values()) > 0
    assert 0.5 <= run.summary["jain_index"] <= 1
    assert run.summary["attempts"] == {"failed": 0, "excluded": 0}


@pytest.mark.real_time
def test_samples_hold_the_senders_state(done: tuple[dumbbell.Run, int, str]) -> None:
    run, _, _ = done
    states = {"open", "disorder", "cwr", "recovery", "loss"}
    assert set(run.samples["ca_state"].drop_nulls().unique()) <= states
    cubic, bbr = (run.samples.filter(pl.col("flow") == flow) for flow in ("f1", "f2"))
    assert cubic["bbr_bw_bps"].null_count() == len(cubic)
    assert bbr["bbr_bw_bps"].drop_nulls().max() <= 3 * RATE
    assert bbr["bbr_pacing_gain"].drop_nulls().max() > 2
    assert cubic["ssthresh_packets"].drop_nulls().len() > 0
    for flow in (cubic, bbr):
        assert flow["time_ns"].is_sorted()
        for column in ("received_bytes", "bytes_acked", "retransmitted_segments", "busy_us"):
            assert flow[column].drop_nulls().is_sorted(), column
    # There are 300 ticks of f1; the bound leaves room for a loaded machine.
    assert len(cubic) > 200


def test_the_report_is_one_file(done: tuple[dumbbell.Run, int, str]) -> None:
    page = (done[0].directory / "report.html").read_text(encoding="utf-8")
    references = References(page)
    assert [url for url in references.found if not url.startswith(("data:", "#"))] == []
    assert re.findall(r"@import|url\((?!['\"]?(?:data:|#))", page) == []
    # The policy forbids the browser to fetch anything.
    assert "default-src 'none'" in references.policy


def test_json_is_all_that_stdout_holds_and_the_former_run_is_kept(here: Place) -> None:
    runs = []
    for _ in range(2):
        done = here.invoke("run", "bbr-vs-cubic", "--json", *BRIEF)
        assert done.stderr == ""
        runs.append(json.loads(done.stdout))
        assert done.returncode == (3 if runs[-1]["verdict"] == "invalid" else 0)
    first, second = runs
    # The same plan has the same id, and nothing is overwritten.
    assert first["run_id"] == second["run_id"]
    assert first["run_dir"] == second["run_dir"] == f"runs/bbr-vs-cubic-{first['run_id']}"
    assert here.runs() == [f"bbr-vs-cubic-{first['run_id']}", f"bbr-vs-cubic-{first['run_id']}.1"]
    kept, latest = (
        dumbbell.open(here.directory / f"{first['run_dir']}.1"),
        dumbbell.open(here.directory / first["run_dir"]),
    )
    assert {**kept.summary, "run_dir": first["run_dir"]} == first
    assert kept.manifest["started_at"] < latest.manifest["started_at"]
    assert second["attempts"] == {"failed": 0, "excluded": int(first["verdict"] == "invalid")}


WITHOUT = {"polars", "numpy", "scipy", "matplotlib", "dumbbell._core"}
"""Each takes longer to import than all that comes before the first line."""

AT_ONCE = f"""
import os, sys
from dumbbell.cli import invoke

class Told:
    def write(self, text):
        os.write(1, (text + str(sorted({WITHOUT} & set(sys.modules)))).encode())
        os._exit(0)

sys.stdout = Told()
invoke(["run", "single-flow"])
"""


def test_something_shows_before_anything_large_is_imported() -> None:
    first = subprocess.run([sys.executable, "-c", AT_ONCE], capture_output=True, text=True, timeout=60, check=True)
    assert first.stdout == "single-flow: checking[]"


def test_a_refusal_comes_after_the_first_line(here: Place) -> None:
    done = here.invoke("run", "no-such-scenario")
    assert done.stdout == "no-such-scenario: checking\n"
    assert done.returncode == 2


def test_the_python_interface(here: Place) -> None:
    events: list[str] = []
    run = dumbbell.run(
        "bbr-vs-cubic",
        {"duration": "500 ms", "flows.1.start": "100 ms"},
        here.directory / "runs",
        on_event=lambda event: events.append(event["event"]),
    )
    frames = [run.flows, run.samples, run.packets, run.links]
    assert all(isinstance(frame, pl.DataFrame) and len(frame) > 0 for frame in frames)
    assert len(run.plot().axes) >= 4
    assert run.verdict == worst(Verdict(check["verdict"]) for check in run.summary["checks"])
    assert {"planned", "lab", "ready", "started", "progress", "done", "end", "composing"} <= set(events)

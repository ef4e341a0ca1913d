"""Two studies, and two runs, side by side."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import synthetic_run
from synthetic_study import SCENARIO, Synthetic

import dumbbell
from dumbbell import Study
from dumbbell.agree import figures
from dumbbell.cli import invoke
from dumbbell.cli.compare import heads
from dumbbell.comparison import settings
from dumbbell.comparison.parts import split
from dumbbell.comparison.studies import compare
from dumbbell.errors import InputError

QUIC_FLOW = {
    "id": "f1",
    "received_bytes": 10**6,
    "goodput_bps": 8e5,
    "rtt_ms": {"min": 40.0, "p50": 41.0, "p95": 60.0},
    "queue_ms": None,
    "retransmitted_segments": None,
    "quic": {"handshake_ms": 41.5, "sent_packets": 900, "lost_packets": 7},
}
CELLS = [{"b.buffer": buffer} for buffer in ("1 bdp", "4 bdp")]


def faster(cell: Any, cc: str) -> float:
    return {"bbr": 66.0, "cubic": 30.0}[cc]


def write(path: Path, **spec: Any) -> Study:
    return Study(Synthetic(cells=spec.pop("cells", CELLS), **spec).write(path))


@pytest.fixture
def both(tmp_path: Path) -> tuple[Study, Study]:
    slower = SCENARIO.replace("100 Mbit/s", "90 Mbit/s")
    return write(tmp_path / "a"), write(
        tmp_path / "b", goodput_mbit=faster, scenario=slower, manifest={"engine": "emulate"}
    )


def test_settings_that_differ(both: tuple[Study, Study]) -> None:
    found = [(one.key, one.a, one.b) for one in settings.of_studies(*both)]
    assert ("engine", "simulate", "emulate") in found
    assert ("topology.bottleneck.rate", "100 Mbit/s", "90 Mbit/s") in found
    assert {key for key, _, _ in found} == {"engine", "topology.bottleneck.rate"}


def test_lists_of_tables_are_compared_entry_by_entry() -> None:
    a = {"flows": [{"cc": "cubic"}, {"cc": "bbr"}], "list": [1, 2]}
    b = {"flows": [{"cc": "cubic"}], "list": [1, 3]}
    found = settings.differing(settings.flat(a), settings.flat(b))
    assert [(one.key, one.a, one.b) for one in found] == [
        ("flows.1.cc", "bbr", settings.ABSENT),
        ("list", "1, 2", "1, 3"),
    ]


def test_columns_are_told_apart(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """No two have one name, and algorithms are named in words, in places and among the settings."""
    own = '{ kernel = "aimd.bpf.c" }'
    cells = [{"flows.0.cc": own, "flows.1.cc": other} for other in ("cubic", "bbr")]
    a = write(tmp_path / "a", cells=cells)
    b = write(tmp_path / "b", cells=[*cells, {"flows.0.cc": own, "flows.1.cc": "reno"}])
    assert compare(a, b, ["goodput"], 0.95).rows[0].place == ("aimd", "cubic")
    assert invoke(["compare", str(a.directory), str(b.directory), "--metric", "goodput"]) == 0
    told = capsys.readouterr().out
    assert re.search(r"^varied: flows.1.cc +cubic, bbr +cubic, bbr, reno *$", told, re.MULTILINE)
    assert re.search(r"^flows.0.cc +flows.1.cc +of +A +B ", told, re.MULTILINE)
    assert "kernel =" not in told
    assert heads(["topology.bottleneck.buffer", "topology.rtt"]) == ["buffer", "rtt"]


def test_runs_are_compared_in_the_words_of_their_scenarios(tmp_path: Path) -> None:
    runs = [
        dumbbell.run("single-flow", {"duration": "0.1 s", **more}, tmp_path, engine="simulate", report=False)
        for more in ({}, {"topology.bottleneck.rate": "20 Mbit/s", "flows.0.cc": "bbr3"})
    ]
    assert [(one.key, one.a, one.b) for one in settings.of_runs(*runs)] == [  # type: ignore[arg-type]
        ("topology.bottleneck.rate", "50 Mbit/s", "20 Mbit/s"),
        ("flows.0.cc", "cubic", "bbr3"),
    ]


def test_compare_in_python(both: tuple[Study, Study], tmp_path: Path) -> None:
    found = dumbbell.compare(*both, metrics=["goodput"])
    assert ("engine", "simulate", "emulate") in [(one.key, one.a, one.b) for one in found.settings]
    assert found.figures["b.buffer"].to_list() == ["1 bdp", "4 bdp"]
    row = found.figures.row(0, named=True)
    assert row["low"] < row["difference"] < row["high"]
    assert row["difference"] == pytest.approx(row["b"] - row["a"])
    runs = [
        dumbbell.run("single-flow", {"duration": "0.1 s", "flows.0.cc": cc}, tmp_path, engine="simulate", report=False)
        for cc in ("cubic", "reno")
    ]
    of_runs = dumbbell.compare(runs[0], runs[1].directory)
    assert [(one.key, one.a, one.b) for one in of_runs.settings] == [("flows.0.cc", "cubic", "reno")]
    assert {"total goodput", "RTT p50"} <= set(of_runs.figures["metric"])
    with pytest.raises(InputError, match="a run and a study"):
        dumbbell.compare(both[0].directory, runs[0])


def test_differences_with_their_intervals(both: tuple[Study, Study]) -> None:
    found = compare(*both, ["received_bytes", "goodput_share"], 0.95)
    assert (found.keys, found.only_a, found.only_b) == (("b.buffer",), (), ())
    assert len(found.rows) == 2 + 4
    share = next(row for row in found.rows if row.of == "bbr")
    assert (share.place, share.n_a, share.n_b, share.contrast.method) == (("1 bdp",), 5, 5, "paired")
    # The noise of both is the same, seed by seed.
    assert share.contrast.difference.value == pytest.approx(66 / 96 - 60 / 90, abs=1e-3)
    assert share.contrast.is_clear


def test_cells_and_algorithms_that_one_of_them_lacks_are_told(tmp_path: Path) -> None:
    a = write(tmp_path / "a", cells=[*CELLS, {"b.buffer": "8 bdp"}])
    b = write(tmp_path / "b", ccs=("cubic", "vegas"), repeat=3)
    found = compare(a, b, ["goodput_share"], 0.95)
    assert (found.only_a, found.only_b) == ((("8 bdp",),), ())
    assert (found.of_only_a, found.of_only_b) == (("bbr",), ("vegas",))
    assert {(row.of, row.n_a, row.n_b, row.contrast.by) for row in found.rows} == {("cubic", 5, 3, "3 pairs")}


def test_studies_that_do_not_overlap(tmp_path: Path) -> None:
    a = write(tmp_path / "a")
    with pytest.raises(InputError, match="no cell to compare"):
        compare(a, write(tmp_path / "b", cells=[{"b.buffer": "9 bdp"}]), ["goodput"], 0.95)
    with pytest.raises(InputError, match="has several cells"):
        compare(a, write(tmp_path / "c", cells=[{"x": 1}, {"x": 2}]), ["goodput"], 0.95)


def test_the_command_on_studies(both: tuple[Study, Study], capsys: pytest.CaptureFixture[str]) -> None:
    names = [str(study.directory) for study in both]
    assert invoke(["compare", *names]) == 0
    told = capsys.readouterr().out
    assert told.index("Settings that differ") < told.index("topology.bottleneck.rate") < told.index("Goodput")
    assert "95 % interval" in told
    assert invoke(["compare", *names, "--metric", "all", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["settings"][0] == {"key": "engine", "a": "simulate", "b": "emulate"}
    assert {"goodput", "rtt_p50", "power"} <= {row["metric"] for row in found["metrics"]}
    assert invoke(["compare", names[0], names[0]]) == 0
    assert "No settings differ" in capsys.readouterr().out


def test_the_command_on_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runs = [synthetic_run.Synthetic(rate_bps=rate).write(tmp_path / str(rate)) for rate in (20e6, 40e6)]
    assert invoke(["compare", *map(str, runs)]) == 0
    told = capsys.readouterr().out
    assert "links.0.rate_bps" in told
    assert "without intervals" in told
    assert "total goodput (Mbit/s)" in told


def test_a_study_is_compared_with_itself_by_a_key(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Cells that are equal are counted; `--differing` shows the others alone."""
    cells = [{"flows.0.stack": stack, **cell} for cell in CELLS for stack in ("noq", "noq@branch")]

    def goodput(cell: Any, cc: str) -> float:
        return 50.0 if cell == {"flows.0.stack": "noq@branch", "b.buffer": "4 bdp"} else 40.0

    study = write(tmp_path / "a", cells=cells, goodput_mbit=goodput, repeat=1, spread=0, links={})
    by = ["compare", str(study.directory), "--by", "flows.0.stack", "--metric", "goodput"]
    assert invoke([*by, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["settings"] == [{"key": "flows.0.stack", "a": "noq", "b": "noq@branch"}]
    assert found["cells"] == {"both": 2, "equal": 1}
    assert [row["b.buffer"] for row in found["metrics"]] == ["1 bdp", "4 bdp"]
    assert invoke([*by, "--differing"]) == 0
    told = capsys.readouterr().out
    assert "1 of 2 cells have the same figures in A and B." in told
    assert "4 bdp" in told
    assert "1 bdp" not in told
    assert invoke(["compare", str(study.directory), "--by", "flows.0.cc"]) == 2
    assert "it varies flows.0.stack, b.buffer" in capsys.readouterr().err
    assert invoke(["compare", str(study.directory)]) == 2
    assert "--by splits a study" in capsys.readouterr().err


def test_the_algorithm_that_each_part_has_alone_is_one_row(tmp_path: Path) -> None:
    study = write(tmp_path / "a", cells=[{"flows": "cubic+bbr"}, {"flows": "cubic+reno"}])
    a, b, *_ = split(study, "flows")
    found = compare(a, b, ["goodput_share"], 0.95, are_parts=True)
    assert {row.of for row in found.rows} == {"cubic", "bbr, reno"}
    assert (found.of_only_a, found.of_only_b) == ((), ())


@pytest.mark.parametrize(
    ("here", "there", "rows"),
    [
        ("noq/cubic+cubic", "noq@branch/cubic+cubic", {"noq/cubic, noq@branch/cubic", "cubic"}),
        (
            "noq/cubic+noq/bbr3",
            "noq@retry/cubic+noq@retry/bbr3",
            {"noq/cubic, noq@retry/cubic", "noq/bbr3, noq@retry/bbr3"},
        ),
        (
            "noq@a/cubic+quinn/cubic",
            "noq@b/cubic+quiche/cubic",
            {"noq@a/cubic, noq@b/cubic", "quinn/cubic, quiche/cubic"},
        ),
        ("noq/cubic+cubic", "noq/cubic+quinn/cubic", {"noq/cubic"}),
    ],
)
def test_quic_flows_of_two_studies_are_paired(here: str, there: str, rows: set[str], tmp_path: Path) -> None:
    """By the stack, whatever build of it; else those that are left. TCP and QUIC are two."""
    a, b = (write(tmp_path / name, ccs=ccs.split("+")) for name, ccs in (("a", here), ("b", there)))
    found = compare(a, b, ["goodput_share"], 0.95)
    assert {row.of for row in found.rows} == rows


def test_figures_of_quic_flows_are_compared_of_two_runs() -> None:
    summary = {"duration_s": 10.0, "jain_index": None, "links": [], "flows": [QUIC_FLOW]}
    told = {(what.measure, what.unit): value for what, value in figures.of_summary(summary).items()}
    assert told["QUIC handshake", "ms"] == 41.5
    assert told["QUIC sent", "datagrams"] == 900
    assert told["QUIC lost", "packets"] == 7


def test_refusals(both: tuple[Study, Study], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = synthetic_run.Synthetic().write(tmp_path / "run")
    assert invoke(["compare", str(both[0].directory), str(run)]) == 2
    assert "compare two studies, or two runs" in capsys.readouterr().err
    assert invoke(["compare", *(str(study.directory) for study in both), "--metric", "goodness"]) == 2
    assert "no metric 'goodness'" in capsys.readouterr().err


def test_reports_and_comparisons_find_studies_by_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    study = write(Path("studies/my-0123456789ab")).directory
    run = synthetic_run.Synthetic().write(Path("runs/my-ba9876543210"))
    other = synthetic_run.Synthetic().write(Path("runs/other-ba9876543210"))
    assert invoke(["report", "my", "other", "--format", "csv"]) == 0
    shown = capsys.readouterr()
    assert {Path(line).parts[:2] for line in shown.out.splitlines()} == {study.parts, other.parts}
    assert shown.err == f"note: my is also a run: {run}\n"
    assert invoke(["compare", "my", "my", "--metric", "goodput"]) == 0
    assert "No settings differ." in capsys.readouterr().out
    assert invoke(["report", "mine"]) == 2
    assert "error: no study and no run at mine\n" in capsys.readouterr().err


def test_a_comparison_says_when_it_rests_on_suspect_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    judged = {0: "suspect", 1: "suspect"}
    a = Synthetic(repeat=4, verdicts=judged, reasons={0: "stall", 1: "stall"}).write(tmp_path / "a")
    b = Synthetic(repeat=4).write(tmp_path / "b")
    names = [str(a), str(b), "--metric", "goodput"]
    assert invoke(["compare", *names]) == 0
    told = capsys.readouterr().out
    assert told.startswith("A: 4 runs: 2 valid, 2 suspect (stall 2)\nB: 4 runs: 4 valid\n2 of the 8 runs compared are")
    assert "(2, 0 suspect)" in told
    assert invoke(["compare", *names, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["verdicts"]["a"]["suspect"], found["verdicts"]["b"]["suspect"]) == (2, 0)
    assert {(row["suspect_a"], row["suspect_b"]) for row in found["metrics"]} == {(2, 0)}
    assert invoke(["compare", str(b), str(b)]) == 0
    assert "suspect" not in capsys.readouterr().out

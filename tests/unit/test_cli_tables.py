"""The tables that `dumbbell run` prints: what occurred, no column for what didn't, and how sure means are."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from synthetic_study import Synthetic

from dumbbell import Study
from dumbbell.cli import study as printed
from dumbbell.cli.run import flows_table, links_table
from dumbbell.cli.study_table import table as table_of
from dumbbell.statistics.intervals import of_mean
from dumbbell.studies.measures import by_run
from dumbbell.table import Table

FATES = tuple(f"dropped-{reason}" for reason in ("tail", "head", "early", "policed", "delay-line", "down"))


def link(dropped: dict[str, int] | None = None, **changes: Any) -> dict[str, Any]:
    by_reason = dict.fromkeys(FATES, 0) | (dropped or {})
    nothing = dict.fromkeys(("losses", "marks", "duplicates", "reordered", "corrupted"), 0)
    return {
        **{"name": "bottleneck", "rate_bps": 10_000_000, "utilisation": 0.5, **nothing},
        **{"drops": sum(by_reason.values()), "drops_by_reason": by_reason, "queue_ms": None, **changes},
    }


def flow(**changes: Any) -> dict[str, Any]:
    rtt = {"min": 1.0, "p50": 2.0, "p95": 3.0}
    return {
        **{"label": "f1 cubic", "from": "h1", "to": "h2", "goodput_bps": 1e6, "rtt_ms": rtt, "fct_s": None},
        **{"retransmitted_segments": 4, "ce_packets": None, "ce_share": None, **changes},
    }


def of_links(*links: dict[str, Any]) -> Table:
    found: Table = links_table({"links": links})
    return found


def test_a_full_buffer_needs_no_reason() -> None:
    table = of_links(link({"dropped-tail": 7}), link(rate_bps=None))
    assert table.columns == ["link", "rate", "utilisation", "drops", "queue p50", "p95", "max (ms)"]
    assert [row[3] for row in table.rows] == ["7"], "links without a rate have no row"


def test_other_drops_stand_by_reason() -> None:
    table = of_links(link({"dropped-tail": 1, "dropped-early": 30}), link({"dropped-down": 5}))
    assert table.columns[3:6] == ["tail drops", "early drops", "down drops"]
    assert [row[3:6] for row in table.rows] == [["1", "30", "0"], ["0", "0", "5"]]


def test_other_fates_of_packets_have_a_column_where_there_are_any() -> None:
    table = of_links(link(marks=12, losses=3), link(reordered=2))
    assert table.columns[3:7] == ["drops", "losses", "marks", "reordered"]
    assert [row[3:7] for row in table.rows] == [["0", "3", "12", "0"], ["0", "0", "0", "2"]]


def test_flows_show_marks_and_completion_only_where_there_are_any() -> None:
    plain: Table = flows_table({"flows": [flow(), flow(ce_packets=0, ce_share=0.0)]}, with_bottlenecks=False)
    assert plain.columns[-1] == "retransmitted"
    both: Table = flows_table(
        {"flows": [flow(ce_packets=5, ce_share=0.0123, fct_s=1.5), flow()]}, with_bottlenecks=False
    )
    assert both.columns[-2:] == ["ECN-marked", "completed in"]
    assert [row[-2:] for row in both.rows] == [["1.2 %", "1.5 s"], ["–", "–"]]  # noqa: RUF001  unknown


def test_a_study_counts_runs_that_can_be_used_and_gives_intervals(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Runs 1 and 3 are of the second cell, whose third repetition is left; of the third cell nothing is."""
    cells = [{"topology.rtt": rtt} for rtt in ("10 ms", "20 ms", "30 ms")]
    failed = (1, 4, 2, 5, 8)
    study = Study(Synthetic(cells=cells, repeat=3, failed=failed, spread=0.1).write(tmp_path))
    found = table_of(study)
    assert found.columns[:3] == ["topology.rtt", "runs", "goodput"]
    assert [row[:2] for row in found.rows] == [["10 ms", "3"], ["20 ms", "1 of 3"], ["30 ms", "0 of 3"]]
    values = by_run(study, "goodput").filter(cell=0)["value"].to_list()
    known = of_mean(values)
    assert known.half_width is not None
    assert found.rows[0][2] == f"{known.value / 1e6:.1f} ± {known.half_width / 1e6:.1f} Mbit/s"
    one = by_run(study, "goodput").filter(cell=1)["value"].item()
    assert found.rows[1][2] == f"{one / 1e6:.1f} Mbit/s", "one run has no interval"
    assert set(found.rows[2][2:]) == {"–"}  # noqa: RUF001  unknown
    drops = found.columns.index("drops")
    assert [row[drops] for row in found.rows[:2]] == ["20", "20"], "what does not spread has no interval"
    printed.show(study, json=False)
    assert "5 runs can't be used; the first (--cell 1 --repetition 0): it broke\n" in capsys.readouterr().out


def test_a_study_says_first_which_runs_are_suspect(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cells = [{"topology.rtt": rtt} for rtt in ("10 ms", "20 ms")]
    judged, reasons = {1: "suspect", 3: "suspect"}, {1: "stall", 3: "lateness, stall"}
    study = Study(Synthetic(cells=cells, repeat=2, verdicts=judged, reasons=reasons).write(tmp_path))
    assert [row[1] for row in table_of(study).rows] == ["2", "2, 2 suspect"]
    printed.show(study, json=False)
    assert capsys.readouterr().out.startswith("4 runs: 2 valid, 2 suspect (stall 2, lateness 1)\n")
    printed.show(study, json=True)
    told = json.loads(capsys.readouterr().out)
    because = {"stall": 2, "lateness": 1}
    assert told["verdicts"] == {"valid": 2, "suspect": 2, "invalid": 0, "failed": 0, "because": because}
    assert [cell["suspect"] for cell in told["cells"]] == [0, 2]
    goodput = told["cells"][0]["metrics"]["goodput"]
    assert goodput["n"] == 2
    assert goodput["low"] < goodput["mean"] < goodput["high"]
    assert "suspect (stall 2, lateness 1)" in study._repr_html_()

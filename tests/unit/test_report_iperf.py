"""Flows second by second: iperf3's columns, which sum up to what the records say."""

from __future__ import annotations

import re
from pathlib import Path

import polars as pl
import pytest
from synthetic_run import Synthetic

from dumbbell.cli import invoke
from dumbbell.records import Run

LINE = re.compile(
    r"\[ +(\d+)\] +([\d.]+)-([\d.]+) +sec +([\d.]+) (\w*)Bytes +([\d.]+) (\w*)bits/sec +(\d+) +([\d.]+) (\w*)Bytes"
)
BYTES = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30}
BITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9}


def test_each_second_is_a_line_and_all_sum_up(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    directory = Synthetic().write(tmp_path / "run")
    capsys.readouterr()
    assert invoke(["report", str(directory), "--format", "iperf"]) == 0
    shown = capsys.readouterr().out
    run = Run(directory)
    for number, flow in enumerate(run.summary["flows"], 1):
        rows = [row for row in map(LINE.match, shown.splitlines()) if row and row[1] == str(number)]
        length = flow["stop_s"] - flow["start_s"]
        assert [float(row[2]) for row in rows] == [float(second) for second in range(len(rows))]
        assert float(rows[-1][3]) == pytest.approx(length, abs=0.005)
        samples = run.samples.filter(pl.col("flow") == flow["id"])
        last = samples.row(-1, named=True)
        # A line has three digits.
        moved = sum(float(row[4]) * BYTES[row[5]] for row in rows)
        assert moved == pytest.approx(last["bytes_sent"] - (last["bytes_retransmitted"] or 0), rel=0.005)
        assert sum(int(row[8]) for row in rows) == (last["retransmitted_segments"] or 0)
        assert float(rows[-1][9]) * BYTES[rows[-1][10]] == pytest.approx(
            last["cwnd_packets"] * last["snd_mss_bytes"], rel=0.01
        )
        for row in rows:
            bits = 8 * float(row[4]) * BYTES[row[5]] / (float(row[3]) - float(row[2]))
            assert float(row[6]) * BITS[row[7]] == pytest.approx(bits, rel=0.02)
    assert shown.count(" sender\n") == shown.count(" receiver\n") == len(run.summary["flows"])


def test_a_file_is_not_overwritten_and_a_study_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    directory = Synthetic().write(tmp_path / "run")
    command = ["report", str(directory), "--format", "iperf", "--output", str(tmp_path / "f1.txt")]
    assert invoke(command) == 0
    assert "sender" in (tmp_path / "f1.txt").read_text()
    assert invoke(command) == 2

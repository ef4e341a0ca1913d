"""The acks table against the samples of the same connections."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import known_run
import polars as pl
import pytest

from dumbbell.analysis.evidence import Coverage, coverage
from dumbbell.records import Run
from dumbbell.records.schema import polars_schema

MS = 1_000_000


def run(tmp_path: Path, acks: Sequence[tuple[int, int, str]], samples: Sequence[tuple[int, int]]) -> Run:
    """Rows of acks (ms, delivered, moment) and samples (ms, delivered) of one connection of f1."""
    made = Run(known_run.make(tmp_path / "run"), incomplete=True)
    table(
        [{"time_ns": ms * MS, "delivered_packets": n, "moment": moment} for ms, n, moment in acks], "acks"
    ).write_parquet(made.directory / "acks.parquet")
    table(
        [{"time_ns": ms * MS, "delivered_packets": n, "bytes_sent": 1448 * n} for ms, n in samples], "samples"
    ).write_parquet(made.directory / "samples.parquet")
    return made


def table(rows: list[dict[str, object]], name: str) -> pl.DataFrame:
    schema = polars_schema(name)
    frame = pl.DataFrame([{"flow": "f1", "socket": 40_000} | row for row in rows], infer_schema_length=None)
    absent = [pl.lit(None).alias(column) for column in schema if column not in frame.columns]
    return frame.with_columns(absent).select(*schema).cast(dict(schema))


def covered(run: Run) -> Mapping[str, Coverage]:
    return coverage(run.scan("acks"), run.scan("samples"))


def test_rows_before_their_ack_are_told_by_the_sample_ahead_of_them(tmp_path: Path) -> None:
    acks = [(10, 1, "before"), (20, 2, "before"), (30, 4, "before"), (40, 6, "close")]
    assert covered(run(tmp_path, acks, [(15, 2), (25, 4), (35, 6)])) == {"f1": Coverage(3, 0, 0)}


def test_rows_after_their_ack_are_told_by_the_sample_behind_them(tmp_path: Path) -> None:
    acks = [(10, 1, "after"), (20, 2, "after"), (30, 4, "after"), (40, 4, "close")]
    assert covered(run(tmp_path, acks, [(15, 1), (25, 2), (35, 4)])) == {"f1": Coverage(3, 0, 0)}


def test_a_missing_row_is_found(tmp_path: Path) -> None:
    acks = [(10, 1, "before"), (30, 6, "before"), (40, 6, "close")]
    assert covered(run(tmp_path, acks, [(15, 4), (35, 6)])) == {"f1": Coverage(2, 1, 0)}


def test_the_closing_tail_is_not_compared(tmp_path: Path) -> None:
    """No ACK's row follows the application's close, and nothing precedes the first ACK."""
    acks = [(10, 1, "before"), (20, 2, "close"), (60, 9, "close")]
    assert covered(run(tmp_path, acks, [(5, 1), (15, 2), (25, 4), (35, 6)])) == {"f1": Coverage(1, 0, 0)}


@pytest.mark.parametrize(("acked", "silent"), [(9, 1), (0, 0)])
def test_a_sender_without_rows_is_found_if_it_was_acknowledged(tmp_path: Path, acked: int, silent: int) -> None:
    made = run(tmp_path, [(10, 1, "before")], [(15, 1)])
    told = {"time_ns": 15 * MS, "socket": 40_001, "delivered_packets": 3, "bytes_sent": 9, "bytes_acked": acked}
    other = table([told], "samples")
    both = pl.concat([pl.read_parquet(made.directory / "samples.parquet").cast(dict(polars_schema("samples"))), other])
    both.write_parquet(made.directory / "samples.parquet")
    assert covered(made)["f1"].silent == silent

"""The page on a study's metrics says what the registry says."""

from __future__ import annotations

from pathlib import Path

from dumbbell.statistics.metrics import METRICS

PAGE = Path(__file__).parents[2] / "docs/reference/study-metrics.md"


def test_each_metric_has_its_row_in_order() -> None:
    """If it fails, run `make generate`."""
    rows = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| `")]
    assert [row.split("`")[1] for row in rows] == [*METRICS]
    for row, metric in zip(rows, METRICS.values(), strict=True):
        assert f" | {metric.scopes[0]}" in row
        assert f" | {metric.formula} | " in row.replace("\\|", "|")
        repeated = row.split("as `")[-1].split("`")[0]
        assert row.endswith(f" | {metric.source} |") or METRICS[repeated].source == metric.source

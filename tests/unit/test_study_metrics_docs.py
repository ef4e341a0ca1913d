"""The page on a study's metrics says what the registry says."""

from __future__ import annotations

from pathlib import Path

from dumbbell.statistics.metrics import METRICS, Metric

PAGE = Path(__file__).parents[2] / "docs/reference/study-metrics.md"
BETTER = {"higher": "more", "lower": "less", "neither": ""}


def row(metric: Metric) -> str:
    cells = (f"`{metric.name}`", metric.unit, BETTER[metric.direction], ", ".join(metric.scopes))
    return f"| {' | '.join((*cells, metric.formula, metric.source))} |"


def test_each_metric_has_its_row_in_order() -> None:
    """If it fails, replace the table of the page by these rows."""
    told = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| `")]
    assert told == [row(metric) for metric in METRICS.values()]

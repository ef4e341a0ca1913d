"""The tables of docs/reference/score.md."""

from __future__ import annotations

from dumbbell.yardstick.cases import groups
from dumbbell.yardstick.metrics import METRICS


def metrics() -> str:
    """A row for each metric."""
    rows = [f"| `{one.name}` | {one.what} | {one.why} |" for one in METRICS]
    return "\n".join(["| metric | value | score |", "| --- | --- | --- |", *rows])


def networks() -> str:
    """A row for each group of networks."""
    rows = [f"| `{one.name}` | {len(one.cases)} | {one.description} | `{one.cases[0].name}` |" for one in groups()]
    return "\n".join(["| group | networks | meaning | the first |", "| --- | --- | --- | --- |", *rows])

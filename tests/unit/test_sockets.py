"""Which connections carried a flow's data."""

from __future__ import annotations

import polars as pl

from dumbbell.analysis.sockets import carrying, idle

ROWS = pl.DataFrame(
    [
        *[("f1", 1, None), ("f1", 2, 400_000), ("f1", 1, None), ("f1", 2, 900_000)],
        *[("f2", 3, None)],
        *[("f3", 4, 500_000), ("f3", 5, 600_000), ("f3", 6, 190)],
    ],
    schema=["flow", "socket", "delivered"],
    orient="row",
)


def test_a_connection_is_idle_only_beside_another_of_its_flow() -> None:
    """A flow's only connection carries it, whatever it delivered; one that delivered nothing has null."""
    assert idle(ROWS.unique(["flow", "socket"], keep="last"), "delivered").sort("flow").rows() == [("f1", 1), ("f3", 6)]
    left = [row for row in ROWS.rows() if row[1] not in (1, 6)]
    assert carrying(ROWS, "delivered").rows() == left
    only = ROWS.filter(pl.col("flow") == "f2")
    assert carrying(only, "delivered").rows() == only.rows()

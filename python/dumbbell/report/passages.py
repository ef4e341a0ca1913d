"""Rows of packets at several links, with few looks at a file that holds those of all links."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import polars as pl

from dumbbell.plan.types import Link
from dumbbell.records import Run
from dumbbell.report.facts import summary_list

_ROWS: Final = 2_000_000
"""Rows that are in memory at once, if not one link has more."""


def at_links(
    run: Run, links: Sequence[Link], columns: Sequence[str], where: pl.Expr | None = None
) -> Iterator[tuple[Link, pl.DataFrame]]:
    """Each link with these columns of its rows of `packets`, in the order of the table.

    Args:
        links: without repetition; each is in the result.
        where: the rows that are meant. Default: all.
    """
    counts = {one["name"]: one.get("arrived_packets", _ROWS) for one in summary_list(run, "links")}
    batches, room = list[list[Link]](), 0
    for link in links:
        room -= counts.get(link.name, _ROWS)
        if not batches or room < 0:
            batches.append([])
            room = _ROWS - counts.get(link.name, _ROWS)
        batches[-1].append(link)
    for batch in batches:
        is_meant = pl.col("link").cast(pl.String).is_in([link.name for link in batch])
        rows = run.scan("packets").filter(is_meant if where is None else is_meant & where)
        found = rows.select(pl.col("link").cast(pl.String), *columns).collect()
        parts = found.partition_by("link", include_key=False, maintain_order=True, as_dict=True)
        none = found.clear().drop("link")
        for link in batch:
            yield link, parts.get((link.name,), none)

"""The `acks` table flow by flow, and why it is not there."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import zip_longest
from typing import Final

import polars as pl

from dumbbell.analysis.sockets import carrying
from dumbbell.engines.registry import capabilities
from dumbbell.frozen import dataclass
from dumbbell.records import Run
from dumbbell.report.model import Group

MOST_FLOWS: Final = 12
"""With more flows, curves of ACKs would bury one another; the timed samples are drawn instead."""
_COLUMNS: Final = ("time_ns", "socket", "moment")


@dataclass(frozen=True)
class Acks:
    """One socket of one flow, an ACK per row, in the order of time."""

    flow: str
    group: int
    rows: pl.DataFrame
    sockets: int
    """Number of the flow's sockets; `rows` belong to the one that delivered most."""
    carrying: int = 1
    """Number of sockets that carried the flow's data; the others delivered next to nothing."""

    @property
    def n(self) -> int:
        """Number of ACKs."""
        return self.rows.height


def each(run: Run, groups: Sequence[Group], columns: Iterable[str], most: int = MOST_FLOWS) -> Iterator[Acks]:
    """These `columns` of the ACKs of at most `most` flows, of each group in turn, one flow in memory at a time."""
    wanted = tuple(dict.fromkeys((*_COLUMNS, *sorted(columns))))
    table = run.scan("acks")
    # A connection that closes can have lost its port already.
    open_ones = table.filter(pl.col("moment").cast(pl.String) != "close")
    delivered = open_ones.group_by(pl.col("flow").cast(pl.String), "socket").agg(pl.col("snd_una_bytes").max())
    sockets = delivered.sort("snd_una_bytes", "socket").collect(engine="streaming")
    counts, busiest = _per_flow(sockets, pl.len()), _per_flow(sockets, pl.col("socket").last())
    carried = _per_flow(carrying(sockets, "snd_una_bytes"), pl.len())
    queues = [[(flow, index) for flow in group.flows if flow in counts] for index, group in enumerate(groups)]
    in_turn = [one for turn in zip_longest(*queues) for one in turn if one is not None]
    for flow, group in sorted(in_turn[:most], key=lambda one: one[1]):
        rows = table.filter(pl.col("flow") == flow).select(wanted).collect(engine="streaming")
        if counts[flow] > 1:
            rows = rows.filter(pl.col("socket") == busiest[flow])
        rows = _one_moment(rows)
        # Rows are sorted only if they need it: sorting the table of a gigabit flow takes long.
        in_order = rows if rows["time_ns"].is_sorted() else rows.sort("time_ns", maintain_order=True)
        yield Acks(flow, group, in_order, counts[flow], carried[flow])


def _per_flow(sockets: pl.DataFrame, what: pl.Expr) -> dict[str, int]:
    return dict(sockets.group_by("flow", maintain_order=True).agg(what).iter_rows())


def _one_moment(rows: pl.DataFrame) -> pl.DataFrame:
    """Each ACK once: where both are recorded, what it led to, and not what was before."""
    moment = pl.col("moment").cast(pl.String)
    after, before = rows.select((moment == "after").any(), (moment == "before").any().alias("before")).row(0)
    return rows.filter(moment != "before") if after and before else rows


def absent(run: Run) -> str | None:
    """Why there are no ACKs, as a sentence; `None` if there are, or if nobody asked for them."""
    if run.has("acks"):
        return None
    told = (run.manifest.get("lab") or {}).get("acks")
    if isinstance(told, Mapping) and not told.get("recorded"):
        why = str(told.get("why") or "no reason is recorded").rstrip(".")
        return f"ACKs were not recorded: {why}. Curves of flows are drawn from the timed samples."
    due = ("on", "auto") if capabilities(run.engine).records_all_acks else ("on",)
    return "Every ACK: acks.parquet is missing." if run.plan.record.acks in due else None

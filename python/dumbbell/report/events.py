"""Packet events: drops by reason, losses, ECN marks and retransmissions, counted in short intervals."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

import polars as pl

from dumbbell.frozen import dataclass
from dumbbell.records import Run
from dumbbell.report import words
from dumbbell.report.decimate import round_width_ns
from dumbbell.report.model import Group


@dataclass(frozen=True)
class Kind:
    """One kind of packet event."""

    key: str
    """The name in CSV: `tail`, `mark`, `retransmission`."""
    word: str
    """After a count: `12 resent`."""
    pale: bool = False


@dataclass(frozen=True)
class Events:
    """Events of one kind and one group."""

    kind: str
    """Key of its `Kind`."""
    group: int | None
    """`None`: the flow is not known."""
    time_s: pl.Series
    count: pl.Series


REASONS: Final = {
    "dropped-tail": Kind("tail", "tail"),
    "dropped-head": Kind("head", "head"),
    "dropped-early": Kind("early", "early"),
    "dropped-policed": Kind("policed", "policed"),
    "dropped-delay-line": Kind("delay-line", "delay line"),
    "dropped-down": Kind("down", "down"),
    "lost-before": Kind("lost", "lost"),
    "lost-after": Kind("lost", "lost"),
}
"""Fate -> what its marks are called."""
MARK: Final = Kind("mark", "marked")
DROP: Final = Kind("drop", "dropped")
"""For links whose counters alone are known: counters don't give reasons."""
LOST: Final = REASONS["lost-before"]
RETRANSMISSION: Final = Kind("retransmission", "resent", pale=True)
_ORDER: Final = (*dict.fromkeys(REASONS.values()), DROP, MARK, RETRANSMISSION)
_MARKS_PER_LANE: Final = 2000


@dataclass(frozen=True)
class RunEvents:
    """All events, their source, the kinds that occur, and the kinds that are known for each flow."""

    events: tuple[Events, ...]
    note: str
    kinds: tuple[Kind, ...]
    per_flow: tuple[str, ...]


NOTHING: Final = RunEvents((), "", (), ())


def events(run: Run, groups: Sequence[Group], samples: Iterable[pl.DataFrame] | None) -> RunEvents:
    """Packet events at any link, and retransmissions, per group.

    Args:
        run: the run.
        groups: its groups.
        samples: rows of the table `samples` in the order of time, in any number of parts; `None` if there are none.
    """
    width = round_width_ns(run.plan.duration_ns / _MARKS_PER_LANE)
    group_of = {flow: index for index, group in enumerate(groups) for flow in group.flows}
    group = pl.col("flow").cast(pl.String).replace_strict(group_of, default=None, return_dtype=pl.Int64).alias("group")
    by_kind: dict[Kind, pl.DataFrame] = {}
    per_flow: list[Kind] = []
    if run.has("packets"):
        by_kind = _of_packets(run, group, width)
        per_flow += by_kind
        source = "Drops, losses and ECN marks: every packet that met one, as it left a link's queue or was refused"
        source += f" ({words.listed(kind.word for kind in by_kind)})." if by_kind else "; there was none."
    elif run.has("links"):
        by_kind = _of_links(run)
        source = (
            "Drops, losses, ECN marks: counters of the links, of all flows together; there is no record of packets."
        )
    else:
        source = "Drops are unknown."
    if samples is not None:
        by_kind[RETRANSMISSION] = retransmissions(samples).select("time_ns", group, "count")
        per_flow.append(RETRANSMISSION)
        source += " Retransmissions: as the sender's counter grew between two samples."
    kinds = tuple(kind for kind in _ORDER if kind in by_kind)
    found = [one for kind in kinds for one in _grouped(kind, by_kind[kind], width)]
    note = f"{source} One mark per {words.seconds(width / 1e9)}."
    return RunEvents(tuple(found), note, kinds, tuple(kind.key for kind in per_flow))


def left_queue_ns() -> pl.Expr:
    """The time at which a row of `packets` left the queue, or was refused, ns."""
    return pl.col("arrival_ns") + pl.col("sojourn_ns").fill_null(0)


def retransmissions(samples: Iterable[pl.DataFrame]) -> pl.DataFrame:
    """Growth of each socket's counter: `time_ns`, `flow`, `count`."""
    counter = pl.col("retransmitted_segments").cast(pl.Int64)
    grown = counter - counter.shift(1).over("flow", "socket").fill_null(0)
    found = []
    before: pl.DataFrame | None = None
    for part in samples:
        rows = part.select("time_ns", "flow", "socket", "retransmitted_segments").drop_nulls("retransmitted_segments")
        rows = rows if rows["time_ns"].is_sorted() else rows.sort("time_ns")
        n_before = 0 if before is None else before.height
        rows = rows if before is None else pl.concat([before, rows])
        counted = rows.select("time_ns", pl.col("flow").cast(pl.String), count=grown)
        found.append(counted.slice(n_before).filter(pl.col("count") > 0))
        before = rows.group_by("flow", "socket", maintain_order=True).last().select(rows.columns)
    empty = pl.DataFrame(schema={"time_ns": pl.Int64, "flow": pl.String, "count": pl.Int64})
    return pl.concat([empty, *found])


def _of_packets(run: Run, group: pl.Expr, width_ns: int) -> dict[Kind, pl.DataFrame]:
    """The events by kind, without kinds that did not occur."""
    reason = pl.col("fate").cast(pl.String).replace_strict({fate: k.key for fate, k in REASONS.items()}, default=None)
    # A packet that was marked and lost later counts as lost, which is what its sender sees.
    kind = pl.coalesce(reason, pl.when(pl.col("mark").is_not_null()).then(pl.lit(MARK.key)))
    rows = (
        run.scan("packets")
        .filter(pl.col("mark").is_not_null() | (pl.col("fate").cast(pl.String).is_in(list(REASONS))))
        .select(left_queue_ns().alias("time_ns") // width_ns * width_ns, group, kind=kind)
        .group_by("time_ns", "group", "kind")
        .agg(count=pl.len().cast(pl.Int64))
        .collect(engine="streaming")
    )
    parts = rows.partition_by("kind", as_dict=True, include_key=False)
    known = {kind.key: kind for kind in _ORDER}
    return {known[str(key)]: part for (key,), part in parts.items()}


def _of_links(run: Run) -> dict[Kind, pl.DataFrame]:
    counters = {DROP: "dropped_packets", LOST: "lost_packets", MARK: "marked_packets"}
    rows = run.scan("links").sort("time_ns").select("time_ns", "link", *counters.values()).collect()
    found = {}
    for kind, column in counters.items():
        counter = pl.col(column).cast(pl.Int64)
        grown = counter - counter.shift(1).over("link").fill_null(0)
        part = rows.select("time_ns", group=pl.lit(None, pl.Int64), count=grown).filter(pl.col("count") > 0)
        if not part.is_empty():
            found[kind] = part
    return found


def _grouped(kind: Kind, rows: pl.DataFrame, width_ns: int) -> list[Events]:
    marks = (
        rows.group_by("group", pl.col("time_ns") // width_ns * width_ns)
        .agg(pl.col("count").sum())
        .sort("group", "time_ns", nulls_last=True)
    )
    return [
        Events(kind.key, part["group"][0], part["time_ns"] / 1e9, part["count"])
        for part in marks.partition_by("group", maintain_order=True)
    ]

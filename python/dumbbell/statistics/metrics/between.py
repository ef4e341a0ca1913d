"""Metrics that need more than one flow, or more than one cell."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import polars as pl

from dumbbell.errors import InputError
from dumbbell.scenario.study import CASE
from dumbbell.statistics.frames import Frames, main_link, usable
from dumbbell.statistics.metrics.model import Metric, Scope, group_of, over_flows, ratio

_GOODPUT: Final = ratio(8 * pl.col("received_bytes").sum(), pl.col("stop_s").max() - pl.col("start_s").min())
SAME_LOAD: Final = 0.01
"""Data of flows without congestion control counts as equal up to this relative difference."""
MOST_PAIRS: Final = 10_000_000
"""Pairs of a cell with several algorithms and one with a single one."""
WARE: Final = "R. Ware, M. Mukerjee, S. Seshan, J. Sherry: Beyond Jain's Fairness Index, HotNets 2019, section 4"


def _of_run(column: str) -> Callable[[Frames, Scope], pl.DataFrame]:
    """A column of `runs`."""
    return lambda frames, _: frames.runs.select("run", of=pl.lit(""), value=pl.col(column).cast(pl.Float64))


def _power(frames: Frames, _: Scope) -> pl.DataFrame:
    """Utilisation of the main link, and the mean over flows of base / median RTT.

    Uses the base RTT, not the least measured one: where the queue is never empty, that is mostly queue.
    """
    used = frames.links.filter(pl.col("link") == main_link(frames)).select("run", "utilisation")
    nearness = frames.flows.group_by("run", maintain_order=True).agg(
        nearness=ratio(pl.col("base_rtt_ms"), pl.col("rtt_p50_ms")).mean()
    )
    return used.join(nearness, on="run").select("run", of=pl.lit(""), value=pl.col("utilisation") * pl.col("nearness"))


def _harm(value: pl.Expr, harm: pl.Expr) -> Callable[[Frames, Scope], pl.DataFrame]:
    """The harm to each algorithm: `harm`, an expression of `solo` and `mixed`, which are `value` alone and beside
    others."""

    def compute(frames: Frames, scope: Scope) -> pl.DataFrame:
        runs = usable(frames)
        measured = over_flows(value)(frames, "algorithm").join(runs.select("run", "cell", "seed"), on="run")
        # Runs of a cell have seeds of their own; a stranger's may all have one.
        alone = measured.unique(["cell", "of", "seed"], keep="first", maintain_order=True)
        found = (
            measured.join(_solo_cells(frames), on=["cell", "of"])
            .join(alone, left_on=["solo_cell", "of", "seed"], right_on=["cell", "of", "seed"], suffix="_solo")
            .rename({"value": "mixed", "value_solo": "solo"})
        )
        return found.select("run", "of", value=harm)

    return compute


def _solo_cells(frames: Frames) -> pl.DataFrame:
    """`cell`, `of`, `solo_cell`: the cell where the same number of an algorithm's flows run without the other flows of
    a mixed cell.

    Both cells have the same value of every varied key that does not select the flows. Both have the same flows without
    congestion control, such as UDP.
    """
    of_cells = frames.flows.join(frames.flows.group_by("cell").agg(pl.col("run").min()), on=["cell", "run"])
    counted = (
        of_cells.filter(pl.col("cc").is_not_null())
        .group_by("cell", of="cc")
        .agg(flows=pl.len())
        .with_columns(kinds=pl.len().over("cell"))
    )
    plain = (
        of_cells.filter(pl.col("cc").is_null()).group_by("cell").agg(plain=pl.len(), sent=pl.col("sent_bytes").sum())
    )
    # A case's name distinguishes cells, but is not a value of a key.
    place = [key for key in frames.keys if key != CASE and not key.startswith("flows")]
    counted = counted.join(plain, on="cell", how="left").with_columns(pl.col("plain", "sent").fill_null(0))
    counted = counted.join(frames.cells.select("cell", *place), on="cell")
    alone, beside = counted.filter(pl.col("kinds") == 1), counted.filter(pl.col("kinds") > 1)
    on = ["of", "flows", "plain", *place]
    _check_pairs(beside, alone, on)
    apart = (pl.col("sent").cast(pl.Float64) - pl.col("sent_solo")).abs()
    return (
        beside.join(alone, on=on, suffix="_solo", nulls_equal=True)
        .filter(apart <= SAME_LOAD * pl.col("sent"))
        .group_by("cell", "of")
        .agg(solo_cell=pl.col("cell_solo").min())
    )


def _check_pairs(left: pl.DataFrame, right: pl.DataFrame, on: list[str]) -> None:
    """Raises `InputError` if a join has so many rows that somebody made the study to take memory."""
    both = left.group_by(on).len().join(right.group_by(on).len("others"), on=on, nulls_equal=True)
    pairs = both.select((pl.col("len").cast(pl.Int64) * pl.col("others")).sum()).item()
    if pairs > MOST_PAIRS:
        why = f"{pairs:,} pairs of cells have equal values, and at most {MOST_PAIRS:,} are compared"
        raise InputError("the study has too many cells to measure harm", why, "report on fewer of them")


def entries_of(frames: Frames) -> pl.DataFrame | None:
    """A row per cell: `cell`, both entries of `flows` (`first`, `second`), and the algorithm of each (`first_cc`,
    `second_cc`). `None` unless each usable cell has two such entries."""
    flows = frames.flows.filter(pl.col("run").is_in(usable(frames)["run"].implode()))
    rows = (
        flows.group_by("cell", entry=group_of(flows), maintain_order=True)
        .agg(cc=pl.col("cc").first(), kinds=pl.col("cc").n_unique())
        .group_by("cell", maintain_order=True)
        .agg("entry", "cc", pl.col("kinds").max())
    )
    fits = (pl.col("entry").list.len() == 2) & (pl.col("kinds") == 1) & ~pl.col("cc").list.contains(None)
    if rows.is_empty() or not rows.select(fits.all()).item():
        return None
    first, second = pl.col("entry").list.get(0), pl.col("entry").list.get(1)
    ccs = {"first_cc": pl.col("cc").list.get(0), "second_cc": pl.col("cc").list.get(1)}
    return rows.select("cell", first=first, second=second, **ccs).sort("cell")


def _harm_beside(frames: Frames, scope: Scope) -> pl.DataFrame:
    """The harm to each entry of a pair, against the same algorithm beside its own kind."""
    none = pl.DataFrame(schema={"run": frames.runs.schema["run"], "of": pl.String, "value": pl.Float64})
    both = entries_of(frames)
    if both is None:
        return none
    place = [key for key in frames.keys if key != CASE and not key.startswith("flows")]
    cells = both.join(frames.cells.select("cell", *place), on="cell")
    alike = cells.filter(pl.col("first_cc") == pl.col("second_cc")).unique(["first_cc", *place], keep="first")
    runs = usable(frames).select("run", "cell", "seed")
    measured = over_flows(_GOODPUT)(frames, "group").join(runs, on="run")
    own = (
        alike.select("cell", *place, cc="first_cc")
        .join(measured, on="cell")
        .group_by("cc", "seed", *place, maintain_order=True)
        .agg(own=pl.col("value").mean())
    )
    apart = cells.filter(pl.col("first_cc") != pl.col("second_cc"))
    sides = [apart.select("cell", *place, of=entry, cc=f"{entry}_cc") for entry in ("first", "second")]
    found = (
        pl.concat(sides)
        .join(measured, on=["cell", "of"])
        .join(own, on=["cc", "seed", *place], nulls_equal=True)
        .sort("run", "of")
    )
    return found.select("run", "of", value=ratio(pl.col("own") - pl.col("value"), pl.col("own")))


METRICS: Final = (
    Metric(
        "jain_index",
        "Jain's fairness index",
        "",
        "higher",
        ("run",),
        "(Σ x)² ÷ (n · Σ x²), x: what each bulk TCP flow received while all of them were active",
        "R. Jain, D. Chiu, W. Hawe: A Quantitative Measure of Fairness and Discrimination, DEC-TR-301, 1984",
        _of_run("jain_index"),
    ),
    Metric(
        "rpm",
        "Responsiveness under load",
        "/min",
        "higher",
        ("run",),
        "(60 s ÷ TM(ping RTT) + 60 s ÷ TM(smoothed RTT of bulk TCP flows)) ÷ 2 while all bulk flows are active, "
        "TM: mean of the fastest 95 %",
        "draft-ietf-ippm-responsiveness-08; docs/reference/metrics.md says what differs from its probes",
        _of_run("rpm"),
    ),
    Metric(
        "reconvergence",
        "Routing reconvergence",
        "s",
        "lower",
        ("run",),
        "the longest time from a failure or repair to the last change of any router's routes before the next one",
        "RFC 4098; RFC 6412, section 3.6: full convergence time",
        _of_run("reconvergence_s"),
    ),
    Metric(
        "outage",
        "Outage",
        "s",
        "lower",
        ("run",),
        "the longest time without an arrival of a flow that began before routes had settled and ended after such an "
        "event",
        "RFC 6412, section 3.6: route loss of connectivity period",
        _of_run("outage_s"),
    ),
    Metric(
        "rerouting_lost",
        "Packets lost while routes changed",
        "packets",
        "lower",
        ("run",),
        "Σ lost_packets, which a link that was down or a router did not pass on between such an event and the last "
        "change of routes",
        "RFC 6412, section 3.6",
        _of_run("rerouting_lost"),
    ),
    Metric(
        "power",
        "Kleinrock's power",
        "",
        "higher",
        ("run",),
        "utilisation of the bottleneck · mean over flows of (base_rtt_ms ÷ rtt_p50_ms); 1 is the whole rate at the RTT "
        "of the path without queues and serialisation",
        "L. Kleinrock: Power and Deterministic Rules of Thumb for Probabilistic Problems in Computer Communications, "
        "ICC 1979",
        _power,
    ),
    Metric(
        "harm_goodput",
        "Harm to goodput",
        "share",
        "lower",
        ("algorithm",),
        "(x - y) ÷ x, x: goodput of the algorithm's flows alone, y: beside other algorithms; cells with as many of "
        "them, equal UDP, and equal keys but those of flows; runs are paired by seed",
        WARE,
        _harm(
            _GOODPUT,
            ratio(pl.col("solo") - pl.col("mixed"), pl.col("solo")),
        ),
        least=None,
    ),
    Metric(
        "harm_beside",
        "Harm to goodput, against its own kind",
        "share",
        "lower",
        ("group",),
        "(x - y) ÷ x, x: mean goodput of two entries of `flows` with the same algorithm, y: of one beside another "
        "algorithm; cells with equal keys but those of flows; runs are paired by seed",
        "after " + WARE + ": harm that an algorithm does not do to itself",
        _harm_beside,
        least=None,
    ),
    Metric(
        "harm_rtt",
        "Harm to the RTT",
        "share",
        "lower",
        ("algorithm",),
        "(y - x) ÷ y, x: rtt_p50 of the algorithm's flows alone, y: beside other algorithms; cells and runs as for "
        "harm_goodput",
        WARE,
        _harm(pl.col("rtt_p50_ms").mean(), ratio(pl.col("mixed") - pl.col("solo"), pl.col("mixed"))),
        least=None,
    ),
)

"""Single runs of a study with all their records, because a study's frames have no values over time."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

import polars as pl

from dumbbell.frozen import dataclass
from dumbbell.published.figures import Figures
from dumbbell.published.model import Cell
from dumbbell.records.directory import RUNS
from dumbbell.records.run import Run
from dumbbell.studies.single import readable, scenario_of, simulate_again

if TYPE_CHECKING:
    from dumbbell.studies import Study

FOLDER: Final = "series"
"""Folder in a study's directory for whole runs of single cells."""


def recorded(study: Study, where: Cell) -> Run | None:
    """The first usable run of the first of these cells; `None` if there is none."""
    return next(every(study, where), None)


def every(study: Study, where: Cell) -> Iterator[Run]:
    """All usable runs of the first of these cells."""
    cells = Figures(study).cells(where)
    return _usable(study, cells[0]) if cells and study.has_runs else iter(())


def whole(study: Study, cell: int) -> Run | None:
    """The first usable run of a cell, with all its records."""
    return next(_usable(study, cell), None)


def _usable(study: Study, cell: int) -> Iterator[Run]:
    """The usable runs of a cell, in the order of repetitions.

    Emulated studies keep their runs. A simulated one is made again, which gives the same, and kept.
    """
    usable = pl.col("error").is_null() & (pl.col("verdict") != "invalid")
    rows = study.runs.filter(pl.col("cell") == cell, usable).sort("repetition")
    name = study.manifest["name"]
    for repetition, run_id in rows.select("repetition", "run_id").iter_rows():
        place = study.directory / FOLDER / str(cell) / str(repetition)
        kept = [study.directory / RUNS / f"{name}-{run_id}", *sorted(place.glob(f"{name}-*"))]
        found = readable(cell, repetition, kept)
        yield found or simulate_again(study, scenario_of(study, cell, repetition), cell, repetition, place)


@dataclass(frozen=True)
class Spell:
    """A period that a BBR flow spent in a state."""

    state: str
    start_s: float
    stop_s: float


def spells(run: Run, flow: str) -> list[Spell]:
    """The states of a BBR flow in order; empty if ACKs were not recorded."""
    if run.acks is None:
        return []
    rows = run.acks.filter(pl.col("flow").cast(pl.String) == flow).sort("time_ns")
    rows = rows.with_columns(state=pl.col("bbr_state").cast(pl.String)).filter(pl.col("state").is_not_null())
    if rows.is_empty():
        return []
    edges = rows.with_columns(spell=pl.col("state").rle_id()).group_by("spell", maintain_order=True).agg(
        pl.col("state").first(), pl.col("time_ns").first()
    )  # fmt: skip
    begins = [time / 1e9 for time in edges["time_ns"]]
    ends = [*begins[1:], rows["time_ns"][-1] / 1e9]
    return [Spell(*one) for one in zip(edges["state"], begins, ends, strict=True)]


@dataclass(frozen=True)
class ProbeRtt:
    """Frequency and depth of a BBR flow's PROBE_RTT."""

    entered_s: list[float]
    gaps_s: list[float]
    """Times from the end of one to the beginning of the next."""
    in_flight_packets: list[float]
    """Median window of each while it was held."""

    @property
    def gap_s(self) -> float | None:
        """The median gap."""
        return median(self.gaps_s)

    @property
    def depth_packets(self) -> float | None:
        """The median depth."""
        return median(self.in_flight_packets)


HOLD_S: Final = 0.2
"""The time that the small window is held (200 ms, and a round)."""


def probe_rtt(run: Run, flow: str) -> ProbeRtt | None:
    """The PROBE_RTTs of a flow; empty lists if it had none; `None` where no record of ACKs tells its states."""
    states = spells(run, flow)
    if not states:
        return None
    rests = [one for one in states if one.state == "probe_rtt"]
    depths = [_in_flight(run, flow, one.stop_s - HOLD_S, one.stop_s) for one in rests]
    return ProbeRtt(
        [one.start_s for one in rests],
        [late.start_s - early.stop_s for early, late in itertools.pairwise(rests)],
        [depth for depth in depths if depth is not None],
    )


def _in_flight(run: Run, flow: str, start_s: float, stop_s: float) -> float | None:
    assert run.acks is not None
    rows = run.acks.filter(
        pl.col("flow").cast(pl.String) == flow, pl.col("time_ns").is_between(int(start_s * 1e9), int(stop_s * 1e9))
    )
    return median((rows["bytes_in_flight"] / rows["snd_mss_bytes"]).to_list())


def together(run: Run, flow: str, after_s: float, before_s: float = 0.0) -> dict[str, float]:
    """Pearson's correlation over time of a flow's window and RTT with the bottleneck's queue: `cwnd`, `rtt`.

    Each value is the mean of its samples on a grid of 100 ms, from `after_s` on. An RTT belongs to a packet that was
    sent one RTT earlier, and came to the queue `before_s` after that, the delay between: it is compared with the queue
    of that time, and a window with the queue of `before_s` later.
    """
    own = run.samples.filter(pl.col("flow").cast(pl.String) == flow, pl.col("time_ns") >= int(after_s * 1e9))
    links = run.links.filter(pl.col("link").cast(pl.String) == "bottleneck")
    queue = links.group_by(_grid(pl.col("time_ns"))).agg(pl.col("queue_bytes").mean().alias("queue"))
    found: dict[str, float] = {}
    sent = pl.col("time_ns") + round(1e9 * before_s)
    for name, column, at in (
        ("cwnd", "cwnd_packets", sent),
        ("rtt", "srtt_us", sent - 1000 * pl.col("srtt_us")),
    ):
        rows = own.drop_nulls(["srtt_us"]).group_by(_grid(at)).agg(pl.col(column).mean().alias(name))
        value = rows.join(queue, on="grid").select(pl.corr(name, "queue")).item()
        if isinstance(value, float) and value == value:
            found[name] = value
    return found


def _grid(time_ns: pl.Expr) -> pl.Expr:
    return (time_ns.cast(pl.Int64) // 100_000_000).alias("grid")


@dataclass(frozen=True)
class Cut:
    """A cut of a flow's window, and how it grew from there until the next one."""

    at_s: float
    to: float
    """The window after the cut as a share of that before."""
    growth: tuple[float, float, float]
    """Growth in the first, second and last third of that time, in segments per second."""


FALL_S: Final = 0.5
"""The longest time that a cut takes: recovery reduces the window packet by packet."""
FALLEN: Final = 0.9
"""Share of the peak below which a fall is a cut."""


def cuts(run: Run, flow: str, after_s: float) -> list[Cut]:
    """The cuts of a window from `after_s` on that are followed by another one."""
    own = run.samples.filter(pl.col("flow").cast(pl.String) == flow, pl.col("time_ns") >= int(after_s * 1e9))
    points = list(zip((own["time_ns"] / 1e9).to_list(), own["cwnd_packets"].to_list(), strict=True))
    falls: list[tuple[tuple[float, float], tuple[float, float]]] = []
    peak, i = (0.0, 0.0), 0
    while i < len(points):
        if points[i][1] >= peak[1]:
            peak = points[i]
        elif points[i][1] < FALLEN * peak[1]:
            fall = [point for point in points[i:] if point[0] <= points[i][0] + FALL_S]
            low = min(fall, key=lambda point: (point[1], point[0]))
            falls.append((peak, low))
            peak = low
            i = points.index(low)
        i += 1
    return [
        Cut(low[0], low[1] / high[1], _thirds(points, low, top))
        for (high, low), (top, _) in itertools.pairwise(falls)
        if top[0] > low[0]
    ]


Point = tuple[float, float]


def _thirds(points: Sequence[Point], low: Point, top: Point) -> tuple[float, float, float]:
    step = (top[0] - low[0]) / 3
    between = [next(window for time, window in points if time >= low[0] + part * step) for part in (1, 2)]
    first, second, third = ((late - early) / step for early, late in itertools.pairwise([low[1], *between, top[1]]))
    return first, second, third


def median(values: Sequence[float]) -> float | None:
    """`None` if there are no values."""
    found = pl.Series(values, dtype=pl.Float64).median()
    return found if isinstance(found, float) else None

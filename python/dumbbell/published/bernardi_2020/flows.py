"""Figures of one flow in the records of a run."""

from __future__ import annotations

import itertools
from typing import Final

import polars as pl

from dumbbell.frozen import dataclass
from dumbbell.published.recorded import FALL_S, FALLEN, ProbeRtt, probe_rtt
from dumbbell.records.run import Run

BIN_NS: Final = 100_000_000
"""Their throughput is that of 0.1 s each."""
SAMPLE_S: Final = 0.01
"""Samples are so far apart."""
PROBING: Final = 1.1
"""BBR's pacing gain is above this while it probes for bandwidth, at 1.25."""


def timeouts(run: Run, flow: str) -> int:
    """How often the flow's retransmission timer expired: how often the kernel's state became `loss`.

    The state lasts a round trip at least, so samples every 10 ms miss none.
    """
    state = _samples(run, flow)["ca_state"].cast(pl.String).fill_null("")
    is_loss = (state == "loss").to_list()
    return sum(now and not before for before, now in itertools.pairwise([False, *is_loss]))


@dataclass(frozen=True)
class Swing:
    """The bottleneck's queue from one probe for bandwidth of BBR to the next, in bytes."""

    seconds: float
    least: float
    most: float


def swings(run: Run, flow: str, after_s: float) -> list[Swing]:
    """The swings from `after_s` on; none if the flow's algorithm tells no pacing gain."""
    own = _samples(run, flow).filter(pl.col("time_ns") >= int(after_s * 1e9))
    probes = (own["bbr_pacing_gain"].fill_null(0) > PROBING).to_list()
    begins = [
        at for at, (before, now) in zip(own["time_ns"], itertools.pairwise([True, *probes]), strict=True)
        if now and not before
    ]  # fmt: skip
    queue = run.links.filter(pl.col("link").cast(pl.String) == "bottleneck").select("time_ns", "queue_bytes")
    found = []
    for start, stop in itertools.pairwise(begins):
        held = queue.filter(pl.col("time_ns").is_between(start, stop, closed="left"))["queue_bytes"]
        if len(held):
            found.append(Swing((stop - start) / 1e9, float(held.min()), float(held.max())))  # type: ignore[arg-type]
    return found


STARTED_S: Final = 1.0
"""STARTUP is over by then, even at an RTT of 100 ms."""
LOW: Final = 0.6
"""Share of the median window below which a window rests."""
REST_S: Final = 0.15
"""PROBE_RTT lasts 200 ms at least; samples are 10 ms apart."""


def rests_of(run: Run, flow: str, after_s: float) -> ProbeRtt:
    """The flow's PROBE_RTTs by its window alone, from `after_s` on, for an algorithm whose states no record tells.

    A window rests while it is small for a time that PROBE_RTT lasts.
    """
    own = _samples(run, flow).filter(pl.col("time_ns") >= int(after_s * 1e9))
    is_low = pl.col("cwnd_packets") <= LOW * pl.col("cwnd_packets").median()
    rows = own.with_columns(low=is_low).with_columns(spell=pl.col("low").rle_id()).filter(pl.col("low"))
    found = rows.group_by("spell", maintain_order=True).agg(
        start=pl.col("time_ns").first() / 1e9,
        stop=pl.col("time_ns").last() / 1e9,
        depth=(pl.col("bytes_in_flight") / pl.col("snd_mss_bytes")).median(),
    )
    found = found.filter(pl.col("stop") - pl.col("start") >= REST_S)
    starts, stops = found["start"].to_list(), found["stop"].to_list()
    gaps = [late - early for early, late in zip(stops, starts[1:], strict=False)]
    return ProbeRtt(starts, gaps, found["depth"].to_list())


def peak_bps(run: Run, flow: str) -> float:
    """The most payload that the flow sent in any 0.1 s, repetitions included, in bit/s."""
    own = _samples(run, flow).group_by(pl.col("time_ns") // BIN_NS, maintain_order=True)
    sent = own.agg(pl.col("bytes_sent").max())["bytes_sent"].cast(pl.Int64).diff().drop_nulls()
    return 8e9 * float(sent.max() or 0) / BIN_NS  # type: ignore[arg-type]


def rates_bps(run: Run, flow: str, after_s: float) -> pl.Series:
    """The payload that the flow sent in each 0.1 s from `after_s` on, repetitions included, in bit/s."""
    own = _samples(run, flow).filter(pl.col("time_ns") >= int(after_s * 1e9))
    sent = own.group_by(pl.col("time_ns") // BIN_NS, maintain_order=True).agg(pl.col("bytes_sent").max())
    return 8e9 * sent["bytes_sent"].cast(pl.Int64).diff().drop_nulls() / BIN_NS


def thresholds(run: Run, flow: str) -> list[tuple[float, float]]:
    """The largest window just before each change of the slow-start threshold, and the threshold from there on.

    Changes within `FALL_S` of each other are one cut, as the window still falls from where the first one found it.
    """
    own = _samples(run, flow).select("time_ns", "cwnd_packets", "ssthresh_packets").with_columns(
        before=pl.col("cwnd_packets").rolling_max(round(FALL_S / SAMPLE_S)), was=pl.col("ssthresh_packets").shift(1)
    )  # fmt: skip
    changed = own.filter(pl.col("was").is_not_null(), pl.col("ssthresh_packets") != pl.col("was"))
    begins = (pl.col("time_ns").cast(pl.Int64).diff() > int(FALL_S * 1e9)).fill_null(value=True)
    cut = changed.group_by(begins.cum_sum().alias("cut"), maintain_order=True)
    each = cut.agg(pl.col("before").first(), pl.col("ssthresh_packets").last()).drop("cut")
    return [(float(before), float(after)) for before, after in each.iter_rows()]


def fillings(run: Run, most_bytes: float, after_s: float) -> int:
    """How often the bottleneck's queue rose above `most_bytes` from `after_s` on."""
    own = run.links.filter(pl.col("link").cast(pl.String) == "bottleneck", pl.col("time_ns") >= int(after_s * 1e9))
    full = (own.sort("time_ns")["queue_bytes"] > most_bytes).to_list()
    return sum(now and not before for before, now in itertools.pairwise([True, *full]))


def sent_bytes(run: Run, flow: str, start_s: float, seconds: float) -> float:
    """Bytes that the flow sent in a time, repetitions included; 1 if it sent none."""
    own = _samples(run, flow).filter(pl.col("time_ns").is_between(int(1e9 * start_s), int(1e9 * (start_s + seconds))))
    sent = own["bytes_sent"].cast(pl.Int64).to_list()
    return float(max(sent, default=0) - min(sent, default=0)) or 1.0


def median_window(run: Run, flow: str, after_s: float) -> float:
    """The median of the flow's window from `after_s` on, in packets."""
    own = _samples(run, flow).filter(pl.col("time_ns") >= int(after_s * 1e9))
    return float(own["cwnd_packets"].median() or 0)  # type: ignore[arg-type]


def first_cut_s(run: Run, flow: str) -> float | None:
    """When the flow's window first fell, which ends slow start; `None` if it never did."""
    own = _samples(run, flow)
    fallen = own.filter(pl.col("cwnd_packets") < FALLEN * pl.col("cwnd_packets").cum_max())
    return None if fallen.is_empty() else float(fallen["time_ns"][0]) / 1e9


def probe_rtts(run: Run, flow: str) -> ProbeRtt | None:
    """By the flow's states, or by its window where no record tells them; `None` without recorded ACKs."""
    found = probe_rtt(run, flow)
    return rests_of(run, flow, STARTED_S) if found is None and run.acks is not None else found


def _samples(run: Run, flow: str) -> pl.DataFrame:
    return run.samples.filter(pl.col("flow").cast(pl.String) == flow).sort("time_ns")

"""Sentences below the parts of bernardi-2020, with the numbers that support its notes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from dumbbell.published.bernardi_2020.flows import first_cut_s, peak_bps, probe_rtts
from dumbbell.published.figures import Figures
from dumbbell.published.judging import interval_text
from dumbbell.published.recorded import every, recorded

if TYPE_CHECKING:
    from dumbbell.studies import Study

CC: Final = "flows.0.cc"
KERNEL: Final = "emulate.kernel"
CPUS: Final = "emulate.cpus"
FLOW: Final = "f1"


def _cells(study: Study) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Each cell, called by its algorithm and its kernel."""
    for cell in study.manifest["cells"]:
        yield str(cell[CC]) + (f" on {cell[KERNEL]}" if KERNEL in cell else ""), cell


def probe_rtt_times(study: Study) -> str:
    """The times at which each BBR's first run entered PROBE_RTT, and the packets in flight there."""
    told_of = []
    for name, cell in _cells(study):
        run = recorded(study, cell)
        if run is None or not name.startswith("bbr"):
            continue
        found = probe_rtts(run, FLOW)
        if found is None:
            told_of.append(f"of {name} no ACKs were recorded")
        elif found.entered_s:
            entered = " ".join(f"{at:.1f}" for at in found.entered_s)
            told_of.append(
                f"{name} entered PROBE_RTT after {entered} s, with {found.depth_packets or 0:.0f} packets in flight"
            )
        else:
            told_of.append(f"{name} never did")
    return "In the first run of each: " + "; ".join(told_of) + "."


def losses(study: Study) -> str:
    """The share of retransmissions, and how many packets queues dropped and chance took, over all links."""
    figures = Figures(study)
    by_run = study.links.group_by("run").agg(pl.col("drops", "losses").sum())
    lost = (
        study.runs.select("run", "cell").join(by_run, on="run").group_by("cell").agg(pl.col("drops", "losses").mean())
    )
    parts = []
    for number, (name, cell) in enumerate(_cells(study)):
        again = figures.interval("retransmitted_share", None, cell)
        found = lost.filter(pl.col("cell") == number)
        if again and not found.is_empty():
            drops, by_chance = found.select("drops", "losses").row(0)
            parts.append(
                f"{name} {interval_text(again, 0.01)} % ({drops:.0f} dropped by queues, {by_chance:.0f} by chance)"
            )
    return "Sent again, of what was sent: " + "; ".join(parts) + "."


def first_cut(study: Study) -> str:
    """How far a run's goodput follows from when the first loss ended slow start."""
    said = []
    for cc in ("reno", "cubic"):
        rows = [(first_cut_s(run, FLOW), run.summary["flows"][0]["goodput_bps"]) for run in every(study, {CC: cc})]
        runs = pl.DataFrame(rows, ["end", "goodput"], orient="row").drop_nulls()
        if runs.height > 2:
            found = runs.select(pl.corr("end", "goodput", method="spearman")).item()
            said.append(f"{cc} {found:.2f}, n = {runs.height}")
    return f"Rank correlation of a run's goodput with the time of its window's first cut: {'; '.join(said)}."


def peaks(study: Study) -> str:
    """The most that a sender sends in 0.1 s, which a capture at the sender shows as throughput."""
    found = {name: run for name, cell in _cells(study) if (run := recorded(study, cell)) is not None}
    said = ", ".join(f"{name} {peak_bps(run, FLOW) / 1e6:.0f}" for name, run in found.items())
    return f"The most that the first run of each sends in 0.1 s: {said} Mbit/s."


def sent(study: Study) -> str:
    """How many packets a capture at the sender has: the first link's, and the ACKs' where these are recorded."""
    links = study.links["link"].unique().to_list()
    first = "netem" if "netem" in links else "bottleneck"
    counts = study.links.join(study.runs.select("run", "cell"), on="run").group_by("cell", "link")
    means = {(cell, link): mean for cell, link, mean in counts.agg(pl.col("arrived_packets").mean()).iter_rows()}
    said = []
    for number, (name, _) in enumerate(_cells(study)):
        if (number, first) in means:
            acks = means.get((number, "bottleneck-reverse"))
            more = "" if acks is None else f" and {acks:,.0f} ACKs"
            said.append(f"{name} {means[number, first]:,.0f}{more}")
    return f"Packets that a capture at the sender has, means: {', '.join(said)}."


def bursts(study: Study) -> str:
    """The queue at its fullest, as tc counts it."""
    said = []
    for name, cell in _cells(study):
        run = recorded(study, cell)
        if run is None:
            continue
        own = run.links.filter(pl.col("link").cast(pl.String) == "bottleneck", pl.col("queue_packets") > 0)
        if own.is_empty():
            continue
        fullest = own.sort("queue_bytes", descending=True).row(0, named=True)
        size = fullest["queue_bytes"] / fullest["queue_packets"]
        said.append(f"{name} {fullest['queue_packets']} of {size / 1e3:.1f} kB")
    return f'"Packets" in the fullest queue of the first run of each: {", ".join(said)}.'


def delay_line(study: Study) -> str:
    """Packets that found netem's 1000 places taken."""
    own = study.links.filter(pl.col("link") == "netem")["dropped_delay_line"]
    return f"netem's 1000 places were taken for {own.sum():,} packets in {len(own):,} runs."


def side_by_side(study: Study) -> str:
    """BBRv2 by its kernels."""
    figures = Figures(study)
    said = []
    for kernel in figures.along(KERNEL):
        where = {CC: "bbr2", KERNEL: kernel}
        shown = []
        for metric, factor, what in (
            ("goodput", 1e6, "Mbit/s"), ("rtt_p50", 1.0, "ms of median RTT"), ("queue_p95", 1.0, "ms of queue (p95)"),
            ("retransmitted_share", 0.01, "% sent again"),
        ):  # fmt: skip
            if (found := figures.interval(metric, None, where)) is not None:
                shown.append(f"{interval_text(found, factor)} {what}")
        if shown:
            said.append(f"on {kernel} {', '.join(shown)}")
    return f"BBRv2 {'; '.join(said)}."


def one_cpu(study: Study) -> str:
    """The checks that found something, by the CPUs of the lab."""
    found = []
    for cpus in Figures(study).along(CPUS):
        rows = study.runs.filter(pl.col(CPUS) == cpus, pl.col("error").is_null())
        if rows.is_empty():
            continue
        counts = dict(rows["verdict"].value_counts().iter_rows())
        reasons: dict[str, int] = {}
        for number in rows["run"]:
            for reason in study.open(number).summary["reasons"]:
                reasons[reason["check"]] = reasons.get(reason["check"], 0) + 1
        said = ", ".join(f"{count} {verdict}" for verdict, count in sorted(counts.items()))
        why = ", ".join(f"{check} ({count})" for check, count in sorted(reasons.items(), key=lambda item: -item[1]))
        found.append(f"On {cpus}: {said}; checks: {why or 'none'}")
    return ". ".join(found) + "."

"""Evidence from our runs of bernardi-2020 on its differences from the publication."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from dumbbell.published.figures import Figures
from dumbbell.published.judging import told
from dumbbell.published.recorded import probe_rtt as measured
from dumbbell.published.recorded import recorded

if TYPE_CHECKING:
    from dumbbell.studies import Study

CC = "flows.0.cc"


def probe_rtt(study: Study) -> str:
    """The times at which each BBR's first run entered PROBE_RTT, and the packets in flight there."""
    told_of = []
    for cc in Figures(study).along(CC):
        run = recorded(study, {CC: cc})
        if run is None or not str(cc).startswith("bbr"):
            continue
        found = measured(run, "f1")
        if found is None:
            told_of.append(f"of {cc} no ACKs were recorded")
        elif found.entered_s:
            entered = " ".join(f"{at:.1f}" for at in found.entered_s)
            told_of.append(
                f"{cc} entered PROBE_RTT after {entered} s, with {found.depth_packets or 0:.0f} packets in flight"
            )
        else:
            told_of.append(f"{cc} never did")
    return "In the first run of each: " + "; ".join(told_of) + "."


def losses(study: Study) -> str:
    """The share of retransmissions, and the links that lost the packets."""
    figures = Figures(study)
    parts = []
    for cc in figures.along(CC):
        again = figures.interval("retransmitted_share", None, {CC: cc})
        drops = figures.interval("drops", None, {CC: cc})
        lost = figures.interval("losses", None, {CC: cc})
        if again and drops and lost:
            parts.append(
                f"{cc} {told(again, 0.01)} % ({drops.value:.0f} dropped by the queue, {lost.value:.0f} by chance)"
            )
    return "Sent again, of what was sent: " + "; ".join(parts) + "."


def one_cpu(study: Study) -> str:
    """The checks that found something, by the CPUs of the lab."""
    found = []
    for cpus in Figures(study).along("emulate.cpus"):
        rows = study.runs.filter(pl.col("emulate.cpus") == cpus, pl.col("error").is_null())
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

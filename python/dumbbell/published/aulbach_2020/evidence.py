"""Evidence of aulbach-2020 that our runs give beyond their plots."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from dumbbell.published.figures import Figures
from dumbbell.published.recorded import median, probe_rtt, recorded, spells

if TYPE_CHECKING:
    from dumbbell.studies import Study

CC = "flows.0.cc"
RATE_BPS = 10e6
"""The bottleneck of part 2."""
SETTLED_NS = 20 * 10**9
"""Part 2 lasts for 50 s; by then the shares are as they stay."""


def phases(study: Study) -> str:
    """The time that each BBR's first run spent in each phase."""
    said = []
    for cc in Figures(study).along(CC):
        run = recorded(study, {CC: cc})
        rests = None if run is None else probe_rtt(run, "flow")
        if run is None or rests is None:
            continue
        found = spells(run, "flow")
        lasted: dict[str, float] = {}
        for one in found:
            state = "probe_bw" if one.state.startswith("probe_bw") else one.state
            lasted[state] = lasted.get(state, 0.0) + one.stop_s - one.start_s
        total = sum(lasted.values()) or 1.0
        shares = ", ".join(f"{state} {100 * time / total:.1f} %" for state, time in lasted.items())
        entered = " ".join(f"{at:.1f}" for at in rests.entered_s)
        said.append(f"{cc}: {shares}; PROBE_RTT entered after {entered or '-'} s")
    return "In the first run of each. " + ". ".join(said) + "."


def windows(study: Study) -> str:
    """The data that two flows of unequal RTTs may have in flight, and the queue that they meet, if the buffer is
    large."""
    said = []
    for case in Figures(study).along("case"):
        run = recorded(study, {"case": case, "topology.bottleneck.buffer": "2 bdp"})
        if run is None or run.acks is None or not str(case).startswith("BBR"):
            continue
        link = pl.col("link").cast(pl.String) == "bottleneck"
        waiting = median(run.links.filter(link, pl.col("time_ns") > SETTLED_NS)["queue_bytes"].to_list())
        flows = []
        for flow in ("short", "long"):
            own = run.acks.filter(pl.col("flow").cast(pl.String) == flow, pl.col("time_ns") > SETTLED_NS)
            rtt_us, window = (median(own[name].to_list()) or 0.0 for name in ("bbr_min_rtt_us", "cwnd_packets"))
            flows.append(f"{flow} {window:.0f} packets by an RTT of {rtt_us / 1e3:.0f} ms")
        said.append(f"{case}: a queue of {8e3 * (waiting or 0.0) / RATE_BPS:.0f} ms, windows: {', '.join(flows)}")
    return "First run of each at 2 BDP, medians after 20 s. " + ". ".join(said) + "."

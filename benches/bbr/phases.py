"""CUBIC and the three BBRs alone at 10 Mbit/s and 40 ms for 30 s: which phase when, and how deep PROBE_RTT goes."""

from __future__ import annotations

import argparse
import itertools

import polars as pl
from matplotlib.figure import Figure

import dumbbell
from benches.bbr.picture import save
from benches.bbr.runs import ALGORITHMS, COLOURS, NAMES, bdp_packets, run_all, scenario
from benches.table import show
from dumbbell.report.states import STATES

RATE_MBIT, RTT_MS = 10, 40
BUFFER = "2 bdp"
HOLD_S = 0.2
"""The time that PROBE_RTT holds its small window (spec: 200 ms and a round)."""

Spells = list[tuple[str, float, float]]
"""State, from and until, in s."""


def spells(acks: pl.DataFrame) -> Spells:
    """The states that a flow went through."""
    runs = acks.sort("time_ns").with_columns(state=pl.col("bbr_state").cast(pl.String))
    runs = runs.filter(pl.col("state").is_not_null()).with_columns(spell=pl.col("state").rle_id())
    edges = runs.group_by("spell", maintain_order=True).agg(pl.col("state").first(), pl.col("time_ns").first())
    begins = [time / 1e9 for time in edges["time_ns"]]
    ends = [*begins[1:], runs["time_ns"][-1] / 1e9] if begins else []
    return list(zip(edges["state"], begins, ends, strict=True))


def packets_in_flight(acks: pl.DataFrame, begin_s: float, end_s: float) -> float | None:
    """The median within a span; `None` without a row."""
    rows = acks.filter(pl.col("time_ns").is_between(int(begin_s * 1e9), int(end_s * 1e9)))
    median = (rows["bytes_in_flight"] / rows["snd_mss_bytes"]).median()
    return median if isinstance(median, float) else None


def row(cc: str, run: dumbbell.Run) -> list[str]:
    """The table's row of a run."""
    acks = run.acks
    assert acks is not None, "these runs record every ACK: as root, on a kernel with BPF"
    found = spells(acks)
    if not found:
        return [NAMES[cc], *["-"] * 7]
    total = sum(end - begin for _, begin, end in found)

    def share(*states: str) -> str:
        return f"{100 * sum(end - begin for state, begin, end in found if state in states) / total:.1f} %"

    rests = [(begin, end) for state, begin, end in found if state == "probe_rtt"]
    gaps = [late[0] - early[1] for early, late in itertools.pairwise(rests)]
    # The hold is the last part: before it the flow waits until no more than the target is in flight.
    depths = [packets_in_flight(acks, end - HOLD_S, end) for _, end in rests]
    probing = tuple(state for state, *_ in found if state.startswith("probe_bw"))
    startup = next(((begin, end) for state, begin, end in found if state == "startup"), None)
    return [
        NAMES[cc],
        f"{startup[1] - startup[0]:.2f} s" if startup else "-",
        share("drain"),
        share(*probing),
        share("probe_rtt"),
        f"{len(rests)}, after " + " ".join(f"{begin:.1f}" for begin, _ in rests) + " s",
        " ".join(f"{gap:.2f}" for gap in gaps) + " s",
        " ".join(f"{depth:.0f}" for depth in depths if depth is not None),
    ]


def draw(runs: dict[str, dumbbell.Run]) -> None:
    """Packets in flight over time, above the phases, which look as in a report."""
    figure = Figure(figsize=(8.4, 7.4), layout="constrained")
    panels = figure.subplots(len(runs), 1, sharex=True)
    bdp = bdp_packets(RATE_MBIT, RTT_MS)
    looks = {state.key: state for state in STATES}
    for panel, (cc, run) in zip(panels, runs.items(), strict=True):
        acks = run.acks
        assert acks is not None
        panel.plot(acks["time_ns"] / 1e9, acks["bytes_in_flight"] / acks["snd_mss_bytes"], color=COLOURS[cc], lw=0.8)
        for state, begin, end in spells(acks):
            height = 0.1 * looks[state].height
            panel.axvspan(begin, end, ymax=height, color=looks[state].light, lw=0, label=looks[state].word)
        panel.axhline(bdp, color="#9ca3af", lw=0.8, ls=":")
        panel.set(ylabel="in flight [packets]", xlim=(0, None), ylim=(-8, 3.6 * bdp))
        panel.set_title(NAMES[cc], loc="left", weight="bold")
    panels[-1].set_xlabel("time [s]")
    save(figure, "phases", legend_columns=4)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--jobs", type=int, default=2, help="runs at once")
    parser.add_argument("--picture", action="store_true", help="also draw docs/images/bbr/phases.png")
    options = parser.parse_args()
    wanted = {
        cc: scenario(RATE_MBIT, RTT_MS, options.seconds, [cc], buffer=BUFFER) | {"record": {"acks": True}}
        for cc in ALGORITHMS
    }
    done = run_all(wanted, lambda run: run, options.jobs)
    found = {cc: done[cc] for cc in ALGORITHMS}
    bdp = bdp_packets(RATE_MBIT, RTT_MS)
    show(
        f"{RATE_MBIT} Mbit/s, {RTT_MS} ms, BDP {bdp:.0f} packets (half: {bdp / 2:.0f}), buffer {BUFFER}",
        [
            "",
            "STARTUP",
            "DRAIN",
            "PROBE_BW",
            "PROBE_RTT",
            "PROBE_RTT entered",
            "from its end to the next",
            "packets then",
        ],
        [row(cc, run) for cc, run in found.items()],
    )
    if options.picture:
        draw(found)


if __name__ == "__main__":
    main()

"""Buffers from 0.1 to 10 BDP: what each algorithm reaches alone, and at what price in retransmissions and delay."""

from __future__ import annotations

import argparse

import dumbbell
from benches.bbr.picture import axes, lines, log_x, save
from benches.bbr.runs import ALGORITHMS, NAMES, goodput_share, retransmitted_share, run_all, scenario
from benches.table import show

RATE_MBIT, RTT_MS = 50, 40
BUFFERS = (0.1, 0.2, 0.5, 1, 2, 5, 10)
"""Buffers in BDP."""
WARM_UP_S = 4


def measure(run: dumbbell.Run) -> tuple[float, float, float]:
    """Goodput share, retransmitted share, median smoothed RTT in ms."""
    rtt = run.flows["rtt_p50_ms"][0]
    return goodput_share(run, "f1", RATE_MBIT, WARM_UP_S), retransmitted_share(run, "f1"), rtt


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--jobs", type=int, default=1, help="runs at once")
    parser.add_argument("--picture", action="store_true", help="also draw docs/images/bbr/buffers.png")
    options = parser.parse_args()
    wanted = {
        (cc, buffer): scenario(RATE_MBIT, RTT_MS, options.seconds, [cc], buffer=f"{buffer:g} bdp")
        for cc in ALGORITHMS
        for buffer in BUFFERS
    }
    found = run_all(wanted, measure, options.jobs)
    for index, title, unit, factor in (
        (0, f"Goodput after {WARM_UP_S} s as a share of the bottleneck", " %", 100),
        (1, "Retransmitted share of what was sent, start-up included", " %", 100),
        (2, "Median smoothed RTT", " ms", 1),
    ):
        show(
            f"{title}: {RATE_MBIT} Mbit/s, {RTT_MS} ms",
            ["buffer", *(NAMES[cc] for cc in ALGORITHMS)],
            [
                [f"{buffer:g} BDP", *(f"{found[cc, buffer][index] * factor:.2f}{unit}" for cc in ALGORITHMS)]
                for buffer in BUFFERS
            ],
        )
    if options.picture:
        figure, panels = axes(3)
        for index, (panel, label, factor) in enumerate(
            zip(
                panels,
                ("goodput [% of the bottleneck]", "retransmitted [%]", "smoothed RTT, median [ms]"),
                (100, 100, 1),
                strict=True,
            )
        ):
            lines(panel, {cc: [(x, factor * found[cc, x][index]) for x in BUFFERS] for cc in ALGORITHMS})
            log_x(panel, "buffer [BDP]", BUFFERS)
            panel.set(ylabel=label)
        panels[0].set_ylim(0, 102)
        panels[1].set_yscale("symlog", linthresh=0.1)
        panels[1].set_yticks([0, 0.1, 1, 10], ["0", "0.1", "1", "10"])
        panels[1].set_ylim(bottom=0)
        save(figure, "buffers")


if __name__ == "__main__":
    main()

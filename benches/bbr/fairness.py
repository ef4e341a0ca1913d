"""One flow of each BBR against one CUBIC flow: who gets what, by the size of the buffer."""

from __future__ import annotations

import argparse

import dumbbell
from benches.bbr.picture import axes, lines, log_x, save
from benches.bbr.runs import NAMES, goodput_share, run_all, scenario
from benches.table import show

RATE_MBIT, RTT_MS = 50, 40
BUFFERS = (0.3, 1, 3, 10)
"""Buffers in BDP."""
BBRS = ("bbr", "bbr2", "bbr3")
WARM_UP_S = 5


def measure(run: dumbbell.Run) -> float:
    """The first flow's part of what both received."""
    first, second = (goodput_share(run, flow, RATE_MBIT, WARM_UP_S) for flow in ("f1", "f2"))
    return first / (first + second)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=25)
    parser.add_argument("--jobs", type=int, default=1, help="runs at once")
    parser.add_argument("--picture", action="store_true", help="also draw docs/images/bbr/fairness.png")
    options = parser.parse_args()
    wanted = {
        (cc, buffer): scenario(RATE_MBIT, RTT_MS, options.seconds, [cc, "cubic"], buffer=f"{buffer:g} bdp")
        for cc in BBRS
        for buffer in BUFFERS
    }
    found = run_all(wanted, measure, options.jobs)
    show(
        f"Share of one BBR flow against one CUBIC flow after {WARM_UP_S} s: {RATE_MBIT} Mbit/s, {RTT_MS} ms",
        ["buffer", *(NAMES[cc] for cc in BBRS)],
        [[f"{buffer:g} BDP", *(f"{100 * found[cc, buffer]:.0f} %" for cc in BBRS)] for buffer in BUFFERS],
    )
    if options.picture:
        figure, (panel,) = axes(1)
        lines(panel, {cc: [(x, 100 * found[cc, x]) for x in BUFFERS] for cc in BBRS})
        panel.axhline(50, color="#9ca3af", lw=0.8, ls=":")
        log_x(panel, "buffer [BDP]", BUFFERS)
        panel.set(ylabel="share against CUBIC [%]", ylim=(0, 100))
        save(figure, "fairness")


if __name__ == "__main__":
    main()

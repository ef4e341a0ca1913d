"""Random loss from 0.001 % to 20 %, and the same loss at different BDPs.

BBRv2 and v3 take more than 2 % of loss (in integers: 5/256, 1.95 %) for congestion. One packet of a small window is
more than that: the share that they keep at 1 % depends on the BDP.
"""

from __future__ import annotations

import argparse

import dumbbell
from benches.bbr.picture import axes, lines, log_x, save
from benches.bbr.runs import ALGORITHMS, NAMES, bdp_packets, goodput_share, retransmitted_share, run_all, scenario
from benches.table import show

RATE_MBIT, RTT_MS = 50, 250
LOSSES = (0, 0.001, 0.01, 0.1, 0.5, 1, 2, 5, 10, 20)
BDPS = ((6, 20), (12, 20), (25, 20), (25, 50), (50, 100), (RATE_MBIT, RTT_MS))
"""Mbit/s and ms."""
WARM_UP = 0.4
"""Part of a run that is left out of goodput: start-up and what follows from it."""


def seconds(rtt_ms: float) -> float:
    """Length of a run: 80 RTTs and no less than 10 s."""
    return max(10, 0.08 * rtt_ms)


def measure(run: dumbbell.Run) -> tuple[float, float]:
    """Goodput as a share of the bottleneck, retransmitted share."""
    duration_s = run.plan.duration_ns / 1e9
    rate_mbit = (run.plan.links[0].rate_bps or 0) / 1e6
    return goodput_share(run, "f1", rate_mbit, WARM_UP * duration_s), retransmitted_share(run, "f1")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=1, help="runs at once")
    parser.add_argument("--picture", action="store_true", help="also draw docs/images/bbr/loss.png")
    options = parser.parse_args()

    wanted = {
        (cc, RATE_MBIT, RTT_MS, loss): scenario(RATE_MBIT, RTT_MS, seconds(RTT_MS), [cc], loss_percent=loss)
        for cc in ALGORITHMS
        for loss in LOSSES
    } | {
        (cc, rate, rtt, loss): scenario(rate, rtt, seconds(rtt), [cc], loss_percent=loss)
        for cc in ("bbr", "bbr2", "bbr3")
        for rate, rtt in BDPS
        for loss in (0, 1)
    }
    found = run_all(wanted, measure, options.jobs)

    def kept(cc: str, rate: float, rtt: float, loss: float) -> float:
        return found[cc, rate, rtt, loss][0] / found[cc, rate, rtt, 0][0]

    show(
        f"Goodput after {WARM_UP * seconds(RTT_MS):g} s as a share of the bottleneck, and (retransmitted share of what "
        "was sent): "
        f"{RATE_MBIT} Mbit/s, {RTT_MS} ms ({bdp_packets(RATE_MBIT, RTT_MS):,.0f} packets), buffer 1 BDP",
        ["random loss", *(NAMES[cc] for cc in ALGORITHMS)],
        [
            [f"{loss:g} %"]
            + [
                f"{100 * g:.1f} % ({100 * r:.1f} %)"
                for g, r in (found[cc, RATE_MBIT, RTT_MS, loss] for cc in ALGORITHMS)
            ]
            for loss in LOSSES
        ],
    )
    ordered = sorted(BDPS, key=lambda path: bdp_packets(*path))
    show(
        "Goodput at 1 % loss as a share of the same without loss",
        ["path", "BDP in packets", *(NAMES[cc] for cc in ("bbr", "bbr2", "bbr3"))],
        [
            [f"{rate} Mbit/s, {rtt} ms", f"{bdp_packets(rate, rtt):,.0f}"]
            + [f"{100 * kept(cc, rate, rtt, 1):.0f} %" for cc in ("bbr", "bbr2", "bbr3")]
            for rate, rtt in ordered
        ],
    )
    if options.picture:
        figure, (left, right) = axes(2)
        lines(left, {cc: [(x, 100 * found[cc, RATE_MBIT, RTT_MS, x][0]) for x in LOSSES if x] for cc in ALGORITHMS})
        log_x(left, "random loss [%]", [0.001, 0.01, 0.1, 1, 10])
        left.set(ylabel="goodput [% of the bottleneck]", ylim=(0, 102))
        left.axvline(100 * 5 / 256, color="#9ca3af", lw=0.8, ls=":")
        left.set_title(f"{RATE_MBIT} Mbit/s, {RTT_MS} ms", loc="left")
        lines(
            right,
            {cc: [(bdp_packets(*p), 100 * kept(cc, *p, 1)) for p in ordered] for cc in ("bbr", "bbr2", "bbr3")},
            joined=False,
        )
        right.axhline(80, color="#9ca3af", lw=0.8, ls=":")
        log_x(right, "BDP [packets]", [10, 30, 100, 300, 1000, 3000])
        right.set(ylabel="kept at 1 % loss [%]", ylim=(0, 102))
        right.set_title("1 % loss, other paths", loc="left")
        save(figure, "loss")


if __name__ == "__main__":
    main()

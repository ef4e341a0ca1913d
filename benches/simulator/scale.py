"""Thousands of flows: what a packet costs, and what memory a flow takes.

10 Gbit/s, 50 ms, a buffer of a BDP, CUBIC. A flow that waits for its start is idle: it has its sender, receiver and
algorithm, but no segment under way.
"""

from __future__ import annotations

import argparse

from benches.simulator.work import cost, dumbbell
from benches.table import show

IDLE = (1_000, 20_000)
"""Idle flows; what the second lot takes beyond the first is what one costs."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--flows", type=int, nargs="+", default=[10, 100, 1_000, 3_000, 10_000])
    options = parser.parse_args()
    rows = []
    for flows in options.flows:
        # Starts are spread over a second, so that slow starts don't all overflow the buffer at once.
        plan = dumbbell("cubic", flows, "10 Gbit/s", seconds=options.seconds, spacing_ms=1000 / flows)
        found = cost(plan)
        rows.append(
            [
                f"{flows:,}",
                f"{found.packets:,}",
                f"{found.cpu_s:.2f}",
                f"{1e9 * found.cpu_s / found.packets:.0f}",
                f"{found.packets_per_cpu_s:,.0f}",
                f"{found.goodput_bps / 1e9:.2f}",
                f"{found.jain_index or 1:.3f}",
                f"{found.rss_bytes / 2**20:.0f}",
            ]
        )
    columns = ["flows", "data packets", "CPU s", "ns per packet", "packets per CPU s", "Gbit/s", "Jain", "memory (MiB)"]
    show(f"10 Gbit/s, 50 ms, 1 BDP, CUBIC, {options.seconds:g} s simulated", columns, rows)
    few, many = (idle(flows) for flows in IDLE)
    each = (many - few) / (IDLE[1] - IDLE[0])
    show(
        "Memory per idle flow, with its part of the plan",
        ["flows", "memory (MiB)", "bytes per flow", "target"],
        [[f"{n:,}", f"{size / 2**20:.1f}", "", ""] for n, size in zip(IDLE, (few, many), strict=True)]
        + [["difference", f"{(many - few) / 2**20:.1f}", f"{each:,.0f}", "<= 2,048"]],
    )


def idle(flows: int) -> int:
    """Bytes by which a process grows for a run in which nothing begins."""
    plan = dumbbell("cubic", flows, "10 Gbit/s", seconds=1, record={"sample_interval": "1 s"})
    for flow in plan["flows"]:
        flow["start_ns"] = plan["duration_ns"] + 1
    return cost(plan).rss_bytes


if __name__ == "__main__":
    main()

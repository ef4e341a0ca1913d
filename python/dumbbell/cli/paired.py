"""Two captures of the same packets, as `dumbbell pcap --and` shows them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dumbbell.counts import by_number, number

if TYPE_CHECKING:
    from dumbbell.captures import Capture
    from dumbbell.captures.pairs import Between
    from dumbbell.table import Table


def between(first: Capture, second: Capture) -> Between:
    """Match two captures. Raises `InputError`: they have nothing in common."""
    from dumbbell.captures.pairs import between as matched

    return matched(first, second)


def between_as_json(between: Between) -> dict[str, object]:
    """The figures for `--json`."""
    clocks = between.clocks
    return {
        "first_is_nearer_to_clients": between.first_is_nearer,
        "clock_offset_low_ns": clocks.offset_low_ns,
        "clock_offset_high_ns": clocks.offset_high_ns,
        "clock_skew_ppm": clocks.skew_ppm,
        "unrelated_connections": between.unrelated,
        "directions": between.ways.to_dicts(),
    }


def table(between: Between) -> Table:
    """A row for each direction."""
    from dumbbell.table import Table

    columns = ["connection", "direction", "packets", "lost between", "missed by A", "missed by B", "copied", "late"]
    columns += ["marked", "delay min", "p50", "p95", "max"]

    def ms(value: int | None) -> str:
        return "" if value is None else f"{number(value / 1e6, 4)} ms"

    cells = [
        [
            str(row["connection"]),
            row["direction"],
            *(
                f"{row[name]:,}"
                for name in (
                    "packets", "lost", "missed_by_first", "missed_by_second", "copied", "reordered", "marked",
                )
            ),
            *(ms(row[f"delay_{name}_ns"]) for name in ("min", "p50", "p95", "max")),
        ]
        for row in between.ways.to_dicts()
    ]  # fmt: skip
    return Table(f"From A to B and back, by both clocks. {clocks(between)}{_left_out(between)}", columns, cells)


def _left_out(between: Between) -> str:
    """A sentence on connections that only seem to be the same; empty if there is none."""
    n = len(between.unrelated)
    if not n:
        return ""
    listed = ", ".join(map(str, between.unrelated[:10])) + (", ..." if n > 10 else "")
    return (
        f" {by_number(n, 'Connection', 'Connections')} {listed} {by_number(n, 'has', 'have')} the same addresses and "
        f"ports in B, but no packet in common, and {by_number(n, 'is', 'are')} left out."
    )


def clocks(between: Between) -> str:
    """A sentence on the offset of B's clock."""
    low, high = between.clocks.offset_low_ns, between.clocks.offset_high_ns
    skew = "" if between.clocks.skew_ppm is None else f", and gains {between.clocks.skew_ppm:.3g} us a second"
    if low is None or high is None:
        return "The offset of the clocks is unknown: both captures have packets of one direction only."
    return f"B's clock is ahead by {number(low / 1e6, 4)} to {number(high / 1e6, 4)} ms{skew}."

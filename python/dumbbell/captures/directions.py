"""Sums over rows of the table `directions`, beside their columns."""

from __future__ import annotations

from typing import Final

from dumbbell.captures.rows import Direction

LIMITS: Final = ("window", "application", "recovery", "network")
"""Limits of a sender, as in the columns `limited_..._ns`."""


def sent_again(row: Direction) -> int | None:
    """Packets that the sender sent again: neither copies of the network nor late packets. None if that is not known."""
    counts = (
        row["fast_retransmissions"],
        row["tail_loss_probes"],
        row["timeouts"],
        row["after_timeouts"],
        row["unknown_retransmissions"],
    )
    known = [count for count in counts if count is not None]
    return sum(known) if len(known) == len(counts) else None


def limits_ns(row: Direction) -> dict[str, int]:
    """Time under each of `LIMITS`; empty if it is not known, or the direction is too short to tell."""
    if row["goodput_bps"] is None:
        return {}
    times = (
        row["limited_window_ns"],
        row["limited_application_ns"],
        row["limited_recovery_ns"],
        row["limited_network_ns"],
    )
    return {name: time or 0 for name, time in zip(LIMITS, times, strict=True)}


def is_window_known(row: Direction) -> bool:
    """Whether the receiver's window is known: a SYN was not captured, or its options were cut."""
    return row["window_shift"] is not None

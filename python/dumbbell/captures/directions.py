"""Sums over rows of the table `directions`, beside their columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

LIMITS: Final = ("window", "application", "recovery", "network")
"""Limits of a sender, as in the columns `limited_..._ns`."""
_SENT_AGAIN: Final = (
    "fast_retransmissions",
    "tail_loss_probes",
    "timeouts",
    "after_timeouts",
    "unknown_retransmissions",
)


def sent_again(row: Mapping[str, Any]) -> int | None:
    """Packets that the sender sent again: neither copies of the network nor late packets. None if that is not known."""
    counts = [row[name] for name in _SENT_AGAIN]
    return None if None in counts else sum(counts)


def limits_ns(row: Mapping[str, Any]) -> dict[str, int]:
    """Time under each of `LIMITS`; empty if it is not known, or the direction is too short to tell."""
    if row["goodput_bps"] is None:
        return {}
    return {name: row[f"limited_{name}_ns"] or 0 for name in LIMITS}


def is_window_known(row: Mapping[str, Any]) -> bool:
    """Whether the receiver's window is known: a SYN was not captured, or its options were cut."""
    return row["window_shift"] is not None

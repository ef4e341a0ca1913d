"""The rules of the verdict that a run breaks for the machine's sake."""

from __future__ import annotations

from typing import Final

MACHINE: Final = frozenset(
    (
        *("lateness", "stall", "read-lag", "emulator-starved", "traffic-starved", "steal", "clock-steps"),
        *("samples", "udp-schedule", "ring-drops", "softnet", "ack-rows"),
    )
)
"""The same plan may keep these rules on a quieter machine, or at a quieter time."""

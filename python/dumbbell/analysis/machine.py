"""The rules of the verdict that a run breaks for the machine's sake, and the runs that break no others."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

MACHINE: Final = frozenset(
    (
        *("lateness", "stall", "read-lag", "emulator-starved", "traffic-starved", "steal", "clock-steps"),
        *("samples", "udp-schedule", "ring-drops", "softnet", "ack-rows"),
    )
)
"""The same plan may keep these rules on a quieter machine, or at a quieter time."""


def disturbed(verdict: str | None, checks: Collection[str]) -> bool:
    """True if a run is suspect for the machine's sake alone, so that another attempt may be valid.

    Args:
        verdict: of the run; `None` if it was not judged.
        checks: the rules that it breaks.
    """
    return verdict == "suspect" and bool(checks) and MACHINE.issuperset(checks)

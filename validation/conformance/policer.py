"""A token bucket that drops."""

from __future__ import annotations

from typing import Any

from validation.conformance.capacity import BYTE


class Policer:
    """Tokens in bit/s times ns: exact."""

    def __init__(self, spec: dict[str, Any]) -> None:
        self._rate = spec["rate_bps"]
        self._burst = spec["burst_bytes"] * BYTE
        self._tokens = self._burst
        self._then = 0

    def lets_pass(self, size: int, now: int) -> bool:
        """Take the packet's tokens, if there are enough."""
        self._tokens = min(self._burst, self._tokens + self._rate * (now - self._then))
        self._then = now
        if self._tokens < size * BYTE:
            return False
        self._tokens -= size * BYTE
        return True

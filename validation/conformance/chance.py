"""Impairments that happen to some packets and not to others."""

from __future__ import annotations

from typing import Any

from validation.conformance.random import Stream

NEVER = {"probability": 0.0, "correlation": 0.0}


class Chance:
    """Two states: yes follows yes with p + c (1 - p), and no with p (1 - c). That keeps the rate p.

    The first packet, and the first one after a rate of 0, has no fate before it: its probability is p.
    """

    def __init__(self, spec: dict[str, Any] | None, seed: int, element: str) -> None:
        self._stream = Stream(seed, element)
        self._packets = 0
        self._last: bool | None = None
        self.configure(spec)

    def configure(self, spec: dict[str, Any] | None) -> None:
        """Other parameters; packets keep their numbers."""
        self._spec = spec or NEVER
        if self._spec["probability"] == 0:
            self._last = None

    def next(self) -> bool:
        """Does it happen to the next packet?"""
        number = self._packets
        self._packets += 1
        p, c = self._spec["probability"], self._spec["correlation"]
        if p == 0:
            return False
        now = p if self._last is None else p + c * (1 - p) if self._last else p * (1 - c)
        self._last = self._stream.below(now, number)
        return self._last

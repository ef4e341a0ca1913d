"""Processes that lose packets, packet by packet."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from validation.conformance.random import Stream

Process = Callable[[int], bool]
"""Is the packet with this number lost? Asked in the order of numbers."""


class Losses:
    """The processes at one place of a link; each sees each packet. Number i has the stream `element/i`."""

    def __init__(self, specs: list[dict[str, Any]], seed: int, element: str) -> None:
        self._seed, self._element = seed, element
        self._specs: list[dict[str, Any]] = []
        self._processes: list[Process] = []
        self._packets = 0
        self.configure(specs)

    def configure(self, specs: list[dict[str, Any]]) -> None:
        """Processes that stay as they are go on; packets keep their numbers."""
        old = list(zip(self._specs, self._processes, strict=True)) + [({}, _never)] * len(specs)
        self._processes = [
            process if spec == before else MODELS[spec["model"]](spec, Stream(self._seed, f"{self._element}/{i}"))
            for i, (spec, (before, process)) in enumerate(zip(specs, old, strict=False))
        ]
        self._specs = specs

    def next(self) -> bool:
        """Is the next packet lost?"""
        number = self._packets
        self._packets += 1
        return any([lost(number) for lost in self._processes])


def _never(number: int) -> bool:
    return False


def _independent(spec: dict[str, Any], stream: Stream) -> Process:
    return lambda number: stream.below(spec["probability"], number)


def _correlated(spec: dict[str, Any], stream: Stream) -> Process:
    """Two states: loss follows loss with p + c (1 - p), and reception with p (1 - c). That keeps the rate p."""
    p, c = spec["probability"], spec["correlation"]
    last: list[bool] = []

    def lost(number: int) -> bool:
        probability = p if not last else p + c * (1 - p) if last[0] else p * (1 - c)
        last[:] = [stream.below(probability, number)]
        return last[0]

    return lost


def _periodic(spec: dict[str, Any], stream: Stream) -> Process:
    return lambda number: number % spec["every"] == spec["offset"]


def _trace(spec: dict[str, Any], stream: Stream) -> Process:
    lost, period = set(spec["lost"]), spec["period"]
    return lambda number: (number % period if period else number) in lost


MODELS = {"independent": _independent, "correlated": _correlated, "periodic": _periodic, "trace": _trace}
"""Models that take one number per packet. The others are proved by their statistics, in the crate's tests."""

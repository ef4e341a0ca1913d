"""Links of a plan in the words of `tc netem`, for programs that set links by it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

FRAME_BYTES: Final = 1514
"""A full frame: a buffer in bytes has room for so many packets."""
SAID: Final = {
    "name", "from", "to", "from_interface", "to_interface", "up", "rate_bps", "buffer", "delay_ns", "jitter",
    "reordering", "loss_before",
}  # fmt: skip
"""The keys of a link in a plan that such a file can say, in part. The others must be as those of a plain link."""
PLAIN: Final = {"queue": {"kind": "drop-tail", "ce_threshold": None}, "overhead_bytes": 0, "loss_after": []}


def note_rest(link: Mapping[str, Any], notes: dict[str, None], lacking: str) -> None:
    """Note the keys that a file cannot say: links have them, `lacking`."""
    for key in sorted(link.keys() - SAID):
        if link[key] != PLAIN.get(key):
            notes[f"links have {key.removesuffix('_bytes').replace('_', ' ')}, {lacking}"] = None
    if not link["up"]:
        notes["links that are down are up in the file"] = None


def delay_and_jitter(link: Mapping[str, Any], notes: dict[str, None], left_out: str) -> tuple[int, int]:
    """The mean delay, and the most by which netem's jitter differs from it, ns. `left_out`: noted of another jitter."""
    delay_ns, jitter = link["delay_ns"], link["jitter"]
    if jitter is None:
        return delay_ns, 0
    drawn = jitter["distribution"]
    if drawn["kind"] == "uniform" and not drawn["min_ns"] and not jitter["correlation"] and link["reordering"]:
        return delay_ns + drawn["max_ns"] // 2, drawn["max_ns"] // 2
    notes[left_out] = None
    return delay_ns, 0


def loss_percent(link: Mapping[str, Any], notes: dict[str, None], left_out: str) -> float | None:
    """The independent loss; `None` without one. `left_out`: noted of other losses."""
    match link["loss_before"]:
        case []:
            return None
        case [{"model": "independent", "probability": probability}]:
            return float(round(probability * 100, 9))
    notes[left_out] = None
    return None


def buffer_packets(bytes_: int) -> int:
    """The packets for which a buffer in bytes has room, rounded up."""
    return max(1, math.ceil(bytes_ / FRAME_BYTES))


def time(ns: int, notes: dict[str, None]) -> str:
    """A time as tc reads it."""
    if ns % 1_000_000 == 0:
        return f"{ns // 1_000_000}ms"
    if ns % 1_000:
        notes["delays are rounded to microseconds"] = None
    return f"{round(ns / 1_000)}us"

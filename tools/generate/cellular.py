"""The bundled trace of a mobile phone's link: made from a seed, since no measured trace comes with dumbbell.

The logarithm of the rate is a random walk that returns to its mean (an Ornstein-Uhlenbeck process), as fading of
seconds makes it. Three outages stand for handovers. Within a step, opportunities to send come evenly.
"""

from __future__ import annotations

import math
import random
from typing import Any, Final

_SEED: Final = 1
_LENGTH_MS: Final = 20_000
_STEP_MS: Final = 20
_MEAN_BPS: Final = 8e6
"""Median of the rates."""
_RANGE_BPS: Final = (1e6, 40e6)
_SPREAD: Final = 0.7
"""Standard deviation of the rate's natural logarithm."""
_MEMORY_MS: Final = 1_000
"""Time after which the rate has forgotten about two thirds of what it was."""
_OUTAGES: Final = 3
_OUTAGE_MS: Final = (100, 400)
_FRAME_BITS: Final = 1514 * 8


def text(_: Any) -> str:
    """The trace in Mahimahi's format: a line for each frame that may leave, with its millisecond."""
    draws = random.Random(_SEED)
    outages = [(draws.randrange(_LENGTH_MS - _OUTAGE_MS[1]), draws.randint(*_OUTAGE_MS)) for _ in range(_OUTAGES)]
    kept = math.exp(-_STEP_MS / _MEMORY_MS)
    fresh = _SPREAD * math.sqrt(1 - kept**2)
    deviation, bits = draws.gauss(0, _SPREAD), 0.0
    lines = []
    for step in range(0, _LENGTH_MS, _STEP_MS):
        rate = min(max(_MEAN_BPS * math.exp(deviation), _RANGE_BPS[0]), _RANGE_BPS[1])
        deviation = kept * deviation + draws.gauss(0, fresh)
        for moment in range(step + 1, step + _STEP_MS + 1):
            if any(begin <= moment < begin + length for begin, length in outages):
                continue
            bits += rate / 1000
            while bits >= _FRAME_BITS:
                bits -= _FRAME_BITS
                lines.append(str(moment))
    # The last line is the period.
    if lines[-1] != str(_LENGTH_MS):
        lines.append(str(_LENGTH_MS))
    return "\n".join(lines) + "\n"

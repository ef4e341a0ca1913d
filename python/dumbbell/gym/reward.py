"""The default reward."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from dumbbell.gym.terms import Field

Array = NDArray[np.float64]
Reward = Callable[[Array], Any]
"""Takes an array whose last axis is an observation; returns the reward of each."""

PACKET_MBIT: Final = 1500 * 8e-6
TOO_MUCH: Final = 0.02
"""Loss that BBRv3 takes for too much (BBR.LossThresh)."""


def reward(seen: Array) -> Any:
    """Duration in s x (ln(Mbit/s) + ln(minimum RTT / mean RTT) - ln(1 + loss / 2 %)).

    This is the logarithm of Kleinrock's power (Remy's objective with a weight of 1: Winstein and Balakrishnan, SIGCOMM
    2013), less the yardstick's term of loss. An interval in which nothing is delivered counts as one packet.
    """
    if seen.ndim == 1:
        # Calls of numpy for single numbers take longer than the simulation.
        numbers = seen.tolist()
        return _formula([numbers[at] for at in _COLUMNS], math.log, max)
    return _formula([seen[..., at] for at in _COLUMNS], np.log, np.maximum)


_COLUMNS: Final = tuple(map(int, (Field.DURATION, Field.DELIVERED, Field.LOST, Field.RTT_MEAN, Field.MIN_RTT)))
_TINY: Final = 1e-9


def _formula(numbers: Sequence[Any], log: Callable[[Any], Any], most: Callable[[Any, Any], Any]) -> Any:
    duration, delivered, lost, rtt, least = numbers
    rate = most(delivered, 1.0) * PACKET_MBIT / most(duration, _TINY)
    # Without a sample of the RTT this is 1.
    delay = most(most(rtt, least), _TINY) / most(least, _TINY)
    loss = lost / most(delivered + lost, 1.0)
    return duration * log(rate / delay / (1 + loss / TOO_MUCH))

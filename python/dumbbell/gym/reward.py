"""The default reward."""

from __future__ import annotations

from collections.abc import Callable
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
    columns = (Field.DURATION, Field.DELIVERED, Field.LOST, Field.RTT_MEAN, Field.MIN_RTT)
    duration, delivered, lost, rtt, least = (seen[..., column] for column in columns)
    passed = np.maximum(duration, 1e-9)
    rate = np.maximum(delivered, 1) * PACKET_MBIT / passed
    delay = np.log(np.where(rtt > 0, np.maximum(rtt, 1e-9) / np.maximum(least, 1e-9), 1.0))
    loss = lost / np.maximum(delivered + lost, 1)
    return duration * (np.log(rate) - delay - np.log1p(loss / TOO_MUCH))

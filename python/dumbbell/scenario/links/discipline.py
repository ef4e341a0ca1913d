"""The base of all queue disciplines: a kind, and parameters that may follow from the link."""

from __future__ import annotations

from typing import Self

from dumbbell.scenario.links.part import LinkPart
from dumbbell.units import Rate

ECN = "Mark packets of ECN-capable flows instead of dropping them."
"""The effect of a discipline's key `ecn`."""


class Discipline(LinkPart):
    """A queue discipline: its keys are its parameters."""

    kind: str

    def settled(self, rate: Rate | None, buffer: int | None, frame: int, rtt: int, mtu: int) -> Self:
        """The discipline with all parameters given, those that follow from the link too.

        `rate`: the link's, `None` without a limit. `buffer`: in bytes, `None` without a limit. `frame`: bytes of a full
        frame, the link's overhead included. `rtt`: the largest base RTT in ns. `mtu`: the network's, in bytes. Raises
        `QuantityError` for parameters that the link makes impossible.
        """
        return self

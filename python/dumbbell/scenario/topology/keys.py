"""The keys that all topologies have."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from pydantic import BeforeValidator, Field

from dumbbell.scenario.table import Table
from dumbbell.units import QuantityError
from dumbbell.units.mtu import MTU

LEAST, MOST = 576, 9000
"""Bytes: the packet that every host takes (RFC 791), and that of a jumbo frame."""


def _in_range(value: object) -> object:
    if type(value) is int and not LEAST <= value <= MOST:
        hint = "write mtu = 9000 for jumbo frames, or leave it out for Ethernet's 1500"
        raise QuantityError("out of range", f"{LEAST} to {MOST} bytes", hint)
    return value


Bytes = Annotated[int, BeforeValidator(_in_range)]
"""An MTU."""


class AnyTopology(Table):
    """Keys that all topologies have."""

    kind: str

    @property
    def notes(self) -> Sequence[str]:
        """Facts that a file which describes the network lacks, and what was taken in their place."""
        return ()

    mtu: Bytes = Field(
        default=MTU,
        ge=LEAST,
        le=MOST,
        strict=True,
        description="The most bytes of an IP packet, on all links and hosts; 9000 for jumbo frames.",
        examples=[9000],
    )

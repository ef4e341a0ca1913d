"""MTUs of networks and links."""

from __future__ import annotations

from typing import Annotated

from pydantic import BeforeValidator

from dumbbell.units import QuantityError

LEAST, MOST = 576, 9000
"""Bytes: the packet that every host takes (RFC 791), and that of a jumbo frame."""


def _in_range(value: object) -> object:
    if type(value) is int and not LEAST <= value <= MOST:
        hint = "write mtu = 9000 for jumbo frames, or leave it out for Ethernet's 1500"
        raise QuantityError("out of range", f"{LEAST} to {MOST} bytes", hint)
    return value


Bytes = Annotated[int, BeforeValidator(_in_range)]
"""An MTU."""

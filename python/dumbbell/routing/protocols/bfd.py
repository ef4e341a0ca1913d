"""Bidirectional forwarding detection (RFC 5880): it notices a silent neighbour for the other protocols."""

from __future__ import annotations

from typing import Final

from dumbbell.routing.model import Network, Router
from dumbbell.routing.protocol import Protocol, block

PROFILE: Final = "lab"


class Bfd(Protocol):
    """BFD, for the neighbours of the router's other protocols."""

    name = "bfd"
    daemon = "bfdd"

    def configure(self, router: Router, network: Network) -> list[str]:
        """See `Protocol`. Three messages may be missing, which is FRR's default."""
        fast = ["receive-interval 50", "transmit-interval 50"]
        profile = block(f"profile {PROFILE}", *(fast if router.timers == "fast" else []))
        return block("bfd", *profile)

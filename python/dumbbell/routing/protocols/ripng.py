"""RIP for IPv6 (RFC 2080)."""

from __future__ import annotations

from dumbbell.routing.igp import InteriorProtocol
from dumbbell.routing.model import Network, Router
from dumbbell.routing.protocol import block
from dumbbell.routing.protocols.rip import FAST


class RipNg(InteriorProtocol):
    """RIPng. It counts hops: costs of links do not matter."""

    name = "ripng"
    daemon = "ripngd"
    versions = (6,)

    def configure(self, router: Router, network: Network) -> list[str]:
        """See `Protocol`."""
        lines = []
        for port in self.ports(router, network):
            lines.append(f"network {port.interface.name}")
            if not port.active:
                lines.append(f"passive-interface {port.interface.name}")
        return block("router ripng", *lines, *([FAST] if router.timers == "fast" else []))

"""RIP for IPv4 (RFC 2453) and for IPv6 (RFC 2080)."""

from __future__ import annotations

from dumbbell.routing.igp import InteriorProtocol
from dumbbell.routing.model import Network, Router
from dumbbell.routing.protocol import block

_FAST = "timers basic 5 15 10"
"""Updates every 5 s, the least that FRR takes; changes are sent at once all the same."""


class Rip(InteriorProtocol):
    """RIP version 2. It counts hops: costs of links do not matter."""

    name = "rip"
    daemon = "ripd"
    versions = (4,)

    def configure(self, router: Router, network: Network) -> list[str]:
        """See `Protocol`."""
        lines = ["network lo"] if 4 in self.versions else []
        for port in self.ports(router, network):
            lines.append(f"network {port.interface.name}")
            if not port.active:
                lines.append(f"passive-interface {port.interface.name}")
        if self.has_default(router):
            lines.append("default-information originate")
        return block(f"router {self.name}", *lines, *([_FAST] if router.timers == "fast" else []))


class RipNg(Rip):
    """RIPng. It counts hops, too."""

    name = "ripng"
    daemon = "ripngd"
    versions = (6,)

"""OSPF for IPv6 (RFC 5340)."""

from __future__ import annotations

from dumbbell.routing.igp import InteriorProtocol
from dumbbell.routing.model import Network, Router
from dumbbell.routing.protocol import block
from dumbbell.routing.protocols.bfd import PROFILE


class Ospf6(InteriorProtocol):
    """OSPFv3, one area."""

    name = "ospf6"
    daemon = "ospf6d"
    versions = (6,)

    def configure(self, router: Router, network: Network) -> list[str]:
        """See `Protocol`."""
        lines: list[str] = []
        for port in self.ports(router, network):
            words = ["area 0", f"cost {port.interface.cost}"]
            if port.point_to_point:
                words.append("network point-to-point")
            if not port.active:
                words.append("passive")
            if router.timers == "fast":
                words += ["hello-interval 1", "dead-interval 3"]
            if port.active and router.speaks("bfd"):
                words += ["bfd", f"bfd profile {PROFILE}"]
            lines += block(f"interface {port.interface.name}", *(f"ipv6 ospf6 {word}" for word in words))
        timers = ["timers throttle spf 0 10 100", "timers lsa min-arrival 0"]
        return [
            *lines,
            *block("router ospf6", f"ospf6 router-id {router.id}", *(timers if router.timers == "fast" else [])),
        ]

"""OSPF for IPv4 (RFC 2328)."""

from __future__ import annotations

from dumbbell.routing.igp import InteriorProtocol
from dumbbell.routing.model import Network, Router
from dumbbell.routing.protocol import block
from dumbbell.routing.protocols.bfd import PROFILE


class Ospf(InteriorProtocol):
    """OSPFv2, one area."""

    name = "ospf"
    daemon = "ospfd"
    versions = (4,)

    def configure(self, router: Router, network: Network) -> list[str]:
        """See `Protocol`."""
        lines = block("interface lo", "ip ospf area 0")
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
            lines += block(f"interface {port.interface.name}", *(f"ip ospf {word}" for word in words))
        timers = ["timers throttle spf 0 10 100", "timers throttle lsa all 0", "timers lsa min-arrival 0"]
        return [
            *lines,
            *block("router ospf", f"ospf router-id {router.id}", *(timers if router.timers == "fast" else [])),
        ]

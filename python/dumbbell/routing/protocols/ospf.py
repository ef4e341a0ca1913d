"""OSPF for IPv4 (RFC 2328) and for IPv6 (RFC 5340)."""

from __future__ import annotations

from typing import ClassVar

from dumbbell.routing.igp import InteriorProtocol
from dumbbell.routing.model import Network, Router
from dumbbell.routing.protocol import block
from dumbbell.routing.protocols.bfd import PROFILE


class Ospf(InteriorProtocol):
    """OSPFv2, one area."""

    name = "ospf"
    daemon = "ospfd"
    versions = (4,)
    words = "ip ospf"
    """Begin a line of an interface."""
    fast: ClassVar[tuple[str, ...]] = (
        "timers throttle spf 0 10 100",
        "timers throttle lsa all 0",
        "timers lsa min-arrival 0",
    )

    def configure(self, router: Router, network: Network) -> list[str]:
        """See `Protocol`."""
        is_fast = router.timers == "fast"
        lines = block("interface lo", f"{self.words} area 0") if 4 in self.versions else []
        for port in self.ports(router, network):
            words = ["area 0", f"cost {port.interface.cost}"]
            if port.point_to_point:
                words.append("network point-to-point")
            if not port.active:
                words.append("passive")
            if is_fast:
                words += ["hello-interval 1", "dead-interval 3"]
            if port.active and router.speaks("bfd"):
                words += ["bfd", f"bfd profile {PROFILE}"]
            lines += block(f"interface {port.interface.name}", *(f"{self.words} {word}" for word in words))
        process = [f"{self.name} router-id {router.id}", *(self.fast if is_fast else ())]
        if self.has_default(router):
            process.append("default-information originate")
        return [*lines, *block(f"router {self.name}", *process)]


class Ospf6(Ospf):
    """OSPFv3, one area."""

    name = "ospf6"
    daemon = "ospf6d"
    versions = (6,)
    words = "ipv6 ospf6"
    fast = ("timers throttle spf 0 10 100", "timers lsa min-arrival 0")

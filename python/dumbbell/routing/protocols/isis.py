"""IS-IS for IPv4 and IPv6 (ISO 10589, RFC 1195, RFC 5308)."""

from __future__ import annotations

from ipaddress import IPv4Address

from dumbbell.routing.igp import InteriorProtocol
from dumbbell.routing.model import Network, Router
from dumbbell.routing.protocol import block
from dumbbell.routing.protocols.bfd import PROFILE

AREA = "49.0001"
"""A private area."""


class Isis(InteriorProtocol):
    """IS-IS, level 2 only."""

    name = "isis"
    daemon = "isisd"
    versions = (4, 6)

    def configure(self, router: Router, network: Network) -> list[str]:
        """See `Protocol`."""
        # This comes before `net`, which starts the process: later, the first LSP waits for the default's 30 s. It is
        # written as FRRouting writes it, so that a lab sees what was typed besides.
        fast = ["lsp-timers gen-interval 1 refresh-interval 900 max-lifetime 1200"]
        timers = fast if router.timers == "fast" else []
        default = ["default-information originate ipv4 level-2"] if self.has_default(router) else []
        lines = block("router isis lab", *timers, "is-type level-2-only", f"net {net(router.id)}", *default)
        lines += block("interface lo", "ip router isis lab", "isis passive")
        for port in self.ports(router, network):
            families = [f"{'ip' if v == 4 else 'ipv6'} router isis lab" for v in (4, 6) if port.interface.of(v)]
            words = [f"isis metric {port.interface.cost}"]
            if port.point_to_point:
                words.append("isis network point-to-point")
            if not port.active:
                words.append("isis passive")
            if router.timers == "fast":
                words += ["isis hello-interval 1", "isis hello-multiplier 3"]
            if port.active and router.speaks("bfd"):
                words += ["isis bfd", f"isis bfd profile {PROFILE}"]
            lines += block(f"interface {port.interface.name}", *families, *words)
        return lines


def net(router_id: IPv4Address) -> str:
    """The network entity title: the area, and a router's id as twelve digits: 10.255.0.1 -> 0102.5500.0001."""
    digits = "".join(f"{int(part):03}" for part in str(router_id).split("."))
    return f"{AREA}.{digits[:4]}.{digits[4:8]}.{digits[8:]}.00"

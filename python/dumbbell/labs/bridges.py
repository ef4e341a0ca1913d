"""The bridges of a lab: their ports as the kernel has them now."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from dumbbell.frozen import dataclass
from dumbbell.labs.network import Cable

if TYPE_CHECKING:
    from dumbbell.labs.live import Live

STATES: Final = {"0": "disabled", "1": "listening", "2": "learning", "3": "forwarding", "4": "blocking"}
"""Parts of a port in the spanning tree, as Linux numbers them (linux/if_bridge.h)."""
FORWARDING: Final = "forwarding"
_READ: Final = "cd /sys/class/net && grep -H . */brport/state"


@dataclass(frozen=True)
class Port:
    """A port of a bridge."""

    bridge: str
    interface: str
    cable: Cable
    state: str
    """`forwarding`, `blocking`, ...; `unknown` where the node sees no `/sys/class/net`."""
    vlans: tuple[int | None, list[int]] | None
    """VLANs of untagged and of tagged frames; none if the bridge looks at no tags."""

    def __str__(self) -> str:
        """The port in one line."""
        words = [f"{self.bridge}-{self.interface}: to {self.cable.other(self.bridge)}", self.state]
        if self.vlans is not None:
            untagged, tagged = self.vlans
            words += [f"VLAN {untagged}"] if untagged is not None else []
            words += [f"tagged {', '.join(map(str, tagged))}"] if tagged else []
        return ", ".join(words)


def ports(lab: Live) -> Iterator[Port]:
    """The ports of all bridges, in their order."""
    network = lab.network
    for bridge in network.bridges:
        # `eth1/brport/state:3`
        lines = lab[bridge].run(["sh", "-c", _READ]).stdout.splitlines()
        states = {line.partition("/")[0]: STATES.get(line.rpartition(":")[2], "unknown") for line in lines}
        for cable in network.cables:
            if bridge in cable.ends:
                interface = cable.interfaces[cable.ends.index(bridge)]
                state = states.get(interface, "unknown")
                yield Port(bridge, interface, cable, state, network.vlans(bridge, interface))


def idle(lab: Live) -> dict[str, list[str]]:
    """Link -> why frames do not cross it: ports at its ends that do not forward."""
    found: dict[str, list[str]] = {}
    for port in ports(lab):
        if port.state not in (FORWARDING, "unknown"):
            for link in port.cable.links:
                found.setdefault(link, []).append(f"port {port.bridge}-{port.interface} is {port.state}")
    return found

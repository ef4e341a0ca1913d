"""Parts of a plan that several of its kinds of flow or node have."""

from __future__ import annotations

from typing import Any

from dumbbell.plan.types import (
    BridgeNode,
    Flow,
    HostNode,
    Link,
    Plan,
    RouterNode,
    SwitchNode,
)
from dumbbell.scenario.traffic.flows import KINDS
from dumbbell.scenario.traffic.kinds.flow import Kind
from dumbbell.units.mtu import frame_bytes


def hosts(plan: Plan) -> list[HostNode]:
    """The hosts of a plan, in its order."""
    return [node for node in plan.nodes if isinstance(node, HostNode)]


def gateway(plan: Plan) -> str | None:
    """The router that leads to this machine's network, if there is one."""
    return next((node.name for node in plan.nodes if isinstance(node, RouterNode) and node.nat), None)


def has_vlans(plan: Plan) -> bool:
    """Bridges sort frames by VLANs: on some links frames have tags."""
    bridges = (node for node in plan.nodes if isinstance(node, BridgeNode))
    return any(port.vlans is not None for node in bridges for port in node.interfaces)


def ipv6_address(host: HostNode) -> str | None:
    """The address to which flows over IPv6 go: of the interface that has the host's address, or else of any."""
    of_interfaces = [[address.partition("/")[0] for address in one.addresses] for one in host.interfaces]
    of_interfaces.sort(key=lambda own: host.address not in own)
    return next((address for own in of_interfaces for address in own if ":" in address), None)


def full_frame(plan: Plan, link: Link | None = None) -> int:
    """Bytes of a full frame in a plan's network; on `link`, with the link's MTU and overhead."""
    return frame_bytes(plan.mtu) if link is None else frame_bytes(mtu(plan, link)) + link.overhead_bytes


def mtu(plan: Plan, link: Link) -> int:
    """The most bytes of an IP packet on a link."""
    ends = {link.from_: link.from_interface, link.to: link.to_interface}
    nodes = (node for node in plan.nodes if node.name in ends and not isinstance(node, SwitchNode))
    own = (one.mtu for node in nodes for one in node.interfaces if one.name == ends[node.name])
    return next(own, None) or plan.mtu


def group(flow: Flow) -> str:
    """The scenario's entry that a flow is of."""
    return flow.id if flow.group is None else flow.group


def kind(flow: Flow) -> type[Kind[Any]]:
    """The class that knows what a flow of this kind does."""
    found: type[Kind[Any]] = KINDS[flow.workload.kind]
    return found


def cc(flow: Flow) -> str | None:
    """The congestion control that a flow asks for; none of datagrams, and of programs that name none."""
    label: str | None = kind(flow).label(flow.workload)
    return label


def size(flow: Flow) -> int | None:
    """The bytes after which a flow ends by itself; none of one that does not."""
    size_bytes: int | None = kind(flow).size_bytes(flow.workload)
    return size_bytes

"""Nodes between two others: addresses, neighbours and settings of their kernels that keep packets from passing."""

from __future__ import annotations

from collections.abc import Iterator
from ipaddress import ip_address, ip_interface

from dumbbell.labs.why.case import Case
from dumbbell.labs.why.finding import Finding
from dumbbell.labs.why.lacking import addresses, planned_route, replaced, routes_again


def addressed(case: Case) -> Iterator[Finding]:
    """Addresses of the scenario that interfaces on the way lack."""
    for node, name in case.interfaces:
        known = case.facts[node].interfaces.get(name)
        if known is None or not known.is_up or _is_disabled(case, node, name):
            continue  # It has a reason of its own, which mends this, too.
        for address in addresses(case, node, name):
            if address in known.doubtful:
                continue
            others = [one for one in known.addresses if (":" in one) == (case.ip == 6)]
            has = f": it has {' and '.join(others)}" if others else ""
            mends = tuple(routes_again(case, node, name))
            yield Finding(f"{node}'s interface {name} lacks its address {address}{has}", mends, (node,))


def tried(case: Case) -> Iterator[Finding]:
    """Addresses that are not used, as duplicate address detection has failed (RFC 4862)."""
    for node, name in case.interfaces:
        known = case.facts[node].interfaces.get(name)
        for address in () if known is None or case.ip == 4 else known.doubtful:
            text = f"{node} does not use its address {address} at {name}: another node had it first (dadfailed)"
            again = [one for one in routes_again(case, node, name) if "addr add" not in one]
            words = (f"del {address} dev {name}", f"add {address} dev {name} nodad")
            yield Finding(text, (*(f"{node} ip addr {word}" for word in words), *again), (node,))


def sources(case: Case) -> Iterator[Finding]:
    """Nodes that send from an address outside the subnets that the scenario gives them: answers go elsewhere."""
    for from_, to in case.pairs:
        words = case.lab[from_].run(["ip", f"-{case.ip}", "route", "get", case.address(to)]).stdout.split()
        source = words[words.index("src") + 1] if "src" in words else ""
        if not source or _is_own(case, from_, source):
            continue
        planned = planned_route(case, from_, to)
        text = f"{from_} sends packets for {to} from {source}, which is no address of the scenario's"
        yield Finding(text, () if planned is None else (replaced(from_, planned),), (from_,))


def _is_own(case: Case, node: str, address: str) -> bool:
    own = [one for _, held in case.network.interfaces(node) for one in held]
    held, router_id = ip_address(address), str(case.network.planned[node].get("address", ""))
    # With its addresses it loses all others: that is a reason of its own.
    is_lost = held.is_link_local or held.is_loopback
    return is_lost or address == router_id or any(held in ip_interface(one).network for one in own)


def doubled(case: Case) -> Iterator[Finding]:
    """Addresses of the two nodes that other nodes have, too, and those of interfaces on the way that nodes beside
    them have."""
    for (owner, at), address in case.addresses:
        beside = {other for other, _, _ in case.network.joined(owner, at)}
        for node, known in case.holders.items():
            if node == owner or not (node in beside or owner in (case.from_, case.to)):
                continue
            planned = {one.partition("/")[0] for _, own in case.network.interfaces(node) for one in own}
            for interface in known.values() if address not in planned else ():
                for held in interface.addresses:
                    if held.partition("/")[0] == address:
                        mend = f"{node} ip addr del {held} dev {interface.name}"
                        text = f"{node} has {owner}'s address {address}, too, at {interface.name}"
                        yield Finding(text, (mend,), (node,))


def neighbours(case: Case) -> Iterator[Finding]:
    """Entries of neighbour tables that name another hardware address than the node's; interfaces without ARP."""
    # Others that have the address, too, on an interface without a hardware address, are a reason of their own.
    holders = {
        address.partition("/")[0]: (node, held.mac)
        for node in case.nodes
        for held in case.facts[node].interfaces.values()
        for address in (held.addresses if held.name != "lo" else ())
    }
    for node in case.nodes:
        for address, (mac, interface) in case.facts[node].neighbours.items():
            holder, own = holders.get(address, (node, mac))
            if own != mac and (":" in address) == (case.ip == 6):
                text = f"{node} sends packets for {address} to {mac}, and {holder} has {own} there"
                mend = f"{node} ip neigh replace {address} lladdr {own} dev {interface} nud permanent"
                yield Finding(text, (mend,), (node, holder))
    for node, name in case.interfaces:
        known = case.facts[node].interfaces.get(name)
        if case.ip == 4 and known is not None and known.is_up and not known.answers_arp:
            text = f"{node}'s interface {name} neither asks nor answers by ARP: it has the flag NOARP"
            others = [other for other, _, _ in case.network.joined(node, name)]
            yield Finding(text, (f"{node} ip link set {name} arp on",), (node, *others))


def settings(case: Case) -> Iterator[Finding]:
    """Settings of kernels: no forwarding, no answers to pings, no IPv6."""
    for node in case.nodes:
        facts, is_end = case.facts[node], node in (case.from_, case.to)
        if is_end:
            name = "net.ipv4.icmp_echo_ignore_all" if case.ip == 4 else "net.ipv6.icmp.echo_ignore_all"
            if facts.sysctl(name):
                yield _wrong(node, "does not answer pings", name, 1, 0)
        elif case.network.kind(node) == "router" and case.is_needed(node):
            name = "net.ipv4.ip_forward" if case.ip == 4 else "net.ipv6.conf.all.forwarding"
            if not facts.sysctl(name, 1):
                yield _wrong(node, "does not forward packets", name, 0, 1)
                continue
            entered = {step.came_in for way in (case.there, case.back) for step in way.steps if step.node == node}
            for interface in sorted(filter(None, entered)) if case.ip == 4 else ():
                name = f"net.ipv4.conf.{interface}.forwarding"
                if not facts.sysctl(name, 1):
                    yield _wrong(node, f"does not forward packets that come by {interface}", name, 0, 1)
    for node, name in case.interfaces:
        if _is_disabled(case, node, name):
            found = _wrong(node, f"has no IPv6 at {name}", f"net.ipv6.conf.{name}.disable_ipv6", 1, 0)
            yield Finding(found.text, (*found.mends, *routes_again(case, node, name)), found.nodes)


def _is_disabled(case: Case, node: str, name: str) -> bool:
    return case.ip == 6 and bool(case.facts[node].sysctl(f"net.ipv6.conf.{name}.disable_ipv6"))


def _wrong(node: str, does: str, name: str, value: int, right: int) -> Finding:
    return Finding(f"{node} {does}: {name} is {value}", (f"{node} sysctl -qw {name}={right}",), (node,))

"""The word `why`: where packets from one host to another end."""

from __future__ import annotations

from collections import deque

from dumbbell.labs import bridges, changes, pings
from dumbbell.labs.shell.words import Session, word

PROBES = 3


@word(
    "why", "HOST HOST", "Say whether a host reaches another one; if not, which node or link drops its packets, and why."
)
def why(session: Session, words: list[str]) -> int:
    """Looks at routes, at the links' states, and at which link drops packets."""
    for name in words:
        session.network.check_place(name)
    if len(words) != 2:
        print("name two hosts: why h1 h2")
        return 1
    from_, to = words
    found = pings.ping_all(session.lab.path, [from_, to])
    there, back = found.rtt_ns[0][1], found.rtt_ns[1][0]
    if there is not None and back is not None:
        print(f"{to} answers {from_}: {there / 1e6:.3f} ms")
        return 0
    said = [
        *_routes(session, from_, to),
        *_routes(session, to, from_),
        *_links(session, from_, to),
        *_bridges(session, from_, to),
        *_drops(session, from_, to),
    ]
    print(
        "\n".join(dict.fromkeys(said))
        or f"{to} does not answer {from_}, and no route, state or count of a link says why"
    )
    return 1


def _routes(session: Session, from_: str, to: str) -> list[str]:
    """Nodes on the way that have no route; each is asked for its next hop."""
    network, node, seen = session.network, from_, [from_]
    owner = {
        address.partition("/")[0]: name
        for name in network.places
        for _, held in network.interfaces(name)
        for address in held
    }
    while node != to:
        done = session.lab[node].run(["ip", "route", "get", network.address(to)])
        if done.returncode:
            return [
                f"{node} has no route to {to} ({network.address(to)}): {done.stderr.strip() or done.stdout.strip()}"
            ]
        words = done.stdout.split()
        if "via" not in words:
            return []  # It is on the same network.
        hop = owner.get(words[words.index("via") + 1])
        if hop is None:
            return []  # The gateway of a core network, which knows all hosts.
        if hop in seen:
            return [f"packets from {from_} to {to} run in a circle: {' -> '.join([*seen, hop])}"]
        seen.append(node := hop)
    return []


def _links(session: Session, from_: str, to: str) -> list[str]:
    """Links of a shortest way that are down; both directions."""
    now = changes.states(session.lab.path)
    return [
        f"link {name} ({now[name]['from']} -> {now[name]['to']}) is down"
        for name in _way(session, from_, to)
        if not now[name]["up"]
    ]


def _bridges(session: Session, from_: str, to: str) -> list[str]:
    """Ports of bridges on the way that wait, and VLANs that part the two hosts."""
    found, known = bridges.idle(session.lab), list(bridges.ports(session.lab))
    waiting = [f"link {name}: {'; '.join(found[name])}" for name in _way(session, from_, to) if name in found]
    own = {
        node: next((port for port in known if port.cable.other(port.bridge) == node and port.vlans), None)
        for node in (from_, to)
    }
    first, second = own[from_], own[to]
    if first is None or second is None or first.vlans == second.vlans or _is_routed(session, from_, to):
        return waiting
    said = [f"{node} is in VLAN {port.vlans[0]} at {port.bridge}" for node, port in own.items() if port and port.vlans]
    return [*waiting, f"{' and '.join(said)}, and no router joins them"]


def _is_routed(session: Session, from_: str, to: str) -> bool:
    """Packets take a router."""
    return "via" in session.lab[from_].run(["ip", "route", "get", session.network.address(to)]).stdout.split()


def _way(session: Session, from_: str, to: str) -> list[str]:
    """All links between the nodes of a shortest way, without those that a spanning tree blocks."""
    network, before = session.network, {from_: from_}
    blocked = {port.cable for port in bridges.ports(session.lab) if port.state == "blocking"}
    queue = deque([from_])
    while queue:
        node = queue.popleft()
        for cable in network.cables:
            if node in cable.ends and cable.other(node) not in before and cable not in blocked:
                before[cable.other(node)] = node
                queue.append(cable.other(node))
    links: list[str] = []
    node = to
    while node in before and node != from_:
        links += [link for cable in network.between(node, before[node]) for link in cable.links]
        node = before[node]
    return links


def _drops(session: Session, from_: str, to: str) -> list[str]:
    """Links whose queues drop pings of ours."""
    before = {link["name"]: link["dropped_packets"] for link in session.lab.progress()}
    for _ in range(PROBES):
        pings.ping_all(session.lab.path, [from_, to], 0.3)
    after = {link["name"]: link["dropped_packets"] for link in session.lab.progress()}
    grown = {name: count - before.get(name, 0) for name, count in after.items() if count > before.get(name, 0)}
    return [f"link {name} dropped {count} packets while {2 * PROBES} pings were sent" for name, count in grown.items()]

"""The word `why`: where packets from one host to another end, and why."""

from __future__ import annotations

import shutil
from collections import deque
from collections.abc import Iterator
from typing import Final

from dumbbell.counts import count
from dumbbell.labs import bridges, changes, pings, trace, ways
from dumbbell.labs.shell.measure import version
from dumbbell.labs.shell.words import Session, word

PROBES = 3
_TIMEOUT_S: Final = 0.5
_MOST_RULES: Final = 3
"""Rules of a firewall that are shown of a node."""


@word(
    "why",
    "[-6] HOST HOST",
    "Say whether a host reaches another one, with packets of any size; if not, which node or link drops its packets, "
    "and why: no route, a policy, a firewall, the TTL, the MTU, a link that is down or full.",
)
def why(session: Session, words: list[str]) -> int:
    """Looks at where pings come by, at routes and policies, at the links' states and drops."""
    ip, words = version(words)
    for name in words:
        session.network.check_place(name)
    if len(words) != 2:
        print("name two hosts: why h1 h2")
        return 1
    from_, to = words
    found = pings.ping_all(session.lab.path, [from_, to], ip=ip)
    there, back = found.rtt_ns[0][1], found.rtt_ns[1][0]
    if there is not None and back is not None:
        print(f"{to} answers {from_}: {there / 1e6:.3f} ms")
        said = [*_large(session, from_, to, ip), *_large(session, to, from_, ip)]
        print("".join(f"{text}\n" for text, _ in said), end="")
        return int(any(is_lost for _, is_lost in said))
    if not _way(session, from_, to):
        print(f"no links lead from {from_} to {to}: they are in parts of the network that nothing joins")
        return 1
    said_so = [
        *_routes(session, from_, to, ip),
        *_routes(session, to, from_, ip),
        *_links(session, from_, to),
        *_bridges(session, from_, to),
        *_seen(session, from_, to, ip),
        *_drops(session, from_, to, ip),
    ]
    print(
        "\n".join(dict.fromkeys(said_so))
        or f"{to} does not answer {from_}, and no route, state or count of a link says why"
    )
    return 1


def _routes(session: Session, from_: str, to: str, ip: int) -> Iterator[str]:
    """The node on the way that has no route, or a policy against these packets; or a circle."""
    lab, way = session.lab, ways.way(session.lab, from_, to, ip)
    if way.circle:
        yield f"packets from {from_} to {to} run in a circle: {' -> '.join(way.circle)}"
    if not way.last.refusal:
        return
    node, refusal = way.last.node, way.last.refusal
    if not ways.has_route(lab, node, to, ip):
        yield f"{node} has no route to {to} ({session.network.address(to, ip)}): {refusal}"
    elif rules := ways.policies(lab, node, ip):
        yield f"{node} drops packets from {from_} to {to} by a policy: {'; '.join(rules)} ({refusal})"
    else:
        yield f"{node} does not take packets from {from_} at {way.last.came_in}: {refusal}"


def _seen(session: Session, from_: str, to: str, ip: int) -> Iterator[str]:
    """The node that takes pings, or answers to them, and does not send them on."""
    seen = _trace(session, from_, to, ip)
    for one, other in ((from_, to), (to, from_)):
        ends = session.network.address(one, ip), session.network.address(other, ip)
        asked = [echo for echo in seen if echo.is_request and (echo.from_, echo.to) == ends]
        answers = [echo for echo in seen if not echo.is_request and (echo.to, echo.from_) == ends]
        if not asked:
            yield from _said(session, one, f"{one} sends no pings to {other}", ip)
        elif not asked[-1].is_sent and asked[-1].node != other:
            yield from _kept(session, asked[-1], one, other, ip)
        elif not asked[-1].is_sent and not any(echo.is_sent and echo.node == other for echo in answers):
            yield from _said(session, other, f"{other} takes pings of {one}, and does not answer", ip)
        elif answers and not answers[-1].is_sent and answers[-1].node != one:
            yield from _kept(session, answers[-1], other, one, ip)


def _trace(session: Session, from_: str, to: str, ip: int, size_bytes: int | None = None) -> list[trace.Seen]:
    """Where pings between two nodes come by, at all nodes on both ways."""
    network = session.network
    nodes = {step.node for pair in ((from_, to), (to, from_)) for step in ways.way(session.lab, *pair, ip).steps}
    places = [(node, name) for node in sorted({*nodes, from_, to}) for name, _ in network.interfaces(node)]
    send = lambda: pings.ping_all(session.lab.path, [from_, to], _TIMEOUT_S, ip, size_bytes)  # noqa: E731
    return trace.pings(session.lab.path, places, send)


def _kept(session: Session, echo: trace.Seen, from_: str, to: str, ip: int) -> Iterator[str]:
    """A node on the way does not send packets on."""
    if echo.ttl <= 1:
        begin = "hop limit" if ip == 6 else "TTL"
        yield f"packets from {from_} to {to} expire at {echo.node}: their {begin} has run out"
        return
    what = f"{echo.node} takes packets from {from_} to {to} at {echo.interface}, and does not send them on"
    yield from _said(session, echo.node, what, ip)


def _said(session: Session, node: str, what: str, ip: int) -> Iterator[str]:
    rules = _firewall(session, node)
    yield f"{what}; its firewall has: {'; '.join(rules[:_MOST_RULES])}" if rules else what


def _firewall(session: Session, node: str) -> list[str]:
    """The rules of a node's nftables that drop or refuse packets: `inet own, forward: icmp type echo-request drop`."""
    if shutil.which("nft") is None:
        return []
    found, table, chain = [], "", ""
    for line in session.lab[node].run(["nft", "list", "ruleset"]).stdout.splitlines():
        text = line.strip()
        if text.startswith("table "):
            table = text.removeprefix("table ").removesuffix(" {")
        elif text.startswith("chain "):
            chain = text.removeprefix("chain ").removesuffix(" {")
        elif {"drop", "reject"} & set(text.replace(";", " ").split()):
            found.append(f"{table}, {chain}: {text}")
    return found


def _large(session: Session, from_: str, to: str, ip: int) -> Iterator[tuple[str, bool]]:
    """A node on the way into whose link the sender's largest packets do not fit; and whether they are lost."""
    lab, way = session.lab, ways.way(session.lab, from_, to, ip)
    largest = None if way.steps[0].leaves is None else ways.mtu(lab, from_, way.steps[0].leaves)
    if largest is None:
        return
    seen: list[trace.Seen] = []
    for _ in range(PROBES):
        if pings.ping_all(lab.path, [from_, to], _TIMEOUT_S, ip, largest).rtt_ns[0][1] is not None:
            return
    seen = _trace(session, from_, to, ip, largest)
    ends = session.network.address(from_, ip), session.network.address(to, ip)
    asked = [echo for echo in seen if echo.is_request and (echo.from_, echo.to) == ends]
    if not asked or asked[-1].is_sent:
        yield f"packets of {largest} bytes from {from_} to {to} are lost, and smaller ones are not", True
        return
    node = asked[-1].node
    leaves = next((step.leaves for step in way.steps if step.node == node), None)
    fits = None if leaves is None else ways.mtu(lab, node, leaves)
    if fits is None or fits >= largest:
        what = f"{node} takes packets of {largest} bytes from {from_} to {to}, and does not send them on"
        yield next(iter(_said(session, node, what, ip))), True
        return
    known = ways.known_mtu(lab, from_, to, ip)
    what = f"packets of more than {fits} bytes from {from_} to {to} do not fit into {leaves} of {node}"
    if known is not None and known <= fits:
        yield f"{what}; {from_} knows it by ICMP, and sends smaller ones", False
    else:
        yield f"{what}, and {from_} does not hear of it: those that may not be fragmented (DF) are lost", True


def _links(session: Session, from_: str, to: str) -> list[str]:
    """Links of a shortest way that are down; both directions."""
    now = changes.states(session.lab.path)
    return [
        f"link {name} ({now[name].from_} -> {now[name].to}) is down"
        for name in _way(session, from_, to)
        if not now[name].up
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


def _drops(session: Session, from_: str, to: str, ip: int) -> list[str]:
    """Links whose queues drop pings of ours."""
    before = {link["name"]: link["dropped_packets"] for link in session.lab.progress()}
    for _ in range(PROBES):
        pings.ping_all(session.lab.path, [from_, to], 0.3, ip)
    after = {link["name"]: link["dropped_packets"] for link in session.lab.progress()}
    grown = {name: count - before.get(name, 0) for name, count in after.items() if count > before.get(name, 0)}
    sent = f"while {2 * PROBES} pings were sent"
    return [f"link {name} dropped {count(dropped, 'packet')} {sent}" for name, dropped in grown.items()]

"""Words that show the network."""

from __future__ import annotations

import sys
import time
from dataclasses import replace

from dumbbell.counts import count
from dumbbell.labs import bridges, changes
from dumbbell.labs.network import Cable
from dumbbell.labs.shell.words import Session, word
from dumbbell.plan import words as words_of
from dumbbell.plan.types import BufferBytes, BufferPackets, Link
from dumbbell.units import Rate, Size


@word("nodes", "", "List all nodes.")
def nodes(session: Session, words: list[str]) -> None:
    """Prints names as Mininet does."""
    print(f"available nodes are: \n{' '.join(session.network.nodes)}")


@word("net", "", "Show which interface is connected with which.")
def net(session: Session, words: list[str]) -> None:
    """A line for each node."""
    for node in session.network.nodes:
        ends = [f"{one.interface(node)}:{_far(one, node)}" for one in session.network.cables if node in one.ends]
        print(f"{node} {' '.join(ends)}")


@word("links", "", "List all links, and whether each direction is up.")
def links(session: Session, words: list[str]) -> None:
    """A line for each cable."""
    now = changes.states(session.lab.path)
    for cable in session.network.cables:
        first, second = cable.ends
        state = " ".join("OK" if now[name].up else "DOWN" for name in cable.links)
        print(f"{cable.interface(first)}<->{cable.interface(second)} ({state}) {' '.join(cable.links)}")


@word("dump", "", "Show each node with its addresses.")
def dump(session: Session, words: list[str]) -> None:
    """A line for each node."""
    for node in session.network.nodes:
        shown = (f"{node}-{name}:{','.join(held) or 'None'}" for name, held in session.network.interfaces(node))
        print(f"<{session.network.kind(node).capitalize()} {node}: {','.join(shown)}>")


@word("intfs", "", "List the interfaces of each node.")
def intfs(session: Session, words: list[str]) -> None:
    """A line for each node."""
    for node in session.network.nodes:
        print(f"{node}: {','.join(one.interface(node) for one in session.network.cables if node in one.ends)}")


@word("ports", "", "List the ports of each switch.")
def ports(session: Session, words: list[str]) -> None:
    """A line for each switch."""
    for node in session.network.nodes:
        if session.network.kind(node) in ("switch", "bridge"):
            ends = [one.interface(node) for one in session.network.cables if node in one.ends]
            print(f"{node} {' '.join(f'{end}:{number}' for number, end in enumerate(ends, 1))}")


@word("show", "[LINK | NODE NODE]", "Show links as they are now: rate, delay, buffer, queue, whether they are up.")
def show(session: Session, words: list[str]) -> None:
    """A line for each link."""
    names = session.network.named(*words) if words else session.network.links
    now, idle = changes.states(session.lab.path), bridges.idle(session.lab)
    for name in names:
        print(", ".join([described(now[name]), *idle.get(name, [])]))


@word(
    "bridges", "", "Show the ports of each bridge of Linux: where each leads, its part in the spanning tree, its VLANs."
)
def ports_of_bridges(session: Session, words: list[str]) -> None:
    """A line for each port."""
    for port in bridges.ports(session.lab):
        print(port)


@word("watch", "[SECONDS]", "Show each link's rate, queue and drops, every second until Ctrl-C; in a script, once.")
def watch(session: Session, words: list[str]) -> None:
    """A table a second."""
    rounds = int(float(words[0])) if words else None if sys.stdin.isatty() else 1  # Nobody would press Ctrl-C.
    while rounds is None or rounds > 0:
        for link in session.lab.progress():
            rate, queue = Rate(link["rate_bps"]), Size(link["queue_bytes"])
            print(f"{link['name']:<24} {rate!s:>16}  queue {queue!s:>10}  dropped {link['dropped_packets']}")
        print(flush=True)
        rounds = None if rounds is None else rounds - 1
        if rounds != 0:
            time.sleep(1)


@word("routes", "[NODE...]", "Show the routes of these hosts and routers, or of all.")
def routes(session: Session, words: list[str]) -> int:
    """Prints routes as `ip route` does."""
    code = 0
    for node in words or session.network.stations:
        done = session.lab[node].run(["ip", "route"])
        print(f"{node}:\n{done.stdout}{done.stderr}", end="")
        code = code or done.returncode
    return code


def described(link: Link) -> str:
    """A link of the plan in one line, with the values of all that it does to packets."""
    parts = [
        f"{link.name}: {link.from_} -> {link.to}",
        "up" if link.up else "down",
        "no rate limit" if link.rate_bps is None and link.variation is None else words_of.rate(link),
        f"delay {link.delay_ns / 1e6:g} ms",
    ]
    match link.buffer:
        case BufferBytes(bytes=size):
            parts.append(f"buffer {Size(size)}")
        case BufferPackets(packets=packets):
            parts.append(f"buffer {count(packets, 'packet')}")
    if link.loss_before or link.loss_after:
        parts.append(f"loss {words_of.losses(link)}")
    return ", ".join([*parts, *words_of.impairments(replace(link, up=True))])


def _far(cable: Cable, node: str) -> str:
    return cable.interface(cable.other(node))

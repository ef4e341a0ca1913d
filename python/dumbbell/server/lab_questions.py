"""Questions to the nodes of a lab: ping, why packets are lost, routes, routing neighbours, sockets."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from typing import Final

from dumbbell.errors import InputError
from dumbbell.labs import daemons, pings
from dumbbell.labs.live import Live
from dumbbell.labs.why.explain import explain
from dumbbell.server.lab_messages import AskLab, LabAnswer, WhyShown

LONGEST_S: Final = 30.0
PINGS: Final = 4
NEIGHBOURS: Final = {
    "ospfd": "show ip ospf neighbor",
    "ospf6d": "show ipv6 ospf6 neighbor",
    "bgpd": "show bgp summary",
    "isisd": "show isis neighbor",
    "ripd": "show ip rip status",
}
"""Questions to FRRouting's shell about each daemon."""


def answer(lab: Live, asked: AskLab) -> LabAnswer:
    """Carry out what was asked. Raises `InputError` if there is no such node."""
    lab.network.check_place(asked.node)
    match asked.do:
        case "ping":
            return _ping(lab, asked.node, _other(lab, asked))
        case "why":
            return _why(lab, asked.node, _other(lab, asked))
        case "routes":
            return _output(lab, asked.node, ["ip", "route"])
        case "sockets":
            return _output(lab, asked.node, ["ss", "-tiH"])
        case "neighbours":
            return _neighbours(lab, asked.node)


def _other(lab: Live, asked: AskLab) -> str:
    if asked.to is None:
        raise InputError(f"{asked.do} needs two nodes", f"{asked.node} alone is named", "choose another one, too")
    lab.network.check_place(asked.to)
    return asked.to


def _output(lab: Live, node: str, command: Sequence[str]) -> LabAnswer:
    done = lab[node].run(command, timeout_s=LONGEST_S)
    return LabAnswer(command=f"{node}: {' '.join(command)}", text=done.stdout + done.stderr, code=done.returncode)


def _ping(lab: Live, node: str, to: str) -> LabAnswer:
    address = lab.network.address(to)
    if shutil.which("ping"):
        return _output(lab, node, ["ping", "-c", str(PINGS), "-i", "0.25", "-W", "1", address])
    # The lab has echo requests of its own.
    lines, answered = [], 0
    for number in range(1, PINGS + 1):
        rtt_ns = pings.ping_all(lab.path, [node, to]).rtt_ns[0][1]
        answered += rtt_ns is not None
        said = "no answer" if rtt_ns is None else f"time={rtt_ns / 1e6:.3f} ms"
        lines.append(f"{to} ({address}): seq={number} {said}")
    lines.append(f"{PINGS} sent, {answered} answered")
    return LabAnswer(command=f"{node}: ping {to}", text="\n".join(lines) + "\n", code=0 if answered else 1)


def _why(lab: Live, node: str, to: str) -> LabAnswer:
    found = explain(lab, node, to)
    seen = WhyShown(
        nodes=list(found.way),
        links=list(found.links),
        faulty_nodes=[name for one in found.findings for name in one.nodes],
        faulty_links=[name for one in found.findings for name in one.links],
    )
    text = f"{' -> '.join(found.way)}\n{found.text(node, to)}"
    return LabAnswer(command=f"why {node} {to}", text=text, code=int(found.are_lost), why=seen)


def _neighbours(lab: Live, node: str) -> LabAnswer:
    mine = daemons.states(lab.path).get(node, {})
    commands = [NEIGHBOURS[name] for name, runs in mine.items() if runs and name in NEIGHBOURS]
    if not commands:
        return _output(lab, node, ["ip", "neighbour"])
    return _output(lab, node, ["vtysh", *(word for command in commands for word in ("-c", command))])

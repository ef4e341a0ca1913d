"""Pings between two nodes as interfaces see them: where they end, firewalls' rules there, and queues that drop them."""

from __future__ import annotations

import shutil
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Final

from dumbbell.counts import count
from dumbbell.labs import pings, trace
from dumbbell.labs.why.case import Case
from dumbbell.labs.why.finding import Finding

PROBES: Final = 3
PAIRS: Final = ((0, 1), (1, 0))
"""`Seen.pair` of both directions: from the case's first node to its second, and back."""
_MOST_RULES: Final = 3
"""Rules of a firewall that are shown of a node."""


def traced(case: Case, size_bytes: int | None = None) -> list[trace.Seen]:
    """Send a ping each way, and return where they came by, at all nodes on both ways."""
    nodes = sorted({*case.taken, case.from_, case.to})
    # An interface that is gone or has another name is a reason of its own.
    places = [
        (node, name)
        for node in nodes
        for name, _ in case.network.interfaces(node)
        if node not in case.facts or name in case.facts[node].interfaces
    ]
    hosts = [case.from_, case.to]
    return trace.pings(
        case.lab.path, places, lambda: pings.ping_all(case.lab.path, hosts, case.wait_s, case.ip, size_bytes)
    )


def ended(case: Case, seen: Sequence[trace.Seen], nodes: Collection[str], links: Collection[str]) -> Iterator[Finding]:
    """The node or the link at which pings end, unless it is one of `nodes` or `links`, which are explained."""
    for (from_, to), pair, way in zip(case.pairs, PAIRS, (case.there, case.back), strict=True):
        if set(case.crossed(way)) & set(links):
            continue
        asked = [echo for echo in seen if echo.is_request and echo.pair == pair]
        answers = [echo for echo in seen if not echo.is_request and echo.pair == pair]
        if not asked:
            if from_ not in nodes:
                yield _dropped(case, from_, f"{from_} sends no pings to {to}")
        elif asked[-1].node != to:
            yield from _last(case, asked[-1], from_, to, nodes, links)
        elif not answers:
            if to not in nodes:
                yield _dropped(case, to, f"{to} takes pings of {from_}, and does not answer")
        elif answers[-1].node != from_:
            yield from _last(case, answers[-1], to, from_, nodes, links)


def _last(
    case: Case, echo: trace.Seen, from_: str, to: str, nodes: Collection[str], links: Collection[str]
) -> Iterator[Finding]:
    if echo.is_sent:
        after = [links for name, _, links in case.network.joined(echo.node, echo.interface)]
        if {link for found in after for link in found} & set(links) or not after:
            return
        steps = (case.there if from_ == case.from_ else case.back).steps
        into = next((after.node for step, after in pairwise(steps) if step.node == echo.node), to)
        if {echo.node, into} & set(nodes):
            return
        text = f"packets from {from_} to {to} leave {echo.node} at {echo.interface}, and do not come to {into}"
        yield Finding(text, (), (echo.node,))
    elif echo.node in nodes:
        return
    elif echo.ttl <= 1:
        begin, name = ("hop limit", "net.ipv6.conf.all.hop_limit") if case.ip == 6 else ("TTL", _TTL)
        mends = (f"{from_} sysctl -qw {name}=64",) if case.facts[from_].sysctl(name, 64) < 64 else ()
        text = f"packets from {from_} to {to} expire at {echo.node}: their {begin} has run out"
        yield Finding(text, mends or _hops(case, from_), (echo.node,))
    else:
        what = f"{echo.node} takes packets from {from_} to {to} at {echo.interface}, and does not send them on"
        yield _dropped(case, echo.node, what)


_TTL: Final = "net.ipv4.ip_default_ttl"


def _hops(case: Case, from_: str) -> tuple[str, ...]:
    """The interfaces of a node whose hop limit is low."""
    names = [f"net.ipv6.conf.{name}.hop_limit" for name, _ in case.network.interfaces(from_)]
    return tuple(f"{from_} sysctl -qw {name}=64" for name in names if case.facts[from_].sysctl(name, 64) < 64)


def _dropped(case: Case, node: str, what: str) -> Finding:
    rules, mends = firewall(case, node)
    return Finding(f"{what}; its firewall has: {rules}" if rules else what, mends, (node,))


def firewalls(case: Case, nodes: Iterable[str], what: str) -> Iterator[Finding]:
    """Rules of firewalls of `nodes` that drop packets, of which pings tell nothing."""
    for node in nodes:
        rules, mends = firewall(case, node)
        if rules:
            yield Finding(f"{node}'s firewall may drop {what}: {rules}", mends, (node,))


def firewall(case: Case, node: str) -> tuple[str, tuple[str, ...]]:
    """The first rules of a node's firewall that drop or refuse packets, and the commands that remove all of them."""
    rules = _rules(case, node)
    return "; ".join(text for text, _ in rules[:_MOST_RULES]), tuple(mend for _, mend in rules)


def _rules(case: Case, node: str) -> list[tuple[str, str]]:
    """The rules of a node's nftables that drop or refuse packets, and the commands that remove them:
    `inet own, forward: icmp type echo-request drop`."""
    if shutil.which("nft") is None:
        return []
    found, table, chain = [], "", ""
    for line in case.lab[node].run(["nft", "-a", "list", "ruleset"]).stdout.splitlines():
        text, _, handle = line.strip().partition(" # handle ")
        if text.startswith("table "):
            table = text.removeprefix("table ").removesuffix(" {")
        elif text.startswith("chain "):
            chain = text.removeprefix("chain ").removesuffix(" {")
        elif {"drop", "reject"} & set(text.replace(";", " ").split()):
            mend = f"nft delete rule {table} {chain} handle {handle}"
            if "policy drop" in text:
                mend = f"nft chain {table} {chain} '{{ policy accept; }}'"
            found.append((f"{table}, {chain}: {text}", f"{node} {mend}"))
    return found


def overflowed(case: Case, links: Collection[str]) -> Iterator[Finding]:
    """Links whose queues drop pings of ours, unless they are among `links`, which are explained."""
    before = {link["name"]: link["dropped_packets"] for link in case.lab.progress()}
    for _ in range(PROBES):
        pings.ping_all(case.lab.path, [case.from_, case.to], case.wait_s, case.ip)
    after = {link["name"]: link["dropped_packets"] for link in case.lab.progress()}
    for name in dict.fromkeys([*case.crossed(case.there), *case.crossed(case.back)]):
        if name not in links and (grown := after.get(name, 0) - before.get(name, 0)) > 0:
            yield Finding(
                f"link {name} dropped {count(grown, 'packet')} while {2 * PROBES} pings were sent", (), (), (name,)
            )

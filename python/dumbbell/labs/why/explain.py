"""All reasons for which two nodes do not reach each other."""

from __future__ import annotations

from dumbbell.frozen import dataclass
from dumbbell.labs import pings
from dumbbell.labs.live import Live
from dumbbell.labs.why import links, nodes, packets, routes, routing, sizes
from dumbbell.labs.why.case import Case
from dumbbell.labs.why.finding import Finding


@dataclass(frozen=True)
class Answer:
    """The reasons found between two nodes."""

    rtt_ns: int | None
    """Round-trip time of a small packet; `None`: there was no answer one way or the other."""
    findings: tuple[Finding, ...]
    """Reasons; with a round-trip time, those for which large packets are lost, or must be smaller."""
    are_lost: bool
    """Some packets are lost."""
    way: tuple[str, ...]
    """Nodes that packets come to, as far as route tables say it."""
    links: tuple[str, ...]
    """Links that they cross."""

    def text(self, from_: str, to: str) -> str:
        """Lines for people: whether `to` answers `from_`, each reason, and below it what mends it."""
        lines = []
        if self.rtt_ns is not None:
            lines.append(f"{to} answers {from_}: {self.rtt_ns / 1e6:.3f} ms")
        elif not self.findings:
            lines.append(f"{to} does not answer {from_}, and no route, state or count of a link says why")
        for finding in self.findings:
            lines += [finding.text, *(f"  mend: {mend}" for mend in finding.mends)]
        return "\n".join(lines) + "\n"


def explain(lab: Live, from_: str, to: str, ip: int = 4) -> Answer:
    """Look for every reason for which packets between two nodes are lost.

    Args:
        lab: the lab, which is up.
        from_: a host or router.
        to: another one.
        ip: the version of IP, 4 or 6.

    Raises:
        InputError: there is no such node.
        RunFailed: the lab has ended, or a node has no address of this version.
    """
    for name in (from_, to):
        lab.network.check_place(name)
    case = Case(lab, from_, to, ip)
    rtt_ns = _answered(case)
    way, crossed = tuple(step.node for step in case.there.steps), tuple(case.crossed(case.there))
    if rtt_ns is None:
        return Answer(None, tuple(dict.fromkeys(_reasons(case))), True, way, crossed)
    found = [*sizes.large(case), *sizes.large(Case(lab, to, from_, ip))]
    # Which node with the address answers first may be another one the next time.
    found += [(one, False) for one in nodes.doubled(case)]
    named = {node for one, _ in found for node in one.nodes}
    passed = [node for node in case.taken if node not in named]
    found += [(one, False) for one in packets.firewalls(case, passed, "some packets, though not these pings")]
    return Answer(rtt_ns, tuple(one for one, _ in found), any(is_lost for _, is_lost in found), way, crossed)


def _answered(case: Case) -> int | None:
    """The round-trip time if both nodes answer; a lost packet or two are no reason to look further."""
    for _ in range(packets.PROBES):
        found = pings.ping_all(case.lab.path, [case.from_, case.to], case.wait_s, case.ip).rtt_ns
        if found[0][1] is not None and found[1][0] is not None:
            return found[0][1]
    return None


def _reasons(case: Case) -> list[Finding]:
    if not case.cables:
        what = f"no links lead from {case.from_} to {case.to}"
        return [Finding(f"{what}: they are in parts of the network that nothing joins")]
    found = [
        *links.down(case),
        *links.impaired(case),
        *links.ports(case),
        *nodes.settings(case),
        *nodes.addressed(case),
        *nodes.tried(case),
        *nodes.sources(case),
        *nodes.doubled(case),
        *nodes.neighbours(case),
        *routing.dead(case),
    ]
    explained = {node for one in found for node in one.nodes}
    lacking = list(routes.routes(case, explained))
    if not any(one.nodes or one.links for one in found):
        # What daemons do not know may be the reason; what they know late, too.
        found += routing.sessions(case)
    if lacking or not found:
        found += routing.typed(case)
    found += lacking
    seen = packets.traced(case)
    explained = {node for one in found for node in one.nodes}
    lossy = {link for one in found for link in one.links}
    found += packets.ended(case, seen, explained, lossy)
    explained |= {node for one in found for node in one.nodes}
    if found:
        rest = [node for node in case.nodes if node not in explained and case.is_needed(node)]
        found += packets.firewalls(case, rest, "packets, too")
    return [*found, *packets.overflowed(case, lossy)]

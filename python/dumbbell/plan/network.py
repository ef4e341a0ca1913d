"""The facts that follow from a plan's network: the links that packets take, the times that this takes, and the
behaviour of links over time.

The crate `plan` computes them; this module gives them names.
"""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from dumbbell.core import core
from dumbbell.plan import wire
from dumbbell.plan.types import Emulate, Flow, Link, Plan, Variation

History = Sequence[tuple[int, Link]]
"""Since when (ns, the first from 0), and what the link is from then on."""


class Network:
    """The facts of a plan.

    Attributes:
        paths: the ways of the plan's flows, each once, in the flows' order.
        facts: link -> what it does over time.
        histories: link -> what it is over time: events change it.
    """

    def __init__(self, plan: Plan) -> None:
        """Raises `RunFailed` if the core is missing."""
        paths, path_of, links = core.network(wire.text(plan))
        self._links = plan.links
        self.paths: list[core.Path] = paths
        self._path_of = {flow.id: paths[place] for flow, place in zip(plan.flows, path_of, strict=True)}
        self.facts: dict[str, core.LinkFacts] = {link.name: link for link in links}
        states: dict[str, list[tuple[int, Link]]] = {link.name: [(0, link)] for link in plan.links}
        for event in plan.events:
            states[event.link.name].append((event.at_ns, event.link))
        self.histories: dict[str, History] = {name: tuple(found) for name, found in states.items()}

    def path(self, flow: Flow) -> core.Path:
        """A flow's way, there and back. Flows of one way have the same object."""
        return self._path_of[flow.id]

    def there(self, flow: Flow) -> list[Link]:
        """The links that a flow's data take."""
        return [self._links[index] for index in self.path(flow).there]

    def back(self, flow: Flow) -> list[Link]:
        """The links that a flow's acknowledgements take."""
        return [self._links[index] for index in self.path(flow).back]

    def base_rtt_ns(self, flow: Flow) -> int:
        """Propagation on a flow's path at the start, there and back, in ns; without serialisation and queues."""
        return self.path(flow).base_rtts_ns[0][1]

    def least_rtt_ns(self, flow: Flow) -> int:
        """The least RTT that a flow's path allows at any time, in ns; without serialisation and queues."""
        return self.path(flow).least_rtt_ns

    def ttl_ends(self, flow: Flow) -> str | None:
        """The router that drops a flow's packets, or the answers to them, as their TTL runs out; none if it lasts."""
        return self.path(flow).ttl_ends_there or self.path(flow).ttl_ends_back

    @property
    def base_rtts_ns(self) -> list[int]:
        """The base RTT of each path at the start, in ns."""
        return [path.base_rtts_ns[0][1] for path in self.paths]

    @property
    def transparent(self) -> set[str]:
        """The links on which nothing can happen to a packet at any time."""
        return {name for name, link in self.facts.items() if link.is_transparent}


def network(plan: Plan) -> Network:
    """The network of a plan; computed once for each plan that is in use."""
    known = _KNOWN.get(id(plan))
    if known is not None and known[0]() is plan:
        return known[1]
    return _keep(plan, Network(plan))


def with_emulate(plan: Plan, emulate: Emulate) -> Plan:
    """The plan with other settings of emulation. Its network is the same, and known if it was."""
    changed = replace(plan, emulate=emulate)
    _keep(changed, network(plan))
    return changed


def _keep(plan: Plan, network: Network) -> Network:
    key = id(plan)
    _KNOWN[key] = weakref.ref(plan, lambda _: _KNOWN.pop(key, None)), network
    return network


_KNOWN: dict[int, tuple[weakref.ref[Plan], Network]] = {}
"""The key is the plan's identity: a plan holds a mapping, and has no hash."""


def peak_bps(link: Link) -> int | None:
    """The largest rate that a link has by itself, in bit/s; none without a limit.

    The rate of a trace is the one of its best 100 ms, or of its period, if that is shorter.
    """
    return link.rate_bps if link.variation is None else _peak_bps(link.rate_bps, link.variation)


@lru_cache(maxsize=64)
def _peak_bps(mean_bps: int | None, variation: Variation) -> int | None:
    """The peak of a rate that changes. Events repeat their link's: it is worked out once."""
    link = Link(
        name="",
        from_="",
        to="",
        rate_bps=mean_bps,
        variation=variation,
        overhead_bytes=0,
        buffer="unlimited",
        delay_ns=0,
    )
    return core.peak_bps(wire.text(link))

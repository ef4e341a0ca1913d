"""Facts for reading the curves: limited links, the ways of data across them, base RTT, BDP, buffer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final

from dumbbell.errors import Damaged
from dumbbell.frozen import dataclass
from dumbbell.plan.network import Network, network
from dumbbell.plan.types import BufferBytes, DropTailQueue, Link, Plan
from dumbbell.records import Run
from dumbbell.report import words
from dumbbell.statistics.frames import BOTTLENECK

MOST_LINKS: Final = 24
"""The number of links whose queues are drawn."""


@dataclass(frozen=True)
class Way:
    """The limited links that data of some flows cross."""

    links: tuple[Link, ...]
    """The links from the sender on, as they are at the start."""
    base_rtts_s: tuple[float, ...]
    """Different base RTTs of these flows at any time, ascending."""
    is_constant: bool
    """True if all of the links have the same rate all the time, and are never down."""

    @property
    def narrowest(self) -> Link:
        """The link with the least rate at the start, or the least mean if rates vary."""
        return min(self.links, key=rate_bps)

    @property
    def bdp_bytes(self) -> float | None:
        """Bandwidth-delay product: the least rate x the largest base RTT."""
        return rate_bps(self.narrowest) * self.base_rtts_s[-1] / 8 if self.base_rtts_s else None


@dataclass(frozen=True)
class Facts:
    """Constants of a run that the plots show as lines."""

    limited_links: tuple[Link, ...]
    """Links with a rate: first the link called `bottleneck`, then those that were so for the longest time."""
    base_rtts_s: tuple[float, ...]
    """Different base RTTs of the flows at any time, ascending."""
    ways: tuple[Way, ...]
    """The different ways of data across limited links. With one limited cable there is one, of its first link."""
    has_several: bool
    """True if data cross several limited cables. The two directions of a cable count as one."""
    network: Network
    """The facts that follow from the plan's network."""

    @property
    def bottleneck(self) -> Link | None:
        """The first of the limited links; `None` if no link has a rate."""
        return self.limited_links[0] if self.limited_links else None

    @property
    def is_constant(self) -> bool:
        """True if all ways have the same rate all the time."""
        return all(way.is_constant for way in self.ways)

    @property
    def widest(self) -> Way | None:
        """The way with the largest capacity; `None` if no link has a rate."""
        return max(self.ways, key=lambda way: rate_bps(way.narrowest), default=None)

    @property
    def bdps_bytes(self) -> tuple[float, ...]:
        """The different bandwidth-delay products of the ways, ascending."""
        return tuple(sorted({bdp for way in self.ways if (bdp := way.bdp_bytes)}))

    @property
    def crossed(self) -> tuple[Link, ...]:
        """The limited links of all ways, in the order of `limited_links`."""
        names = {link.name for way in self.ways for link in way.links}
        return tuple(link for link in self.limited_links if link.name in names)


def facts(run: Run) -> Facts:
    """Gather them from the plan, and the order of links from the summary where there is one."""
    return of_plan(run.plan, {link["name"]: link for link in summary_list(run, "links")})


def of_plan(plan: Plan, measured: Mapping[str, Any]) -> Facts:
    """The same of a plan. `measured`: figures of links by name, where there are any."""

    def busy(link: Link) -> tuple[bool, float, float]:
        known = measured.get(link.name, {})
        return link.name != BOTTLENECK, -(known.get("bottleneck_share") or 0.0), -(known.get("utilisation") or 0.0)

    found = network(plan)
    limited = tuple(sorted((link for link in plan.links if link.rate_bps is not None), key=busy))
    rtts: set[int] = set()
    across: dict[tuple[int, ...], set[int]] = {}
    for path in found.paths:
        mine = {rtt for _, rtt in path.base_rtts_ns}
        rtts |= mine
        across.setdefault(tuple(at for at in path.there if plan.links[at].rate_bps is not None), set()).update(mine)
    has_several = len({_cable(plan.links[at]) for way in across for at in way}) > 1
    if has_several:
        ways = tuple(_way(found, [plan.links[at] for at in way], mine) for way, mine in across.items() if way)
    else:
        ways = (_way(found, limited[:1], rtts),) if limited else ()
    return Facts(limited, _seconds(rtts), ways, has_several, found)


def _cable(link: Link) -> frozenset[tuple[str, str | None]]:
    """Returns the ends of a cable, which its two directions have in common."""
    return frozenset(((link.from_, link.from_interface), (link.to, link.to_interface)))


def _way(network: Network, links: Sequence[Link], rtts_ns: Iterable[int]) -> Way:
    constant = all(
        network.facts[link.name].is_steady and all(state.up for _, state in network.histories[link.name])
        for link in links
    )
    return Way(tuple(links), _seconds(rtts_ns), constant)


def _seconds(rtts_ns: Iterable[int]) -> tuple[float, ...]:
    return tuple(rtt / 1e9 for rtt in sorted(rtts_ns))


def rate_bps(link: Link) -> int:
    """The rate of a limited link at the start; its mean if it varies."""
    assert link.rate_bps is not None, "a limited link"
    return link.rate_bps


def buffer_bytes(link: Link) -> float | None:
    """Room in the queue of `link`, in bytes; `None` if it is not bounded in bytes."""
    return float(link.buffer.bytes) if isinstance(link.buffer, BufferBytes) else None


def bytes_tell_delay(known: Facts, link: Link) -> bool:
    """True if the bytes in a link's queue give the waiting time of packets: a FIFO that drains at a constant rate."""
    history = known.network.histories[link.name]
    plain = all(isinstance(state.queue, DropTailQueue) and state.slots is None for _, state in history)
    return plain and known.network.facts[link.name].is_steady


def above_capacity(run: Run) -> str:
    """A sentence on goodputs that add up to more than a link's rate, as they are of different times; or empty."""
    goodputs = {flow["id"]: flow.get("goodput_bps") or 0.0 for flow in summary_list(run, "flows")}
    rates = [link.rate_bps for link in run.plan.links if link.rate_bps is not None]
    if not rates or sum(goodputs.values()) <= min(rates):
        return ""
    known, sums = network(run.plan), dict[str, float]()
    for flow in run.plan.flows:
        for link in known.there(flow):
            sums[link.name] = sums.get(link.name, 0.0) + goodputs.get(flow.id, 0.0)
    for link in run.plan.links:
        total = sums.get(link.name, 0.0)
        if link.rate_bps is not None and total > link.rate_bps and known.facts[link.name].is_steady:
            return (
                f"The goodputs across {link.name} add up to {words.measured_rate(total)}, more than its rate of "
                f"{words.rate(link.rate_bps)}: each is a mean over the time in which its own flow was active."
            )
    return ""


def has_summary(run: Run) -> bool:
    """True if the run got as far as a summary."""
    return (run.directory / "summary.json").exists()


def summary_list(run: Run, key: str) -> Sequence[Mapping[str, Any]]:
    """`summary[key]`, or nothing if the run failed before it had a summary."""
    return list(summary_value(run, key)) if has_summary(run) else []


def summary_value(run: Run, key: str) -> Any:
    """`summary[key]`; a summary without it is an error, since a report must not leave out what it should say."""
    try:
        return run.summary[key]
    except KeyError:
        raise Damaged(
            f"cannot report {run.directory}", f"its summary.json lacks {key!r}", "repeat the run with this version"
        ) from None

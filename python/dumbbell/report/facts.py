"""Facts for reading the curves: the bottleneck, base RTT, BDP, buffer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from dumbbell.errors import DumbbellError
from dumbbell.plan.network import Network, network
from dumbbell.plan.types import BufferBytes, DropTailQueue, Link
from dumbbell.records import Run

MOST_LINKS: Final = 24
"""The number of links whose queues are drawn."""


@dataclass(frozen=True)
class Facts:
    """Constants of a run that the plots show as lines."""

    limited_links: tuple[Link, ...]
    """Links with a rate, the bottleneck first, then by utilisation."""
    base_rtts_s: tuple[float, ...]
    """Different base RTTs of the flows at any time, ascending."""
    network: Network
    """The facts that follow from the plan's network."""

    @property
    def bottleneck(self) -> Link | None:
        """The link called `bottleneck`, or else the most utilised one; `None` if no link has a rate."""
        return self.limited_links[0] if self.limited_links else None

    @property
    def is_constant(self) -> bool:
        """True if the bottleneck has the same rate all the time, and is never down."""
        if self.bottleneck is None:
            return True
        history = self.network.histories[self.bottleneck.name]
        return self.network.facts[self.bottleneck.name].is_steady and all(link.up for _, link in history)

    @property
    def bottleneck_bps(self) -> int | None:
        """The bottleneck's rate at the start; its mean if it varies."""
        return None if self.bottleneck is None else self.bottleneck.rate_bps

    @property
    def bdp_bytes(self) -> float | None:
        """Bandwidth-delay product: rate of the bottleneck, its mean if it varies, x largest base RTT."""
        if self.bottleneck_bps is None or not self.base_rtts_s:
            return None
        return self.bottleneck_bps * self.base_rtts_s[-1] / 8


def facts(run: Run) -> Facts:
    """Gather them from the plan, and the order of links from the summary where there is one."""
    measured = {link["name"]: link for link in summary_list(run, "links")}
    limited = [link for link in run.plan.links if link.rate_bps is not None]

    def busy(link: Link) -> tuple[bool, float]:
        used = measured.get(link.name, {}).get("utilisation") or 0.0
        return link.name != "bottleneck", -used

    found = network(run.plan)
    rtts = {rtt for path in found.paths.values() for _, rtt in path.base_rtts_ns}
    return Facts(tuple(sorted(limited, key=busy)), tuple(rtt / 1e9 for rtt in sorted(rtts)), found)


def buffer_bytes(link: Link) -> float | None:
    """Room in the queue of `link`, in bytes; `None` if it is not bounded in bytes."""
    return float(link.buffer.bytes) if isinstance(link.buffer, BufferBytes) else None


def bytes_tell_delay(known: Facts, link: Link) -> bool:
    """True if the bytes in a link's queue give the waiting time of packets: a FIFO that drains at a constant rate."""
    history = known.network.histories[link.name]
    plain = all(isinstance(state.queue, DropTailQueue) and state.slots is None for _, state in history)
    return plain and known.network.facts[link.name].is_steady


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
        raise DumbbellError(
            f"cannot report {run.directory}", f"its summary.json lacks {key!r}", "repeat the run with this version"
        ) from None

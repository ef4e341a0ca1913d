"""The network of a scenario: hosts with their addresses, switches, and links with their changes over time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from dumbbell.scenario.model import Scenario
from dumbbell.scenario.resolve.bottleneck import NAMES, Direction, largest_rtt, rtts, smallest_rtt
from dumbbell.scenario.resolve.links import BOTTLENECK, resolve_links
from dumbbell.scenario.source import Finding
from dumbbell.scenario.topology.dumbbell import Dumbbell
from dumbbell.scenario.topology.path import Path
from dumbbell.units import Time


@dataclass(frozen=True)
class ShapedLink:
    """A link that does something to packets."""

    name: str
    from_: str
    to: str
    states: tuple[tuple[Time, Direction], ...]
    """The settled link at time 0, and after each change with its time."""

    @property
    def first(self) -> Direction:
        """The link at the start of the run."""
        return self.states[0][1]


@dataclass(frozen=True)
class AccessLink:
    """A link between a host and its switch: a delay, and no limit."""

    name: str
    from_: str
    to: str
    delay: int
    """Nanoseconds."""


@dataclass(frozen=True)
class Network:
    """The network that carries the traffic."""

    hosts: Mapping[str, str]
    """Addresses by name, senders first."""
    switches: tuple[str, ...]
    shaped: tuple[ShapedLink, ...]
    access: tuple[AccessLink, ...]
    largest_rtt: Time
    """The largest base RTT of any pair, by which a BDP is reckoned."""
    mtu: int
    """MTU of all hosts and links, in bytes."""


def resolve_network(scenario: Scenario, start: Mapping[str, Direction], wrong: list[Finding]) -> Network:
    """The network; what is wrong with it is added to `wrong`, and then it is not complete.

    Args:
        scenario: well-formed.
        start: the bottleneck's directions as written, by name.
        wrong: added to.
    """
    topology, states = scenario.topology, {name: [(Time(0), link)] for name, link in start.items()}
    if isinstance(topology, Dumbbell) and len(topology.rtt) not in (1, topology.pairs):
        one_each = f"one value, or one for each of the {topology.pairs} pairs"
        what, hint = f"{len(topology.rtt)} values", 'write rtt = "30 ms" for all pairs'
        wrong.append(Finding(("topology", "rtt"), what, one_each, hint))
    else:
        wrong += _delays(topology, *start.values())
        states = resolve_links(scenario, start, wrong)
        if scenario.record.sample_interval > scenario.duration:
            at_most = f"at most {scenario.duration}"
            wrong.append(Finding(("record", "sample_interval"), "longer than the run", at_most))
    return Network(
        _addresses(topology.hosts),
        ("left", "right") if isinstance(topology, Dumbbell) else (),
        tuple(ShapedLink(name, *ends, tuple(states[name])) for name, ends in _ends(topology)),
        tuple(_access(topology, *start.values())),
        largest_rtt(topology),
        topology.mtu,
    )


def _delays(topology: Dumbbell | Path, forward: Direction, backward: Direction) -> Iterator[Finding]:
    rtt = smallest_rtt(topology)
    total = Time(forward.delay + backward.delay)
    if total > rtt:
        why = f"at most the smallest base RTT, {rtt}, for both directions together (they take {total})"
        yield Finding((*BOTTLENECK, "delay"), "too long", why, "lower the delay or raise topology.rtt")
    elif not isinstance(topology, Dumbbell) and total < rtt:
        why = f"delays that make up the base RTT, {rtt} (both directions take {total})"
        hint = "leave out one of the delays: it takes what remains"
        yield Finding((*BOTTLENECK, "reverse", "delay"), "too short", why, hint)


def _addresses(names: Sequence[str]) -> dict[str, str]:
    """Senders in 10.0.0.0/24, receivers in 10.0.1.0/24, numbered as their names are."""
    half = len(names) // 2
    return {name: f"10.0.{i // half}.{i % half + 1}" for i, name in enumerate(names)}


def _ends(topology: Dumbbell | Path) -> list[tuple[str, tuple[str, str]]]:
    left, right = ("left", "right") if isinstance(topology, Dumbbell) else ("h1", "h2")
    return list(zip(NAMES, ((left, right), (right, left)), strict=True))


def _access(topology: Dumbbell | Path, forward: Direction, reverse: Direction) -> Iterator[AccessLink]:
    """The receiver's link and the way back share what the bottleneck leaves of the pair's RTT."""
    if isinstance(topology, Path):
        return
    for i, pair_rtt in enumerate(rtts(topology), 1):
        rest = pair_rtt - forward.delay - reverse.delay
        for from_, to, delay in (
            (f"s{i}", "left", 0),
            ("left", f"s{i}", 0),
            ("right", f"r{i}", rest // 2),
            (f"r{i}", "right", rest - rest // 2),
        ):
            yield AccessLink(f"{from_}-{to}", from_, to, delay)

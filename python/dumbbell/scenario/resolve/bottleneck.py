"""The networks with one bottleneck: dumbbell and path."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dumbbell.scenario.links.delays import least_delay
from dumbbell.scenario.resolve.direction import Direction, WrittenLink, both
from dumbbell.scenario.resolve.outline import AccessLink, NetworkNode, Outline, Way
from dumbbell.scenario.source import Finding, Key
from dumbbell.scenario.topology.dumbbell import Dumbbell
from dumbbell.scenario.topology.path import Path
from dumbbell.units import Time

NAMES = ("bottleneck", "bottleneck-reverse")
"""Names of the links, forward and reverse."""

BOTTLENECK: Key = ("topology", "bottleneck")


def outline(topology: Dumbbell | Path, duration: Time, wrong: list[Finding]) -> Outline | None:
    """The bottleneck with the hosts around it; none if `rtt` has too few or too many values: then `wrong` has that."""
    if isinstance(topology, Dumbbell) and len(topology.rtt) not in (1, topology.pairs):
        one_each = f"one value, or one for each of the {topology.pairs} pairs"
        what, hint = f"{len(topology.rtt)} values", 'write rtt = "30 ms" for all pairs'
        wrong.append(Finding(("topology", "rtt"), what, one_each, hint))
        return None
    forward, reverse = links = _bottleneck(topology, duration)
    largest, half = max(rtts(topology)), len(topology.hosts) // 2
    senders, receivers = set(topology.hosts[:half]), set(topology.hosts[half:])
    there, back = Way(NAMES[:1], NAMES[1:], largest), Way(NAMES[1:], NAMES[:1], largest)

    def way(from_: str, to: str) -> Way | None:
        if from_ in senders and to in receivers:
            return there
        return back if from_ in receivers and to in senders else None

    switches = ("left", "right") if isinstance(topology, Dumbbell) else ()
    return Outline(
        (*_hosts(topology.hosts), *(NetworkNode(name, "switch") for name in switches)),
        links,
        way,
        # Every host is prepared for the longest way.
        dict.fromkeys(topology.hosts, (there,)),
        tuple(_access(topology, forward.start, reverse.start)),
    )


def check(topology: Dumbbell | Path, links: Sequence[WrittenLink]) -> Iterator[Finding]:
    """A base RTT and delays that do not go together."""
    rtt = min(rtts(topology))
    total = Time(sum(link.start.delay for link in links))
    if total > rtt:
        why = f"at most the smallest base RTT, {rtt}, for both directions together (they take {total})"
        yield Finding((*BOTTLENECK, "delay"), "too long", why, "lower the delay or raise topology.rtt")
    elif isinstance(topology, Path) and total < rtt:
        why = f"delays that make up the base RTT, {rtt} (both directions take {total})"
        hint = "leave out one of the delays: it takes what remains"
        yield Finding((*BOTTLENECK, "reverse", "delay"), "too short", why, hint)


def rtts(topology: Dumbbell | Path) -> list[Time]:
    """Base RTT of each pair."""
    if isinstance(topology, Path):
        return [topology.rtt]
    return topology.rtt * topology.pairs if len(topology.rtt) == 1 else topology.rtt


def _hosts(names: Sequence[str]) -> Iterator[NetworkNode]:
    """Senders in 10.0.0.0/24, receivers in 10.0.1.0/24, numbered as their names are."""
    half = len(names) // 2
    for i, name in enumerate(names):
        yield NetworkNode(name, "host", f"10.0.{i // half}.{i % half + 1}")


def _bottleneck(topology: Dumbbell | Path, duration: Time) -> tuple[WrittenLink, WrittenLink]:
    given = topology.bottleneck.given(), topology.bottleneck.reverse.given()
    directions = both(*given, duration, topology.mtu, _delays(topology))
    left, right = ("left", "right") if isinstance(topology, Dumbbell) else ("h1", "h2")
    rtt = max(rtts(topology))
    return (
        WrittenLink(NAMES[0], left, right, BOTTLENECK, given[0], directions[0], rtt),
        WrittenLink(NAMES[1], right, left, (*BOTTLENECK, "reverse"), given[1], directions[1], rtt),
    )


def _delays(topology: Dumbbell | Path) -> tuple[Time, Time]:
    given = (topology.bottleneck.delay, topology.bottleneck.reverse.delay)
    forward, reverse = (None if delay is None else least_delay(delay) for delay in given)
    rtt = min(rtts(topology))
    if forward is None and reverse is None:
        return Time(rtt // 2), Time(rtt - rtt // 2)
    if forward is None and reverse is not None:
        return Time(max(rtt - reverse, 0)), reverse
    if forward is not None and reverse is None:
        rest = max(rtt - forward, 0)
        # Nothing else can take the rest on a path.
        return forward, Time(rest) if isinstance(topology, Path) or rest < forward else forward
    assert forward is not None
    assert reverse is not None
    return forward, reverse


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

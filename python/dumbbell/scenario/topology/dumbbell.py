"""Networks with one bottleneck: a dumbbell's pairs of hosts around it, or a path's two hosts at its ends."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Annotated, Final, Literal

from pydantic import AfterValidator, BeforeValidator, Field

from dumbbell.scenario.links.delays import least_delay
from dumbbell.scenario.links.link import Bottleneck
from dumbbell.scenario.source import Finding, Key
from dumbbell.scenario.topology.cables import CableKeys
from dumbbell.scenario.topology.drawing import AnyTopology, Drawing, Pencil
from dumbbell.units import QuantityError, Time

BOTTLENECK: Final[Key] = ("topology", "bottleneck")


def _some(times: list[Time]) -> list[Time]:
    if not times:
        raise QuantityError("no values", "one value, or one for each of the pairs", 'write rtt = "30 ms" for all pairs')
    return times


PairTimes = Annotated[
    list[Time],
    BeforeValidator(lambda v: v if isinstance(v, list) else [v], json_schema_input_type=Time | list[Time]),
    AfterValidator(_some),
]


class Dumbbell(AnyTopology):
    """Senders s1..sN, a switch, the bottleneck, a switch, receivers r1..rN."""

    kind: Literal["dumbbell"] = Field(
        description="Hosts s1..sN, switch left, the bottleneck, switch right, hosts r1..rN."
    )
    pairs: int = Field(default=1, ge=1, le=250, strict=True, description="Hosts on each side: s1..sN, r1..rN.")
    bottleneck: Bottleneck = Field(description="The link that all pairs share.")
    rtt: PairTimes = Field(description="Base RTT without serialisation: one for all pairs, or one for each.")

    def draw(self) -> Drawing:
        """The bottleneck first. A receiver's link and the way back share what it leaves of the pair's RTT."""
        pencil = Pencil()
        senders, receivers = ([pencil.host(f"{side}{i}") for i in range(1, self.pairs + 1)] for side in "sr")
        left, right = pencil.switch("left"), pencil.switch("right")
        rtts, wrong = self.rtt * self.pairs if len(self.rtt) == 1 else self.rtt, list[Finding]()
        if len(rtts) != self.pairs:
            one_each = f"one value, or one for each of the {self.pairs} pairs"
            what, hint = f"{len(rtts)} values", 'write rtt = "30 ms" for all pairs'
            wrong, rtts = [Finding(("topology", "rtt"), what, one_each, hint)], self.rtt[:1] * self.pairs
        there, back = _delays(self.bottleneck, min(rtts), takes_all=False)
        wrong = wrong or list(_too_long(Time(there + back), min(rtts)))
        pencil.cable(left, right, self.bottleneck, "bottleneck", "bottleneck", (there, back))
        plain = CableKeys()
        for sender, receiver, rtt in zip(senders, receivers, rtts, strict=True):
            rest = max(rtt - there - back, 0)
            pencil.cable(sender, left, plain, "rtt")
            pencil.cable(right, receiver, plain, "rtt", delays=(Time(rest // 2), Time(rest - rest // 2)))
        return _addressed(pencil, senders, receivers, max(rtts), wrong)


class Path(AnyTopology):
    """Two hosts, h1 and h2, and the bottleneck between them."""

    kind: Literal["path"] = Field(description="h1, the bottleneck, h2.")
    bottleneck: Bottleneck = Field(description="The link from h1 to h2, and back.")
    rtt: Time = Field(description="Base RTT without serialisation.")

    def draw(self) -> Drawing:
        """The bottleneck, whose delays make up the RTT."""
        pencil = Pencil()
        ends = pencil.host("h1"), pencil.host("h2")
        there, back = _delays(self.bottleneck, self.rtt, takes_all=True)
        wrong, total = list(_too_long(Time(there + back), self.rtt)), Time(there + back)
        if total < self.rtt:
            why = f"delays that make up the base RTT, {self.rtt} (both directions take {total})"
            hint = "leave out one of the delays: it takes what remains"
            wrong.append(Finding((*BOTTLENECK, "reverse", "delay"), "too short", why, hint))
        pencil.cable(*ends, self.bottleneck, "bottleneck", "bottleneck", (there, back))
        return _addressed(pencil, ends[:1], ends[1:], self.rtt, wrong)


def _delays(bottleneck: Bottleneck, rtt: Time, takes_all: bool) -> tuple[Time, Time]:
    """The bottleneck's delays there and back. `takes_all`: nothing else can take the rest of the RTT."""
    given = bottleneck.delay, bottleneck.reverse.delay
    there, back = (None if delay is None else least_delay(delay) for delay in given)
    if there is None:
        there = Time(rtt // 2) if back is None else Time(max(rtt - back, 0))
        return there, Time(rtt - there) if back is None else back
    if back is None:
        rest = Time(max(rtt - there, 0))
        back = rest if takes_all or rest < there else there
    return there, back


def _too_long(total: Time, rtt: Time) -> Iterator[Finding]:
    if total > rtt:
        why = f"at most the smallest base RTT, {rtt}, for both directions together (they take {total})"
        yield Finding((*BOTTLENECK, "delay"), "too long", why, "lower the delay or raise topology.rtt")


def _addressed(
    pencil: Pencil, senders: Sequence[str], receivers: Sequence[str], rtt: Time, wrong: Sequence[Finding]
) -> Drawing:
    """Senders in 10.0.0.0/24, receivers in 10.0.1.0/24, numbered as their names are."""
    sides = enumerate((senders, receivers))
    addresses = {name: f"10.0.{side}.{i}" for side, names in sides for i, name in enumerate(names, 1)}
    return replace(pencil.done(), addresses=addresses, rtt=rtt, wrong=wrong)

"""UDP rates that are a share of the bottleneck's."""

from __future__ import annotations

from dumbbell.scenario.bottleneck import NAMES, directions
from dumbbell.scenario.events import timeline
from dumbbell.scenario.groups import Connection
from dumbbell.scenario.model import Scenario
from dumbbell.units.quantities import Percent, QuantityError, Rate

_HINT = 'write a rate, such as rate = "10 Mbit/s"'


def rate_of(scenario: Scenario, one: Connection, given: Rate | Percent) -> Rate:
    """What a UDP flow sends at. Raises `QuantityError` for a share of a rate that is not constant."""
    if isinstance(given, Rate):
        return given
    name = _bottleneck(scenario, one)
    if name is None:
        wrong = f"no bottleneck lies between {one.from_} and {one.to}"
        raise QuantityError(wrong, "a rate, or flows from one side to the other", _HINT)
    rate = dict(zip(NAMES, directions(scenario.topology, scenario.duration), strict=True))[name].rate
    changes = (change for change in timeline(scenario.events, scenario.duration) if change.link == name)
    if not isinstance(rate, Rate) or any("rate" in change.keys.given() for change in changes):
        raise QuantityError(f"a share of {name}, which has no constant rate", "a share of a constant rate", _HINT)
    return Rate(max(int(rate * given.percent / 100), 1))


def _bottleneck(scenario: Scenario, one: Connection) -> str | None:
    hosts = scenario.topology.hosts
    senders, receivers = hosts[: len(hosts) // 2], hosts[len(hosts) // 2 :]
    if one.from_ in senders and one.to in receivers:
        return NAMES[0]
    return NAMES[1] if one.from_ in receivers and one.to in senders else None

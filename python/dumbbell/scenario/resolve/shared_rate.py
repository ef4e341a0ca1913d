"""Rates of flows that are a share of the bottleneck's."""

from __future__ import annotations

from dumbbell.scenario.model import Scenario
from dumbbell.scenario.resolve.outline import Outline
from dumbbell.scenario.source import Finding
from dumbbell.units import Percent, QuantityError, Rate

_HINT = 'write a rate, such as rate = "10 Mbit/s"'


class Shares:
    """Looks up the rates of flows that ask for one."""

    def __init__(self, scenario: Scenario, network: Outline | None) -> None:
        """`network`: that carries the flows; none if it is wrong, and then shares are not looked up."""
        self._network = network
        links = network.links if network else ()
        self._limits = {link.name: link.start.nominal for link in links}
        self._rates = {link.name: link.start.rate for link in links}
        for event in scenario.events:
            if "rate" in event.given() and event.at < scenario.duration:
                self._rates[event.link] = None
        self._wrong: dict[int, Finding] = {}

    @property
    def wrong(self) -> list[Finding]:
        """Entries whose share is of no constant rate."""
        return list(self._wrong.values())

    def rate(self, entry: int, asked: Rate | Percent, from_: str, to: str) -> Rate | None:
        """The rate of a connection between two hosts; `None` if its share is wrong."""
        try:
            return asked if isinstance(asked, Rate) else self._share(from_, to, asked)
        except QuantityError as error:
            self._wrong.setdefault(entry, Finding(("flows", entry, "rate"), error.wrong, error.expected, error.hint))
            return None

    def _share(self, from_: str, to: str, given: Percent) -> Rate | None:
        if self._network is None:
            return None
        name = self._bottleneck(from_, to)
        if name is None:
            wrong = f"no bottleneck lies between {from_} and {to}"
            raise QuantityError(wrong, "a rate, or flows from one side to the other", _HINT)
        rate = self._rates[name]
        if not isinstance(rate, Rate):
            raise QuantityError(f"a share of {name}, which has no constant rate", "a share of a constant rate", _HINT)
        return Rate(max(int(rate * given.percent / 100), 1))

    def _bottleneck(self, from_: str, to: str) -> str | None:
        """The slowest link on the way, the first among equals; none if none has a rate."""
        way = self._network.ways.get((from_, to)) if self._network else None
        limited = [name for name in way.there if self._limits[name] is not None] if way else []
        return min(limited, key=lambda name: self._limits[name] or 0, default=None)

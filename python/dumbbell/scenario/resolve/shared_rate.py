"""UDP rates that are a share of the bottleneck's."""

from __future__ import annotations

from collections.abc import Mapping

from dumbbell.scenario.model import Scenario
from dumbbell.scenario.resolve.bottleneck import NAMES, Direction
from dumbbell.scenario.source import Finding
from dumbbell.scenario.traffic.flows import UdpFlow
from dumbbell.units import Percent, QuantityError, Rate

_HINT = 'write a rate, such as rate = "10 Mbit/s"'


class Shares:
    """Looks up what UDP flows send at."""

    def __init__(self, scenario: Scenario, start: Mapping[str, Direction]) -> None:
        """`start`: the bottleneck's directions, by name."""
        hosts = scenario.topology.hosts
        self._senders, self._receivers = set(hosts[: len(hosts) // 2]), set(hosts[len(hosts) // 2 :])
        self._rates = {name: link.rate for name, link in start.items()}
        for event in scenario.events:
            if "rate" in event.given() and event.at < scenario.duration:
                self._rates[event.link] = None
        self._wrong: dict[int, Finding] = {}

    @property
    def wrong(self) -> list[Finding]:
        """Entries whose share is of no constant rate."""
        return list(self._wrong.values())

    def rate(self, entry: int, flow: UdpFlow, from_: str, to: str) -> Rate | None:
        """The rate of a connection between two hosts; `None` if its share is wrong."""
        try:
            return flow.rate if isinstance(flow.rate, Rate) else self._share(from_, to, flow.rate)
        except QuantityError as error:
            self._wrong.setdefault(entry, Finding(("flows", entry, "rate"), error.wrong, error.expected, error.hint))
            return None

    def _share(self, from_: str, to: str, given: Percent) -> Rate:
        name = self._bottleneck(from_, to)
        if name is None:
            wrong = f"no bottleneck lies between {from_} and {to}"
            raise QuantityError(wrong, "a rate, or flows from one side to the other", _HINT)
        rate = self._rates[name]
        if not isinstance(rate, Rate):
            raise QuantityError(f"a share of {name}, which has no constant rate", "a share of a constant rate", _HINT)
        return Rate(max(int(rate * given.percent / 100), 1))

    def _bottleneck(self, from_: str, to: str) -> str | None:
        if from_ in self._senders and to in self._receivers:
            return NAMES[0]
        return NAMES[1] if from_ in self._receivers and to in self._senders else None

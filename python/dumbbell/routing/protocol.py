"""The parts that all protocols have."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import ClassVar

from dumbbell.routing.model import Network, Prefix, Router


class Protocol(ABC):
    """A routing protocol: what it needs in `frr.conf`, and which prefixes it teaches."""

    name: ClassVar[str]
    daemon: ClassVar[str]

    @abstractmethod
    def configure(self, router: Router, network: Network) -> list[str]:
        """The lines of a router's configuration."""

    def learned(self, network: Network) -> Mapping[str, frozenset[Prefix]]:
        """Name of a router -> the prefixes that this protocol teaches it once it has converged.

        Routers with a configuration of the user's own count neither as sources nor as links of a chain: what they
        announce is unknown here.
        """
        return {}


def block(head: str, *lines: str) -> list[str]:
    """A block of a configuration: its head, its lines one space to the right, `exit`."""
    return [head, *(f" {line}" for line in lines), "exit"]

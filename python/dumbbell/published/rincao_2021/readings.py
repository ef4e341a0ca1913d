"""The readings of rincao-2021: what its text leaves open, and the cells of the grid under each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from dumbbell.published.model import Cell
from dumbbell.published.rincao_2021.grid import CONNECTIONS, UDP, Mix

CASE: Final = "case"
UDP_OF_THREE: Final = "flows.2.rate"
"""The key in elephants.toml."""
ON: Final = "flows.1.on"
OFF: Final = "flows.1.off"
PERIOD_MS: Final = 100
"""iperf3 before 3.2 sends what is due every 100 ms."""
HOST_MBIT: Final = 10_000
"""Rate at which a burst leaves: Mininet limits no host's link, so it is as fast as iperf3 calls the kernel."""


def burst_ms(mix: Mix, share: str) -> float:
    """How long a burst lasts that has what is due in a period: `share` of the bottleneck's rate, at a host's rate."""
    return mix.mbit * float(share.removesuffix(" %")) / 100 * PERIOD_MS / HOST_MBIT


def on_off(mix: Mix, share: str) -> tuple[str, str]:
    """The values of `ON` and `OFF`."""
    on = burst_ms(mix, share)
    return f"{on:g} ms", f"{PERIOD_MS - on:g} ms"


def _evenly(mix: Mix, connections: int, share: str) -> Cell:
    return {CONNECTIONS: connections, UDP: share}


def _in_bursts(mix: Mix, connections: int, share: str) -> Cell:
    return {CONNECTIONS: connections, ON: on_off(mix, share)[0]}


def _by_case(mix: Mix, connections: int, share: str) -> Cell:
    return {CASE: str(connections), UDP_OF_THREE: share}


@dataclass(frozen=True)
class Reading:
    """A reading of the text, with a part for each setting."""

    key: str
    """The end of its parts' names; empty for the study's own parts."""
    said: str
    where: Callable[[Mix, int, str], Cell] = _evenly
    """The cell of a setting with so many connections and this share of UDP."""
    alone: Reading | None = None
    """The reading of an algorithm alone, if this one is of mixes only."""

    def part(self, mix: Mix) -> str:
        """The part of a setting."""
        return f"{mix.name}-{self.key}" if self.key else mix.name


PLAIN: Final = Reading("", "1 BDP, even UDP")
ELEPHANTS: Final = Reading("elephants", "elephants are BBR's", _by_case, PLAIN)
BURSTS: Final = Reading("bursts", "UDP in bursts", _in_bursts)
DELAY_LINE: Final = Reading("delay-line", "a delay line of 1 BDP")
DELAY_LINE_BURSTS: Final = Reading("delay-line-bursts", "delay line and bursts", _in_bursts)
MININET: Final = Reading("mininet", "Mininet's links")
MININET_BURSTS: Final = Reading("mininet-bursts", "Mininet's links and bursts", _in_bursts)
MININET_PACKETS: Final = Reading("mininet-packets", "Mininet's links without offloads, and bursts", _in_bursts)

READINGS: Final = (
    PLAIN,
    ELEPHANTS,
    BURSTS,
    DELAY_LINE,
    DELAY_LINE_BURSTS,
    MININET,
    MININET_BURSTS,
    MININET_PACKETS,
)

"""The scenarios that compare the engines: paths and algorithms, chosen so that every pair of values occurs.

A cell is a mix of flows on a path. Each mix is run on 9 of the 54 paths (2 rates x 3 RTTs x 3 buffers x 3 losses): the
rows of the orthogonal array L9 (R. L. Plackett and J. P. Burman, Biometrika 33:305, 1946; the name is G. Taguchi's), in
which any two of the four factors have each pair of their values. The rate has two values: the third level is one of the
two, in turn. Each mix, and with it each algorithm and each pair of algorithms, therefore meets each value of each
dimension and each pair of values of two dimensions. Levels are shifted from mix to mix, so that all 54 paths occur.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import combinations
from typing import Any, Final, Protocol, TypeVar

from dumbbell.errors import InputError

ALGORITHMS: Final = {
    "reno": "reno",
    "cubic": "cubic",
    "bbr": "bbr",
    "bbr2": "bbr2",
    "bbr3": "bbr3",
    "dctcp": "bpf_dctcp",
}
"""Name in a cell -> name in a scenario. Vegas is not among them, because not every kernel has it."""

RATES_MBIT: Final = (10, 100)
RTTS_MS: Final = (10, 50, 100)
BUFFERS_BDP: Final = (0.3, 1.0, 4.0)
LOSSES_PERCENT: Final = (0.0, 0.1, 1.0)

LEAST_S: Final = 12.0
"""BBRv1 looks for a new minimum of the RTT when the old one is 10 s old; BBRv2 and BBRv3 do so every 5 s."""
LEAST_ROUNDS: Final = 30
"""Duration in longest RTTs, those with a full buffer. Slow start and STARTUP take about ten."""

MARKING_SHARE: Final = 7
"""DCTCP marks from 1/7 of the BDP on (M. Alizadeh et al.: Data Center TCP, SIGCOMM 2010, section 3.3)."""


class Named(Protocol):
    """Whatever has a name to choose it by."""

    @property
    def name(self) -> str:
        """Its name."""
        ...


_Named = TypeVar("_Named", bound=Named)


@dataclass(frozen=True)
class Cell:
    """Flows on a path."""

    flows: tuple[str, ...]
    """Keys of `ALGORITHMS`, one or two."""
    rate_mbit: int
    rtt_ms: int
    buffer_bdp: float
    loss_percent: float
    also: tuple[str, ...] = ()
    """More properties of the scenario: none, in the matrix."""

    @property
    def mix(self) -> str:
        """`cubic`, `bbr-cubic`."""
        return "-".join(self.flows)

    @property
    def name(self) -> str:
        """`bbr-cubic_10mbit_50ms_0.3bdp_0.1loss`, also the name of its directory."""
        return f"{self.mix}_{self.rate_mbit}mbit_{self.rtt_ms}ms_{self.buffer_bdp:g}bdp_{self.loss_percent:g}loss"

    @property
    def duration_s(self) -> float:
        """Long enough to pass start-up, and for BBR to look for the minimum of the RTT."""
        return max(LEAST_S, LEAST_ROUNDS * self.rtt_ms / 1e3 * (1 + self.buffer_bdp))

    def scenario(self) -> dict[str, Any]:
        """All flows run from the start, each between separate hosts. Packets and ACKs are not recorded."""
        bottleneck: dict[str, Any] = {"rate": f"{self.rate_mbit} Mbit/s", "buffer": f"{self.buffer_bdp:g} bdp"}
        if self.loss_percent:
            bottleneck["loss"] = f"{self.loss_percent:g} %"
        if "dctcp" in self.flows:
            bdp_bytes = self.rate_mbit * self.rtt_ms * 125
            bottleneck["queue"] = {"kind": "drop-tail", "ce_threshold": f"{bdp_bytes // MARKING_SHARE} B"}
        pairs = len(self.flows)
        return {
            "name": self.name,
            "duration": f"{self.duration_s:g} s",
            "topology": {"kind": "dumbbell", "pairs": pairs, "rtt": f"{self.rtt_ms} ms", "bottleneck": bottleneck},
            "flows": [{"from": f"s{i}", "to": f"r{i}", "cc": ALGORITHMS[name]} for i, name in enumerate(self.flows, 1)],
            "record": {"packets": False, "acks": False},
        }


def mixes() -> list[tuple[str, ...]]:
    """Each algorithm alone, with itself, and with each other one."""
    names = list(ALGORITHMS)
    return [*((name,) for name in names), *((name, name) for name in names), *combinations(names, 2)]


def matrix() -> list[Cell]:
    """All cells: each mix on nine paths."""
    return [cell for k, mix in enumerate(mixes()) for cell in _cells(mix, k, _l9())]


def quick() -> list[Cell]:
    """Each algorithm alone on three paths, which have all RTTs, buffers and losses."""
    diagonal = [row for row in _l9() if row[0] == row[1]]
    return [cell for k, name in enumerate(ALGORITHMS) for cell in _cells((name,), k, diagonal)]


def select(cells: Sequence[_Named], patterns: Sequence[str]) -> list[_Named]:
    """The cells whose names match one of `patterns`; all if there are none. Raises `InputError` for a pattern without
    match."""
    for pattern in patterns:
        if not any(fnmatchcase(cell.name, pattern) for cell in cells):
            why = f"names are such as {cells[0].name} and {cells[-1].name}; * stands for anything"
            raise InputError(f"--cells {pattern}: no cell has such a name", why, "python -m validation --list")
    if not patterns:
        return list(cells)
    return [cell for cell in cells if any(fnmatchcase(cell.name, pattern) for pattern in patterns)]


def _l9() -> list[tuple[int, int, int, int]]:
    return [(a, b, (a + b) % 3, (a + 2 * b) % 3) for a in range(3) for b in range(3)]


def _cells(mix: tuple[str, ...], k: int, rows: Sequence[tuple[int, int, int, int]]) -> Iterator[Cell]:
    """Cells of the `k`-th mix."""
    for rtt, buffer, loss, rate in rows:
        yield Cell(
            mix,
            RATES_MBIT[(0, 1, k % 2)[(rate + k // 3) % 3]],
            RTTS_MS[rtt],
            BUFFERS_BDP[buffer],
            LOSSES_PERCENT[(loss + k) % 3],
        )

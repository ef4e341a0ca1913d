"""Runs of a parking lot: a network with several limited links in a row, simulated, for tests of what reads runs.

Flows from `a` to `b` cross all links. Cross traffic enters before one link and leaves behind it: datagrams from `uN` to
`vN` cross `linkN`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import dumbbell
from dumbbell import Run


@dataclass(frozen=True)
class Cross:
    """Datagrams across one link, in seconds and Mbit/s."""

    link: int
    start_s: float
    stop_s: float
    mbit: float

    def flow(self, number: int) -> dict[str, Any]:
        """The scenario's flow `crossN`."""
        return {
            "id": f"cross{number}",
            "protocol": "udp",
            "rate": f"{self.mbit} Mbit/s",
            "from": f"u{self.link}",
            "to": f"v{self.link}",
            "start": f"{self.start_s} s",
            "stop": f"{self.stop_s} s",
        }


def scenario(
    mbit: Sequence[int] = (20, 20, 20),
    cross: Sequence[Cross] = (),
    ccs: Sequence[str] = ("cubic",),
    duration_s: float = 6,
    **more: Any,
) -> dict[str, Any]:
    """The scenario of links with these rates, cross traffic, and a flow of each of `ccs` across all links."""
    ends = [("a", "s0"), ("b", f"s{len(mbit)}")]
    ends += [(f"{side}{at}", f"s{at + behind}") for at in range(len(mbit)) for behind, side in enumerate("uv")]
    switches = {f"s{at}": {"kind": "switch"} for at in range(len(mbit) + 1)}
    limited = [
        {
            "name": f"link{at}",
            "between": [f"s{at}", f"s{at + 1}"],
            "rate": f"{rate} Mbit/s",
            "delay": "5 ms",
            "buffer": "30 kB",
        }
        for at, rate in enumerate(mbit)
    ]
    bulk = [{"id": f"f{number}", "from": "a", "to": "b", "cc": cc} for number, cc in enumerate(ccs, 1)]
    return {
        "name": "parking-lot",
        "duration": f"{duration_s} s",
        "topology": {
            "kind": "graph",
            "nodes": {host: {} for host, _ in ends} | switches,
            "links": [*limited, *({"between": list(pair)} for pair in ends)],
        },
        "flows": [*bulk, *(one.flow(number) for number, one in enumerate(cross, 1))],
        **more,
    }


def run(directory: Path, of: dict[str, Any]) -> Run:
    """The simulated run of a scenario, without a report."""
    found = dumbbell.run(of, directory=directory, engine="simulate", report=False)
    assert isinstance(found, Run)
    return found

"""The networks on which both are compared."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

SECONDS: Final = 20


@dataclass(frozen=True)
class Cell:
    """One bottleneck, and what crosses it."""

    name: str
    rate: str
    rtt: str
    buffer: str
    keys: dict[str, Any] = field(default_factory=dict)
    """More keys of the bottleneck."""
    beside: str | None = None
    """The congestion control of a second flow; `same`: the one that is compared."""
    flow: dict[str, Any] = field(default_factory=dict)
    """More keys of the flow that is compared."""
    rtts: tuple[str, ...] = ()
    """RTTs of the two flows, if they differ."""
    ecn: bool = False
    """The flows negotiate ECN."""

    def scenario(self, cc: str | dict[str, Any], seed: int, longer_us: int = 0) -> dict[str, Any]:
        """For `dumbbell.run`, with an RTT that is so much longer; the first flow is the one that is compared."""
        others = [] if self.beside is None else [cc if self.beside == "same" else self.beside]
        flows: list[dict[str, Any]] = [
            {"from": f"s{i}", "to": f"r{i}", "cc": one} for i, one in enumerate([cc, *others], 1)
        ]
        flows[0] |= self.flow
        if self.ecn:
            flows = [flow | {"ecn": True} for flow in flows]
        topology: dict[str, Any] = {
            "kind": "dumbbell",
            "pairs": len(flows),
            "rtt": [
                f"{float(rtt.removesuffix(' ms')) + longer_us / 1e3:g} ms"
                for rtt in self.rtts or (self.rtt,) * len(flows)
            ],
            "bottleneck": {"rate": self.rate, "buffer": self.buffer, **self.keys},
        }
        return {"name": "google", "duration": f"{SECONDS} s", "seed": seed, "topology": topology, "flows": flows}


def _singles() -> list[Cell]:
    paths = [
        ("10 Mbit/s", "40 ms"),
        ("50 Mbit/s", "20 ms"),
        ("50 Mbit/s", "100 ms"),
        ("50 Mbit/s", "200 ms"),
        ("100 Mbit/s", "10 ms"),
    ]
    cells = []
    for rate, rtt in paths:
        for buffer in ("0.3 bdp", "1 bdp", "4 bdp"):
            cells.append(Cell(f"{rate}, {rtt}, {buffer}", rate, rtt, buffer))
    for loss in ("1 %", "5 %"):
        cells.append(Cell(f"10 Mbit/s, 40 ms, 1 bdp, loss {loss}", "10 Mbit/s", "40 ms", "1 bdp", {"loss": loss}))
    policer = {"policer": {"rate": "8 Mbit/s", "burst": "30 kB"}}
    cells.append(Cell("10 Mbit/s, 40 ms, 1 bdp, policer", "10 Mbit/s", "40 ms", "1 bdp", policer))
    limited = {"on": "300 ms", "off": "200 ms"}
    cells.append(Cell("50 Mbit/s, 20 ms, 1 bdp, on and off", "50 Mbit/s", "20 ms", "1 bdp", flow=limited))
    return cells


def _pairs() -> list[Cell]:
    cells = []
    for beside in ("cubic", "same"):
        for rate, rtt, buffer in (
            ("50 Mbit/s", "40 ms", "1 bdp"),
            ("50 Mbit/s", "40 ms", "8 bdp"),
            ("10 Mbit/s", "40 ms", "1 bdp"),
        ):
            cells.append(Cell(f"{rate}, {rtt}, {buffer}, beside {beside}", rate, rtt, buffer, beside=beside))
    cells.append(
        Cell(
            "50 Mbit/s, 20 and 80 ms, beside same",
            "50 Mbit/s",
            "40 ms",
            "250 kB",
            beside="same",
            rtts=("20 ms", "80 ms"),
        )
    )
    return cells


def _marked() -> list[Cell]:
    """Google's BBRv2 answers marks at 5 ms and less; buffers are so large that nothing is lost."""
    cells = []
    for rate, packets in (("50 Mbit/s", 5), ("100 Mbit/s", 10), ("100 Mbit/s", 40)):
        step = {"queue": {"kind": "drop-tail", "ce_threshold": f"{packets} packets"}}
        name = f"{rate}, 4.6 ms, marks above {packets} packets"
        cells.append(Cell(name, rate, "4.6 ms", "600 packets", step, ecn=True))
        cells.append(Cell(f"{name}, beside same", rate, "4.6 ms", "600 packets", step, beside="same", ecn=True))
    for share in ("1 %", "10 %"):
        name = f"100 Mbit/s, 4.6 ms, {share} of marks"
        cells.append(Cell(name, "100 Mbit/s", "4.6 ms", "600 packets", {"mark": share}, ecn=True))
    return cells


CELLS: Final = [*_singles(), *_pairs()]
MARKED: Final = _marked()

"""The grid of rincao-2021: ten settings, each with 1 to 30 transfers and three shares of UDP."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from dumbbell.engines.names import EMULATE, SIMULATE
from dumbbell.published.model import Axis, Part, Plot, Published, Table
from dumbbell.published.packaged import rows

CONNECTIONS: Final = "flows.0.connections"
UDP: Final = "flows.1.rate"
SHARES: Final = ("10 %", "20 %", "30 %")
PRINTED: Final = (5, 10, 15, 20, 30)
"""Connections in the tables."""
RATES: Final = (100, 300)
"""Mbit/s."""
MIXES: Final = (100, 75, 50, 25, 0)
"""Percent of the connections that are CUBIC's."""
DURATION: Final = {100: "40 s", 300: "25 s"}
"""The slowest transfer is complete by then, with room to spare."""
CPU_S: Final = 0.1
"""CPU time of a simulated run."""

QUICK: Final = {"sweep": {CONNECTIONS: [5, 30], UDP: ["10 %", "30 %"]}, "repeat": 3}


@dataclass(frozen=True)
class Mix:
    """One of the study's ten settings."""

    mbit: int
    cubic: int
    """Percent."""

    @property
    def name(self) -> str:
        """`100-cubic-75`."""
        mix = {100: "cubic", 0: "bbr"}.get(self.cubic, f"cubic-{self.cubic}")
        return f"{self.mbit}-{mix}"

    @property
    def algorithms(self) -> dict[str, int]:
        """Percent of the connections for each algorithm that has any."""
        return {cc: share for cc, share in (("cubic", self.cubic), ("bbr", 100 - self.cubic)) if share}

    @property
    def title(self) -> str:
        """`75 % CUBIC, 25 % BBR at 100 Mbit/s`."""
        return f"{', '.join(f'{share} % {cc.upper()}' for cc, share in self.algorithms.items())} at {self.mbit} Mbit/s"

    def settings(self, instead: str = "bbr") -> dict[str, Any]:
        """The settings with `instead` in place of BBR."""
        mix = {instead if cc == "bbr" else cc: share / 100 for cc, share in self.algorithms.items()}
        return {
            "topology.bottleneck.rate": f"{self.mbit} Mbit/s",
            "flows.0.mix": mix,
            "duration": DURATION[self.mbit],
        }


NOTES: Final = (
    "UDP. Ours is evenly spaced, to the packet. iperf3 before 3.2 sends what is due every 100 ms at once (esnet/iperf "
    "issue 386): 30 Mbit/s are bursts of 375 kB into a buffer of 625 kB. Such a burst ends slow start early, by "
    "HyStart or by loss, and CUBIC takes long to make up for it; BBR hardly minds. The parts -bursts send UDP so.",
    "Buffer. Mininet's delay is netem's, whose limit counts packets that propagate, too: with a limit of 1 BDP and the "
    "whole delay at the bottleneck no room is left to wait when the pipe is full. CUBIC needs a buffer; BBR does not. "
    "The parts -delay-line have a twentieth of a BDP in place of none.",
    "Elephants. The text does not say whose the elephants are; ours are drawn in each run. The parts -elephants give "
    "them to BBR as far as there are BBR connections.",
    "Offloads were on in their hosts and switches, so their queue held super-packets; ours counts bytes of packets.",
)

ALL: Final = tuple(Mix(mbit, cubic) for mbit in RATES for cubic in MIXES)


def published_of(mix: Mix) -> tuple[Published, ...]:
    """The printed numbers of a setting."""
    return tuple(
        Published(
            {CONNECTIONS: int(row["connections"]), UDP: f"{row['udp_percent']} %"},
            "application_rate",
            row["cc"],
            1e3 * float(row["mean_flow_throughput_kbit"]),
            f"table {row['table']}",
        )
        for row in rows("rincao-2021/throughput")
        if int(row["bottleneck_mbit"]) == mix.mbit and mix.algorithms.get(row["cc"]) == int(row["cc_share_percent"])
    )


def tables_of(mix: Mix, published: tuple[Published, ...]) -> tuple[Table, ...]:
    """A table for each algorithm, as printed."""
    return tuple(
        Table(
            f"Throughput per {cc.upper()} connection (Mbit/s)",
            next(one.source for one in published if one.of == cc),
            CONNECTIONS,
            UDP,
            "application_rate",
            cc,
            SHARES[0],
            1e6,
        )
        for cc in mix.algorithms
    )


def plots_of(algorithms: tuple[str, ...]) -> tuple[Plot, ...]:
    """Throughput, utilisation and retransmissions against connections, a curve for each share of UDP."""
    x = Axis("connections", 0, 30)
    drawn = [
        Plot(
            f"Throughput per {cc.upper()} connection",
            "one plot for each mix and rate",
            "lines",
            x,
            Axis("throughput (Mbit/s)", 0, factor=1e6),
            "application_rate",
            CONNECTIONS,
            UDP,
            of=(cc,),
        )
        for cc in algorithms
    ]
    drawn.append(
        Plot(
            "Utilisation until the last transfer is complete",
            "one plot for each mix and rate",
            "lines",
            x,
            Axis("utilisation (%)", 0, 100, factor=0.01),
            "utilisation_busy",
            CONNECTIONS,
            UDP,
        )
    )
    drawn += [
        Plot(
            f"Retransmitted segments, {cc.upper()}",
            "one plot for each mix and rate",
            "lines",
            x,
            Axis("retransmitted segments per run", 0),
            "retransmitted_segments",
            CONNECTIONS,
            UDP,
            of=(cc,),
        )
        for cc in algorithms
    ]
    return tuple(drawn)


def part_of(mix: Mix) -> Part:
    """All runs of a setting."""
    published = published_of(mix)
    return Part(
        mix.name,
        mix.title,
        "rincao-2021/grid.toml",
        {"name": f"rincao-2021-{mix.name}", **mix.settings()},
        (SIMULATE, EMULATE),
        {EMULATE: {"sweep": {CONNECTIONS: list(PRINTED), UDP: list(SHARES)}, "repeat": 3}},
        QUICK,
        published,
        tables_of(mix, published),
        plots_of(tuple(mix.algorithms)),
        cpu_s=CPU_S,
        notes=NOTES,
    )

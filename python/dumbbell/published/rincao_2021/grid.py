"""The grid of rincao-2021: ten settings, each with 1 to 30 transfers and three shares of UDP."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from dumbbell.engines.names import EMULATE, SIMULATE, VIRTUAL
from dumbbell.published.model import Axis, Part, Plot, Published, Table
from dumbbell.published.packaged import rows
from dumbbell.published.rincao_2021.notes import NOTES

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
SHORT: Final = {100: "26 s", 300: "9 s"}
"""In virtual time, where each datagram of UDP costs: each part says whether all transfers were complete."""
PAIRS: Final = 6
"""Hosts on each side in virtual time, where 62 take as much time to make as some seconds of traffic."""
CPU_S: Final = 0.1
"""CPU time of a simulated run."""

TABLES: Final = {CONNECTIONS: list(PRINTED), UDP: list(SHARES)}
"""The cells of the tables."""
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
    def first(self) -> str:
        """The first algorithm, which is the only one where one is alone."""
        return next(iter(self.algorithms))

    @property
    def title(self) -> str:
        """`75 % CUBIC, 25 % BBR at 100 Mbit/s`."""
        return f"{', '.join(f'{share} % {cc.upper()}' for cc, share in self.algorithms.items())} at {self.mbit} Mbit/s"

    @property
    def bdp_bytes(self) -> int:
        """BDP at the study's RTT of 50 ms."""
        return self.mbit * 1_000_000 * 50 // 1000 // 8

    @property
    def in_virtual_time(self) -> dict[str, Any]:
        """Settings that make runs in virtual time cheap: connections share hosts, which have no limit of their own, and
        nothing is read off samples."""
        return {
            "repeat": 5,
            "duration": SHORT[self.mbit],
            "topology.pairs": PAIRS,
            "flows.1.from": f"s{PAIRS}",
            "flows.1.to": f"r{PAIRS}",
            "record.acks": False,
            "record.sample_interval": "1 s",
        }

    def settings(self, instead: str = "bbr") -> dict[str, Any]:
        """The settings with `instead` in place of BBR."""
        mix = {instead if cc == "bbr" else cc: share / 100 for cc, share in self.algorithms.items()}
        return {
            "topology.bottleneck.rate": f"{self.mbit} Mbit/s",
            "flows.0.mix": mix,
            "duration": DURATION[self.mbit],
        }


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
        (SIMULATE, VIRTUAL, EMULATE),
        {VIRTUAL: {"sweep": TABLES, **mix.in_virtual_time}, EMULATE: {"sweep": TABLES, "repeat": 3}},
        QUICK,
        published,
        tables_of(mix, published),
        plots_of(tuple(mix.algorithms)),
        cpu_s=CPU_S,
        notes=NOTES,
    )

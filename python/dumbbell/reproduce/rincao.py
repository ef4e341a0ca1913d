"""Background UDP traffic and the mix of CUBIC and BBR: mice and elephants over one bottleneck."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Final

from dumbbell.engines.names import EMULATE, SIMULATE
from dumbbell.reproduce import rincao_findings
from dumbbell.reproduce.model import Axis, Part, Plot, Published, Reproduction, Table
from dumbbell.reproduce.packaged import rows

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
"""By then the slowest transfer is complete, with room to spare."""
BURSTS: Final = {"10 %": "1 ms", "20 %": "2 ms", "30 %": "3 ms"}
"""Of 100 Mbit/s: how long a host at 1 Gbit/s takes to send what is due in 100 ms."""
ON: Final = "flows.1.on"
CPU_S: Final = 0.1
"""Of a simulated run."""

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
        """Percent of each that there is."""
        return {cc: share for cc, share in (("cubic", self.cubic), ("bbr", 100 - self.cubic)) if share}

    @property
    def title(self) -> str:
        """`75 % CUBIC, 25 % BBR at 100 Mbit/s`."""
        return f"{', '.join(f'{share} % {cc.upper()}' for cc, share in self.algorithms.items())} at {self.mbit} Mbit/s"

    def settings(self, instead: str = "bbr") -> dict[str, Any]:
        """With `instead` in place of BBR."""
        mix = {instead if cc == "bbr" else cc: share / 100 for cc, share in self.algorithms.items()}
        return {
            "topology.bottleneck.rate": f"{self.mbit} Mbit/s",
            "flows.0.mix": mix,
            "duration": DURATION[self.mbit],
        }


ALL: Final = tuple(Mix(mbit, cubic) for mbit in RATES for cubic in MIXES)


def _published(mix: Mix) -> tuple[Published, ...]:
    return tuple(
        Published(
            {CONNECTIONS: int(row["connections"]), UDP: f"{row['udp_percent']} %"},
            "throughput",
            row["cc"],
            1e3 * float(row["mean_flow_throughput_kbit"]),
            f"table {row['table']}",
        )
        for row in rows("rincao-2021-throughput")
        if int(row["bottleneck_mbit"]) == mix.mbit and mix.algorithms.get(row["cc"]) == int(row["cc_share_percent"])
    )


def _tables(mix: Mix, published: tuple[Published, ...]) -> tuple[Table, ...]:
    return tuple(
        Table(
            f"Throughput per {cc.upper()} connection (Mbit/s)",
            next(one.source for one in published if one.of == cc),
            CONNECTIONS,
            UDP,
            "throughput",
            cc,
            SHARES[0],
            1e6,
        )
        for cc in mix.algorithms
    )


def _plots(algorithms: tuple[str, ...]) -> tuple[Plot, ...]:
    x = Axis("connections", 0, 30)
    drawn = [
        Plot(
            f"Throughput per {cc.upper()} connection",
            "one plot for each mix and rate",
            "lines",
            x,
            Axis("throughput (Mbit/s)", 0, factor=1e6),
            "throughput",
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


def _part(mix: Mix) -> Part:
    published = _published(mix)
    return Part(
        mix.name,
        mix.title,
        "rincao-2021/grid.toml",
        {"name": f"rincao-2021-{mix.name}", **mix.settings()},
        (SIMULATE, EMULATE),
        {EMULATE: {"sweep": {CONNECTIONS: list(PRINTED), UDP: list(SHARES)}, "repeat": 3}},
        QUICK,
        published,
        _tables(mix, published),
        _plots(tuple(mix.algorithms)),
        cpu_s=CPU_S,
        notes=NOTES,
    )


def _bursts(part: Part, mix: Mix) -> Part:
    """The same with UDP in bursts."""
    published = tuple(
        replace(one, where={CONNECTIONS: one.where[CONNECTIONS], ON: BURSTS[one.where[UDP]]})
        for one in part.published
    )
    tables = tuple(replace(one, columns=ON, reference=BURSTS[SHARES[0]]) for one in part.tables)
    quick: dict[str, Any] = {
        "sweep": {CONNECTIONS: [5, 30], "zip": [{ON: ["1 ms", "3 ms"], "flows.1.off": ["99 ms", "97 ms"]}]},
        "repeat": 3,
    }
    return Part(
        f"{mix.name}-bursts",
        f"{mix.title}, UDP in bursts of 100 ms (1, 2, 3 ms at 1 Gbit/s are 10, 20, 30 % of 100 Mbit/s)",
        "rincao-2021/bursts.toml",
        {"name": f"rincao-2021-{mix.name}-bursts", **mix.settings()},
        (SIMULATE, EMULATE),
        {EMULATE: {"repeat": 3}},
        quick,
        published,
        tables,
        tuple(replace(plot, curves=ON) for plot in part.plots),
        variant_of=mix.name,
        cpu_s=CPU_S,
    )


def _bbr3(mix: Mix) -> Part:
    """BBRv3 in BBR's place: beside it, the printed numbers are of another algorithm."""
    algorithms = tuple("bbr3" if cc == "bbr" else cc for cc in mix.algorithms)
    return Part(
        f"{mix.name}-bbr3",
        f"{mix.title}, with BBRv3 in place of BBR",
        "rincao-2021/grid.toml",
        {"name": f"rincao-2021-{mix.name}-bbr3", **mix.settings("bbr3")}
        | {"sweep": {CONNECTIONS: list(PRINTED), UDP: list(SHARES)}},
        (SIMULATE, EMULATE),
        {EMULATE: {"repeat": 3}},
        QUICK,
        tuple(replace(one, of="bbr3" if one.of == "bbr" else one.of) for one in _published(mix)),
        tuple(
            replace(one, of="bbr3", title=one.title.replace("BBR", "BBRv3") + ", beside what was printed for BBR")
            if one.of == "bbr"
            else one
            for one in _tables(mix, _published(mix))
        ),
        _plots(algorithms),
        variant_of=mix.name,
        cpu_s=CPU_S,
    )


NOTES: Final = (
    "UDP. Ours is evenly spaced, to the packet. iperf3 as Ubuntu 18.04 packages it sends what is due every 100 ms at once: "
    "3.75 MB/s are bursts of 375 kB into a buffer of 625 kB. Such a burst ends slow start early, by HyStart or by loss, "
    "and CUBIC takes long to make up for it; BBR does not care. The parts -bursts send UDP so.",
    "Who is an elephant. Of few connections the text does not say which are elephants, nor of which algorithm; ours are "
    "drawn in each run. With 5 connections there is one elephant, and it decides the mean.",
    "Offloads were on in their hosts and switches, so their queue held super-packets; ours counts bytes of packets.",
)

_PARTS: Final = tuple(_part(mix) for mix in ALL)
_BY_NAME: Final = {part.name: part for part in _PARTS}

REPRODUCTION: Final = Reproduction(
    "rincao-2021",
    "Background UDP traffic: CUBIC, BBR and mixes of them",
    "Rincão, da Cruz, Casas-Velasco, da Fonseca: Impacto do tráfego background nas variantes BBR e CUBIC do protocolo "
    "TCP, UNICAMP, IC-PFG-20-36, 2021",
    (
        *_PARTS,
        *(_bursts(_BY_NAME[mix.name], mix) for mix in (Mix(100, 100), Mix(100, 0))),
        *(_bbr3(Mix(mbit, cubic)) for mbit in RATES for cubic in (0, 50)),
    ),
    rincao_findings.FINDINGS,
    (
        "When a run ends is left open. Here all transfers start at once, 0.1 ms apart, and each lasts until its bytes "
        "are through; the run is long enough for all of them (40 s, at 300 Mbit/s 25 s), and UDP goes on until its end.",
        "Throughput is the mean over connections of bytes divided by lifetime, from the SYN to the last byte.",
        "Utilisation counts all bits on the link until the last transfer is complete: what UDP sends alone afterwards is "
        "left out.",
        "Retransmitted segments are those of all connections of an algorithm in a run.",
        "Which connections are elephants, and which are CUBIC's, is drawn anew for each repetition; how many is not: "
        "shares are rounded to whole connections that add up (largest remainders).",
    ),
    confidence=0.90,
)

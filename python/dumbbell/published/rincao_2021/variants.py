"""Other readings of rincao-2021's grid, with the tables' cells: what may explain differences, and BBRv3."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from dumbbell.engines.names import EMULATE, SIMULATE
from dumbbell.published.model import Part
from dumbbell.published.rincao_2021.grid import (
    CONNECTIONS,
    CPU_S,
    PRINTED,
    QUICK,
    SHARES,
    UDP,
    Mix,
    plots_of,
    published_of,
    tables_of,
)

BURSTS: Final = {"10 %": "1 ms", "20 %": "2 ms", "30 %": "3 ms"}
"""Bursts at 100 Mbit/s: the time that a host at 1 Gbit/s takes to send the data of 100 ms."""
ON: Final = "flows.1.on"
CASE: Final = "case"
UDP_OF_THREE: Final = "flows.2.rate"
"""The key in elephants.toml."""


def bursts(part: Part, mix: Mix) -> Part:
    """The same with UDP in bursts."""
    published = tuple(
        replace(one, where={CONNECTIONS: one.where[CONNECTIONS], ON: BURSTS[one.where[UDP]]}) for one in part.published
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


def delay_line(part: Part, mix: Mix) -> Part:
    """The same with hardly any buffer: as if packets that propagate took up its room."""
    cells = {"sweep": {CONNECTIONS: list(PRINTED), UDP: list(SHARES)}}
    return replace(
        part,
        name=f"{mix.name}-delay-line",
        title=f"{mix.title}, with 1/20 BDP of buffer: packets that propagate take the rest",
        set={
            **part.set,
            "name": f"rincao-2021-{mix.name}-delay-line",
            "topology.bottleneck.buffer": "0.05 bdp",
            **cells,
        },
        by_engine={EMULATE: {"repeat": 3}},
        variant_of=mix.name,
    )


def bbr3(mix: Mix) -> Part:
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
        tuple(replace(one, of="bbr3" if one.of == "bbr" else one.of) for one in published_of(mix)),
        tuple(
            replace(one, of="bbr3", title=one.title.replace("BBR", "BBRv3") + ", beside what was printed for BBR")
            if one.of == "bbr"
            else one
            for one in tables_of(mix, published_of(mix))
        ),
        plots_of(algorithms),
        variant_of=mix.name,
        cpu_s=CPU_S,
    )


def elephants(part: Part, mix: Mix) -> Part:
    """The same with elephants for BBR first."""
    published = tuple(
        replace(one, where={CASE: str(one.where[CONNECTIONS]), UDP_OF_THREE: one.where[UDP]}) for one in part.published
    )
    shared = {key: value for key, value in mix.settings().items() if key != "flows.0.mix"}
    cases = [_case(n, mix) for n in PRINTED]
    return Part(
        f"{mix.name}-elephants",
        f"{mix.title}, elephants are BBR's",
        "rincao-2021/elephants.toml",
        {"name": f"rincao-2021-{mix.name}-elephants", **shared, "sweep": {UDP_OF_THREE: list(SHARES), "cases": cases}},
        (SIMULATE, EMULATE),
        {EMULATE: {"repeat": 3}},
        {"sweep": {UDP_OF_THREE: [SHARES[0], SHARES[-1]], "cases": [cases[0], cases[-1]]}, "repeat": 3},
        published,
        tuple(replace(one, rows=CASE, columns=UDP_OF_THREE) for one in part.tables),
        tuple(replace(plot, key=CASE, curves=UDP_OF_THREE) for plot in part.plots),
        variant_of=mix.name,
        cpu_s=CPU_S,
    )


def _case(connections: int, mix: Mix) -> dict[str, Any]:
    """The numbers of mice and elephants, and BBR's share of each; a half is rounded to the even number."""
    large = connections // 5
    small = connections - large
    of_bbr = round(connections * (100 - mix.cubic) / 100)
    shares = min(of_bbr, large) / large, max(of_bbr - large, 0) / small
    return {
        "name": str(connections),
        "flows.0.connections": small,
        "flows.0.mix": _mixed(shares[1]),
        "flows.1.connections": large,
        "flows.1.mix": _mixed(shares[0]),
    }


def _mixed(bbr: float) -> dict[str, float]:
    """Algorithm -> its share of the flows, without shares of 0. `bbr`: the share of BBR."""
    found = {"cubic": round(1 - bbr, 6), "bbr": round(bbr, 6)}
    return {cc: share for cc, share in found.items() if share}

"""Other readings of rincao-2021's grid, with the tables' cells: what may explain differences, and BBRv3."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from dumbbell.engines.names import EMULATE, SIMULATE, VIRTUAL
from dumbbell.published.model import Part
from dumbbell.published.rincao_2021 import evidence
from dumbbell.published.rincao_2021.grid import (
    CONNECTIONS,
    CPU_S,
    PRINTED,
    QUICK,
    SHARES,
    UDP,
    Mix,
    part_of,
    plots_of,
    published_of,
    tables_of,
)
from dumbbell.published.rincao_2021.readings import (
    BURSTS,
    CASE,
    DELAY_LINE,
    DELAY_LINE_BURSTS,
    ELEPHANTS,
    MININET,
    MININET_BURSTS,
    MININET_PACKETS,
    OFF,
    ON,
    PLAIN,
    UDP_OF_THREE,
    Reading,
    on_off,
)
from dumbbell.units.mtu import ETHERNET, MTU

NO_HYSTART: Final = "bpf_cubic"
"""CUBIC as Linux has it, with parameters."""
_EVERYWHERE: Final = (SIMULATE, VIRTUAL, EMULATE)
_KERNEL: Final = (VIRTUAL, EMULATE)
"""Engines that have the kernel's own links."""
_ENDS: Final = (SHARES[0], SHARES[-1])


def bursts(mix: Mix) -> Part:
    """The same with UDP in bursts."""
    return _reading(mix, BURSTS, "UDP in bursts of 100 ms", _EVERYWHERE, {})


def no_hystart(mix: Mix) -> Part:
    """CUBIC alone with UDP in bursts, that leaves slow start by loss only: nothing that they had, but it shows
    what the bursts do to CUBIC."""
    part = bursts(mix)
    cubic = {"name": NO_HYSTART, "parameters": {"hystart": False}}
    transfers = {"id": "tcp", "from": "s*", "to": "r*", "cc": cubic, "connections": PRINTED[-1]}
    sizes = [{"bytes": "300 kB", "share": 0.8}, {"bytes": "30 MB", "share": 0.2}]
    settings = {key: value for key, value in part.set.items() if key != "flows.0.mix"}
    name = f"{part.name}-no-hystart"
    return replace(
        part,
        name=name,
        title=f"{part.title}, CUBIC without HyStart",
        set={**settings, "name": f"rincao-2021-{name}", "flows.0": {**transfers, "sizes": sizes, "gap": "0.1 ms"}},
        published=tuple(replace(one, of=NO_HYSTART) for one in part.published),
        tables=tuple(replace(one, of=NO_HYSTART) for one in part.tables),
        plots=tuple(replace(one, of=(NO_HYSTART,)) if one.of else one for one in part.plots),
        evidence=evidence.of(mix, BURSTS, {"cubic": NO_HYSTART}),
    )


def delay_line(mix: Mix) -> Part:
    """The same with the whole delay in a line that has room for 1 BDP."""
    return _reading(mix, DELAY_LINE, "the whole delay in a line with room for 1 BDP", _EVERYWHERE, _line(mix))


def delay_line_bursts(mix: Mix) -> Part:
    """Both."""
    title = "the whole delay in a line with room for 1 BDP, UDP in bursts"
    return _reading(mix, DELAY_LINE_BURSTS, title, _EVERYWHERE, _line(mix))


def mininet(mix: Mix) -> Part:
    """The same with the bottleneck that Mininet makes."""
    return _reading(mix, MININET, "links as Mininet makes them", _KERNEL, {"emulate.links": "mininet"})


def mininet_bursts(mix: Mix) -> Part:
    """The same with the bottleneck that Mininet makes, and UDP in bursts."""
    title = "links as Mininet makes them, UDP in bursts"
    return _reading(mix, MININET_BURSTS, title, _KERNEL, {"emulate.links": "mininet"})


def mininet_packets(mix: Mix) -> Part:
    """The same without offloads, so that the limit of netem counts packets of one segment."""
    title = "links as Mininet makes them, hosts without offloads, UDP in bursts"
    return _reading(mix, MININET_PACKETS, title, _KERNEL, {"emulate.links": "mininet", "emulate.path": "wire"})


def _line(mix: Mix) -> dict[str, Any]:
    """A delay line for as many full frames as 1 BDP has, in one direction."""
    frames = mix.bdp_bytes // (MTU + ETHERNET)
    return {
        "topology.bottleneck.delay": "50 ms",
        "topology.bottleneck.delay_line": f"{frames} packets",
    }


def _reading(mix: Mix, reading: Reading, title: str, engines: Sequence[str], settings: Mapping[str, Any]) -> Part:
    """A part of a setting under another reading. What cannot be simulated has the least and the most UDP only."""
    part, in_bursts = part_of(mix), ON in reading.where(mix, PRINTED[0], SHARES[0])
    shares = SHARES if SIMULATE in engines else _ENDS
    published = tuple(
        replace(one, where=reading.where(mix, one.where[CONNECTIONS], one.where[UDP]))
        for one in part.published
        if one.where[UDP] in shares
    )
    by_share = [on_off(mix, share)[0] for share in SHARES]
    return Part(
        reading.part(mix),
        f"{mix.title}, {title}" + (f" ({', '.join(by_share)} at 10 Gbit/s)" if in_bursts else ""),
        f"rincao-2021/{'bursts' if in_bursts else 'grid'}.toml",
        {"name": f"rincao-2021-{reading.part(mix)}", **mix.settings(), **settings}
        | _sweep(mix, in_bursts, PRINTED, shares),
        tuple(engines),
        {VIRTUAL: mix.in_virtual_time, EMULATE: {"repeat": 3}},
        {**_sweep(mix, in_bursts, (PRINTED[0], PRINTED[-1]), _ENDS), "repeat": 3},
        published,
        tuple(replace(one, columns=ON, reference=by_share[0]) if in_bursts else one for one in part.tables),
        tuple(replace(plot, curves=ON) if in_bursts else plot for plot in part.plots),
        variant_of=mix.name,
        evidence=evidence.of(mix, reading),
        cpu_s=CPU_S if SIMULATE in engines else None,
    )


def _sweep(mix: Mix, in_bursts: bool, connections: Sequence[int], shares: Sequence[str]) -> dict[str, Any]:
    """The cells of so many connections and these shares of UDP."""
    if not in_bursts:
        return {"sweep": {CONNECTIONS: list(connections), UDP: list(shares)}}
    on, off = zip(*(on_off(mix, share) for share in shares), strict=True)
    return {"sweep": {CONNECTIONS: list(connections), "zip": [{ON: list(on), OFF: list(off)}]}}


def bbr3(mix: Mix) -> Part:
    """BBRv3 in BBR's place: beside it, the printed numbers are of another algorithm."""
    algorithms = tuple("bbr3" if cc == "bbr" else cc for cc in mix.algorithms)
    return Part(
        f"{mix.name}-bbr3",
        f"{mix.title}, with BBRv3 in place of BBR",
        "rincao-2021/grid.toml",
        {"name": f"rincao-2021-{mix.name}-bbr3", **mix.settings("bbr3")} | _sweep(mix, False, PRINTED, SHARES),
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
        evidence=evidence.of(mix, PLAIN, {"bbr": "bbr3"}),
        cpu_s=CPU_S,
    )


def elephants(mix: Mix) -> Part:
    """The same with elephants for BBR first."""
    part = part_of(mix)
    published = tuple(
        replace(one, where=ELEPHANTS.where(mix, one.where[CONNECTIONS], one.where[UDP])) for one in part.published
    )
    shared = {key: value for key, value in mix.settings().items() if key != "flows.0.mix"}
    cases = [_case(n, mix) for n in PRINTED]
    return Part(
        ELEPHANTS.part(mix),
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
        evidence=evidence.of(mix, ELEPHANTS),
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

"""The cost of routing daemons in virtual time, from a cold start to the first pings.

The networks are rings of routers with a host at either of two opposite ones, routers at a switch, and two autonomous
systems. The time to converge is virtual: from the first daemon's start to the last route. Wall time is that of the
kernel's process, with its start and end. Debian: frr.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
from typing import Any, Final

import dumbbell
from benches.table import show
from dumbbell.records.files import read_json


def ring(routers: int, *daemons: str, timers: str = "fast") -> dict[str, Any]:
    """A ring of at least three routers."""
    names = [f"r{i + 1}" for i in range(routers)]
    cables = [[name, names[(i + 1) % routers]] for i, name in enumerate(names)]
    node = {"kind": "router", "routing": list(daemons), "timers": timers}
    return _scenario(dict.fromkeys(names, node), [["h1", "r1"], ["h2", names[routers // 2]], *cables])


def lan(routers: int, *daemons: str, timers: str = "fast") -> dict[str, Any]:
    """Routers at one switch, a host at each of the first two."""
    names = [f"r{i + 1}" for i in range(routers)]
    node = {"kind": "router", "routing": list(daemons), "timers": timers}
    nodes = {**dict.fromkeys(names, node), "s1": {"kind": "switch"}}
    return _scenario(nodes, [["h1", "r1"], ["h2", "r2"], *([name, "s1"] for name in names)])


def two_systems() -> dict[str, Any]:
    """Two autonomous systems, a router and a host each."""
    nodes = {f"r{i}": {"kind": "router", "asn": 100 * i, "routing": ["bgp"]} for i in (1, 2)}
    return _scenario(nodes, [["h1", "r1"], ["r1", "r2"], ["r2", "h2"]])


def _scenario(nodes: dict[str, Any], cables: list[list[str]]) -> dict[str, Any]:
    return {
        "name": "routing",
        "duration": "0.2 s",
        "topology": {
            "kind": "graph",
            "wait": "5 min",
            "nodes": {"h1": {}, "h2": {}, **nodes},
            "links": [{"between": cable, "delay": "1 ms"} for cable in cables],
        },
        "flows": [{"from": "h1", "to": "h2", "protocol": "ping"}],
    }


WORK: Final = {
    "two autonomous systems, BGP": (two_systems(), "<= 1"),
    "3 routers, OSPF and BFD": (ring(3, "ospf", "bfd"), ""),
    "3 routers, OSPF, standard timers": (ring(3, "ospf", timers="standard"), ""),
    "3 routers at a switch, OSPF, standard timers": (lan(3, "ospf", timers="standard"), ""),
    "10 routers, OSPF, standard timers": (ring(10, "ospf", timers="standard"), ""),
    "10 routers, IS-IS": (ring(10, "isis"), ""),
}
"""Name -> the scenario, and the wall time that it may take, in seconds."""


def measure(scenario: dict[str, Any]) -> tuple[float, float, float, float]:
    """Once: converged s, wall s, CPU s, and memory in MB."""
    with tempfile.TemporaryDirectory() as directory:
        run = dumbbell.run(scenario, directory=directory, engine="virtual", report=False)
        kernel = read_json(run.directory / "lab.json")["kernel"]
        converged_s = read_json(run.directory / "routers.json")["converged_s"]
        return converged_s, kernel["wall_s"], kernel["cpu_s"], kernel["memory_bytes"] / 1e6


def main() -> None:
    """Measure all, or what the command line names."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--only", default="", help="networks whose name has this part")
    options = parser.parse_args()
    rows = []
    for name, (scenario, target) in WORK.items():
        if options.only in name:
            taken = zip(*(measure(scenario) for _ in range(options.repeat)), strict=True)
            converged, wall, cpu, memory = (statistics.median(values) for values in taken)
            rows.append([name, f"{converged:.3f}", f"{wall:.2f}", target, f"{cpu:.2f}", f"{memory:.0f}"])
    columns = ["network", "converged (virtual s)", "wall s", "target", "CPU s", "memory (MB)"]
    show(f"Routing daemons in virtual time, one CPU; medians of {options.repeat}", columns, rows)


if __name__ == "__main__":
    main()

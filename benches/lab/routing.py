"""The time that routing daemons take from nothing until every router's kernel has every route, and their memory.

The network is a line or a ring of routers with cables without delay between them. Each router runs daemons of FRRouting
whose configuration dumbbell has worked out. The time begins with the first daemon's start. Debian: frr.
"""

from __future__ import annotations

import argparse
import json
import subprocess
from collections.abc import Sequence
from ipaddress import IPv4Address, ip_interface
from pathlib import Path
from typing import Any

from benches.table import show
from dumbbell.routing import configurations
from dumbbell.routing.model import Interface, Network, Router, Timers

ROOT = Path(__file__).parents[2]
SHAPES = ("line", "ring")


def network(shape: str, routers: int, protocols: Sequence[str], timers: Timers) -> tuple[Network, list[list[str]]]:
    """The network, and its cables as the example wants them."""
    ends = [(i, (i + 1) % routers) for i in range(routers - (shape == "line"))]
    ports: list[list[Interface]] = [[] for _ in range(routers)]
    cables: list[list[str]] = []
    for number, pair in enumerate(ends):
        subnet, subnet6 = f"10.0.{number}", f"fd00:0:0:{number:x}"
        cable: list[str] = []
        for last, router in enumerate(pair, 1):
            texts = [f"{subnet}.{last}/24", f"{subnet6}::{last}/64"]
            own = ports[router]
            own.append(Interface(f"eth{len(own)}", f"link{number}", tuple(map(ip_interface, texts))))
            cable += [f"r{router + 1}", own[-1].name, " ".join(texts)]
        cables.append(cable)
    made = [
        Router(
            name=f"r{i + 1}",
            id=IPv4Address(f"10.255.{i // 250}.{i % 250 + 1}"),
            interfaces=tuple(own),
            protocols=tuple(protocols),
            # With BGP each router is an AS of its own; all other protocols work inside one AS.
            asn=64512 + i if "bgp" in protocols else None,
            networks=(ip_interface(f"10.255.{i // 250}.{i % 250 + 1}/32").network,) if "bgp" in protocols else None,
            timers=timers,
        )
        for i, own in enumerate(ports)
    ]
    return Network(tuple(made)), cables


def measure(shape: str, routers: int, protocols: Sequence[str], timers: Timers, limit_s: float) -> dict[str, Any]:
    """Once: `configured_s`, `converged_s`, `changes`, and `memory_mb` by daemon."""
    made, cables = network(shape, routers, protocols, timers)
    found = configurations(made)
    parts = [
        {
            "name": one.name,
            "id": str(one.id),
            "config": found[one.name].text,
            "daemons": found[one.name].daemons,
            "expect": [str(prefix) for prefix in found[one.name].expect],
        }
        for one in made.routers
    ]
    text = json.dumps({"limit_s": limit_s, "routers": parts, "cables": cables})
    example = ROOT / "target/release/examples/converge"
    told: dict[str, Any] = json.loads(subprocess.check_output([example], input=text, text=True))
    return told


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--routers", type=int, nargs="+", default=[3], help="numbers of routers")
    parser.add_argument("--shape", choices=SHAPES, default="ring")
    parser.add_argument("--protocols", nargs="+", default=["ospf"], help="of one network, joined by +: ospf+bfd")
    parser.add_argument("--timers", choices=["fast", "standard"], default="fast")
    parser.add_argument(
        "--limit", type=float, default=120.0, help="seconds after which a network counts as not converged"
    )
    parser.add_argument("--repeat", type=int, default=1)
    chosen = parser.parse_args()
    command = ["cargo", "build", "--release", "--quiet", "-p", "routers", "--example", "converge"]
    subprocess.run(command, cwd=ROOT, check=True)
    rows = []
    for protocols in chosen.protocols:
        for routers in chosen.routers:
            for _ in range(chosen.repeat):
                told = measure(chosen.shape, routers, protocols.split("+"), chosen.timers, chosen.limit)
                memory = sum(told["memory_mb"].values()) / routers
                rows.append([protocols, routers, told["configured_s"], told["converged_s"], told["changes"], memory])
    columns = ["protocols", "routers", "configured s", "converged s", "changes", "MB a router"]
    texts = [[f"{value:.2f}" if isinstance(value, float) else str(value) for value in row] for row in rows]
    show(f"Routers in a {chosen.shape}, {chosen.timers} timers", columns, texts)


if __name__ == "__main__":
    main()

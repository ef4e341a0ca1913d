"""Networks of many routers, to be drawn."""

from __future__ import annotations

import random

SEED = 1
REACH = 12
"""How many numbers apart the routers of a link may be: as in a real network, most links are short."""


def network(nodes: int, links: int) -> str:
    """A scenario of so many nodes and links: routers, and two hosts at its ends."""
    draws = random.Random(SEED)
    routers = nodes - 2
    ends = {(draws.randint(max(1, i - REACH), i - 1), i) for i in range(2, routers + 1)}
    while len(ends) < links - 2:
        first = draws.randint(1, routers - 1)
        ends.add((first, draws.randint(first + 1, min(routers, first + REACH))))
    lines = ['name = "many"', 'duration = "3 s"', "", "[topology]", 'kind = "graph"', "", "[topology.nodes]"]
    lines += [f'r{i} = {{ kind = "router" }}' for i in range(1, routers + 1)] + ["h1 = {}", "h2 = {}"]
    for a, b in [("h1", "r1"), *((f"r{a}", f"r{b}") for a, b in sorted(ends)), (f"r{routers}", "h2")]:
        lines += ["", "[[topology.links]]", f'between = ["{a}", "{b}"]', 'rate = "100 Mbit/s"', 'delay = "2 ms"']
    return "\n".join([*lines, "", "[[flows]]", 'from = "h1"', 'to = "h2"', ""])

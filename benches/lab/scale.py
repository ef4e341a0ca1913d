"""The time that large labs take to come up and to go, as their users see it: planned, checked, built, ready.

A lab of 200 hosts at a switch, and of fat trees of routers with static routes. `planned`: from the keys of the network
to its plan. `built`: namespaces, interfaces, addresses, neighbours and routes, as the lab itself measures it. `up`: all
of it, until the shell would open. `down`: until the command learns that the lab is gone. With `--json` a line for
each lab, to compare two versions.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from typing import Any

from benches.table import show
from dumbbell.labs import owner, place
from dumbbell.labs.lab import Lab

LABS: dict[str, tuple[str, dict[str, Any]]] = {
    "200 hosts at a switch": ("star", {"size": 200}),
    "fat tree, 128 hosts": ("fat-tree", {"k": 8}),
    "fat tree, 1,024 hosts": ("fat-tree", {"k": 16}),
}
TARGETS = {"200 hosts at a switch": ("", 300, 10), "fat tree, 1,024 hosts": ("", 3000, 100)}
"""Up and down, in ms."""


def measure(kind: str, keys: dict[str, Any]) -> dict[str, float]:
    """Milliseconds of each phase."""
    lab = Lab.from_topology(kind, **keys)
    begun = time.perf_counter()
    scenario = lab.scenario()
    owner.Owner(scenario)
    planned = time.perf_counter() - begun
    begun = time.perf_counter()
    lab.start()
    up = time.perf_counter() - begun
    routes = _routes(lab)
    built = float(place.facts(lab.path).get("build_ms", 0.0))
    begun = time.perf_counter()
    lab.stop()
    down = time.perf_counter() - begun
    return {"planned": planned * 1e3, "built": built, "up": up * 1e3, "down": down * 1e3, "routes": routes}


def _routes(lab: Lab) -> int:
    plan = json.loads((lab.path / "plan.json").read_text(encoding="utf-8"))
    return sum(len(node.get("routes", ())) for node in plan["nodes"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    rows = []
    for name, (kind, keys) in LABS.items():
        measured = []
        for _ in range(options.repeat):
            measured.append(measure(kind, keys))
            # The kernel frees namespaces in the background: not into the next measurement.
            time.sleep(3)
        medians = {phase: statistics.median(one[phase] for one in measured) for phase in measured[0]}
        if options.json:
            print(json.dumps({"lab": name, **medians}), flush=True)
        _, up, down = TARGETS.get(name, ("", "", ""))
        times = [
            f"{medians['planned']:.0f}",
            f"{medians['built']:.0f}",
            f"{medians['up']:.0f}",
            f"<= {up}" if up else "",
        ]
        down_ms = [f"{medians['down']:.1f}", f"<= {down}" if down else ""]
        rows.append([name, f"{medians['routes']:.0f}", *times, *down_ms])
    if not options.json:
        columns = ["", "routes", "planned", "built", "up", "target", "down", "target"]
        show(f"Medians of {options.repeat}, ms", columns, rows)


if __name__ == "__main__":
    main()

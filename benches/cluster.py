"""Studies on a Ray cluster against this machine by itself: what a task costs, and how the work spreads.

All nodes are on this machine: they share its cores and its disk, and no network lies between them.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

import dumbbell
from benches.table import show
from dumbbell.execute import Executor, Fixed, Local
from dumbbell.execute.cluster import Ray

SCENARIO: dict[str, Any] = {
    "name": "cluster",
    "topology": {"kind": "path", "rtt": "20 ms", "bottleneck": {"rate": "50 Mbit/s", "buffer": "1 bdp"}},
    "flows": [{"from": "h1", "to": "h2", "cc": "cubic"}],
}
ROOM = {"object_store_memory": 80 << 20}


@contextmanager
def cluster(*cpus: int) -> Iterator[str]:
    """Nodes with so many CPUs each; the head's address. The head does no work."""
    import ray
    from ray.cluster_utils import Cluster

    os.environ |= {"RAY_USAGE_STATS_ENABLED": "0", "RAY_worker_niceness": "0"}
    os.environ["PYTHONPATH"] = str(Path(dumbbell.__file__).parents[1])
    nodes = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False, **ROOM})
    try:
        for count in cpus:
            nodes.add_node(num_cpus=count, resources={"dumbbell_emulate": count}, **ROOM)
        yield nodes.address
    finally:
        ray.shutdown()
        nodes.shutdown()


@dataclass(frozen=True)
class Cpu:
    """CPU seconds so far: they say more than the clock on a machine that does other things, too."""

    here: float
    """CPU time of this process, the driver."""
    nodes: float
    """CPU time of all of Ray's processes, workers among them."""

    @classmethod
    def now(cls) -> Cpu:
        """The CPU time until now."""
        times = [one.cpu_times() for one in psutil.Process().children(recursive=True)]
        return cls(time.process_time(), sum(one.user + one.system for one in times))


def simulate(executor: Executor, runs: int, seconds: float) -> tuple[float, float]:
    """Seconds for the runs, without planning and checking the nodes; CPU seconds of the simulations."""
    with tempfile.TemporaryDirectory() as directory:
        found = dumbbell.run(
            {**SCENARIO, "duration": f"{seconds} s"},
            engine="simulate",
            repeat=runs,
            directory=directory,
            executor=executor,
        )
        return found.manifest["cost"]["wall_s"], found.manifest["cost"]["cpu_s"]


def warm(address: str) -> Ray:
    """An executor whose workers have been started."""
    executor = Ray(address)
    simulate(executor, 16, 0.011)
    return executor


def overhead(runs: int, cpus: int) -> None:
    """Runs in which next to nothing happens, each a task."""
    rows = [_overhead("here, one thread", Local(Fixed(1), 1), runs)]
    with cluster(1) as address:
        rows.append(_overhead("a node of one CPU", warm(address), runs))
    with cluster(*[1] * cpus) as address, tempfile.TemporaryDirectory() as store:
        rows.append(_overhead(f"{cpus} nodes of one CPU", warm(address), runs))
        rows.append(_overhead(f"{cpus} nodes, with a store", Ray(address, store), runs))
    columns = ["", "s in all", "ms per task", "CPU ms per task: driver", "CPU ms per task: nodes"]
    show(f"{runs} runs of 11 ms, each a task", columns, rows)


def _overhead(name: str, executor: Executor, runs: int) -> list[str]:
    began = Cpu.now()
    took_s, _ = simulate(executor, runs, 0.011)
    ended = Cpu.now()
    costs = [took_s, ended.here - began.here, ended.nodes - began.nodes]
    return [name, f"{took_s:.2f}", *(f"{1e3 * cost / runs:.1f}" for cost in costs)]


def scaling(runs: int, seconds: float, cpus: int) -> None:
    """A study of real work, on one core and on all: what share of the CPU time is work."""
    rows = [_scaled(f"here, {n} threads", Local(Fixed(1), n), runs, seconds) for n in (1, cpus)]
    for nodes in ([1], [1] * cpus, [cpus]):
        with cluster(*nodes) as address:
            rows.append(_scaled(f"nodes: {len(nodes)} of {nodes[0]} CPU", warm(address), runs, seconds))
    columns = ["", "s in all", "runs/s", "simulating: CPU ms per run", "all: CPU ms per run", "simulating, of all"]
    show(f"{runs} runs of {seconds:g} s, 50 Mbit/s", columns, rows)


def _scaled(name: str, executor: Executor, runs: int, seconds: float) -> list[str]:
    began = Cpu.now()
    took_s, simulating_s = simulate(executor, runs, seconds)
    ended = Cpu.now()
    all_s = ended.here - began.here + ended.nodes - began.nodes
    costs = [f"{1e3 * cpu_s / runs:.1f}" for cpu_s in (simulating_s, all_s)]
    return [name, f"{took_s:.2f}", f"{runs / took_s:.1f}", *costs, f"{100 * simulating_s / all_s:.0f} %"]


def emulated(runs: int) -> None:
    """Runs of 2 s one after the other: what each takes beside its traffic."""
    rows = []
    scenario = {**SCENARIO, "duration": "2 s", "topology": {**SCENARIO["topology"]}}
    scenario["topology"]["bottleneck"] = {"rate": "10 Mbit/s", "buffer": "1 bdp"}
    with cluster(os.cpu_count() or 1) as address:
        for name, executor in (("here", Local(Fixed(1))), ("on a node", Ray(address, jobs=1))):
            with tempfile.TemporaryDirectory() as directory:
                found = dumbbell.run(scenario, repeat=runs, directory=directory, executor=executor, jobs=1)
                took_s = found.manifest["cost"]["wall_s"]
                said = dict(found.runs["verdict"].value_counts().iter_rows())
            told = ", ".join(f"{count} {verdict}" for verdict, count in sorted(said.items()))
            rows.append([name, f"{took_s:.1f}", f"{took_s / runs - 2:.2f}", told])
    show(f"{runs} emulated runs of 2 s, one at a time", ["", "s in all", "s per run beside traffic", "verdicts"], rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tasks", type=int, default=256, help="at most 256: a study has no more")
    parser.add_argument("--runs", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=120.0)
    parser.add_argument("--emulated", type=int, default=6, help="runs; 0: none")
    options = parser.parse_args()
    cpus = len(os.sched_getaffinity(0))
    overhead(options.tasks, cpus)
    scaling(options.runs, options.seconds, cpus)
    if options.emulated:
        emulated(options.emulated)


if __name__ == "__main__":
    main()

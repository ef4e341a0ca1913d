"""Many runs of a scenario's variations: `dumbbell.sweep`."""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from dumbbell.core import function
from dumbbell.engines.names import SIMULATE
from dumbbell.engines.protocol import Event, OnEvent
from dumbbell.engines.signals import taken_over
from dumbbell.errors import Interrupted, RunFailed
from dumbbell.plan.identity import canonical
from dumbbell.records import manifest as manifests
from dumbbell.records.files import write_json
from dumbbell.scenario import Scenario, writing
from dumbbell.scenario.loading import checked, read
from dumbbell.scenario.source import dotted, lookup, show
from dumbbell.sweeps import directory as places
from dumbbell.sweeps import grid
from dumbbell.sweeps.planning import Planned, Planner
from dumbbell.sweeps.results import Sweep
from dumbbell.sweeps.seeds import Seeds

if TYPE_CHECKING:
    from dumbbell.scenario.overrides import Overrides

SHARD_RUNS: Final = 64
"""Runs in a shard. A command that is killed has at most so many to do again on each core."""


def sweep(
    scenario: str | os.PathLike[str] | Mapping[str, Any] | Scenario,
    vary: grid.Vary | None = None,
    repeat: int | None = None,
    seeds: Sequence[int] | None = None,
    threads: int | None = None,
    directory: str | os.PathLike[str] = "sweeps",
    overrides: Overrides = (),
    on_event: OnEvent | None = None,
) -> Sweep:
    """Simulate variations of a scenario, many runs at once, and keep the figures of each run.

    The same sweep again does what is not done yet, which may be nothing; with a larger `repeat` it adds runs.

    Args:
        scenario: a bundled scenario's name, a file, a dict of the same shape, or a `Scenario`.
        vary: a list of values for each key, such as `{"flows.0.cc": ["cubic", "bbr"]}`: each combination is a cell. Or
            a list of cells, dicts from key to value.
        repeat: runs of each cell (1 if neither this nor `seeds` is given), with the scenario's seed and those after it.
        seeds: of each cell's runs, instead of `repeat`.
        threads: runs at a time; as many as there are cores if not given.
        directory: where sweeps are kept; this one is `directory/<name>-<sweep_id>`.
        overrides: values for all cells, as for `dumbbell.run`.
        on_event: told of each event while the sweep goes on, for showing progress.

    Raises:
        InputError: a cell is refused; nothing was started.
        Interrupted: Ctrl-C. What is finished is kept.
    """
    on_event = on_event or _ignore
    began = time.monotonic()
    draft = read(scenario, overrides if isinstance(overrides, Mapping | str) else list(overrides))
    base = checked(draft)
    cells = grid.cells(vary or {})
    threads = threads or len(os.sched_getaffinity(0))
    planner = Planner(draft, Seeds.asked(repeat, seeds), manifests.core_version() or "none")
    plans: list[Planned] = []
    for one in planner.all(cells, threads):
        plans.append(one)
        on_event({"event": "planning", "cells": len(plans), "of": len(cells)})
    # Runs that a larger `repeat` adds come last: what is on disk stays where it is.
    repetitions = range(planner.seeds.count)
    runs = [(c, r, plan.seeds[r], plan.run_ids[r]) for r in repetitions for c, plan in enumerate(plans)]
    identity = _identity(plans, planner.seeds)
    path = Path(directory) / f"{base.name}-{identity}"
    planning_s = time.monotonic() - began
    on_event({"event": "planned", "runs": len(runs), "cells": len(cells), "directory": str(path)})
    overridden = [f"{dotted(key)}={show(lookup(draft.data, key)[1])}" for key in draft.places]
    manifest = manifests.at_start(base.name, identity, SIMULATE, draft.name if draft.text else None, overridden)
    manifest |= {
        "sweep_id": identity,
        "cells": cells,
        "repetitions": len(repetitions),
        "runs": len(runs),
        "threads": threads,
        "planning_s": round(planning_s, 3),
    }
    with places.locked(path):
        write_json(path / places.MANIFEST, manifest)
        writing.write(base, path)
        last = _simulate([plan.plan for plan in plans], runs, path, threads, on_event)
        cost = {key: last[key] for key in ("found", "failed", "cpu_s", "wall_s", "simulated_s", "packets")}
        status = "complete" if last["runs"] == last["of"] else "interrupted"
        write_json(path / places.MANIFEST, {**manifest, "status": status, "cost": cost})
    if status == "interrupted":
        raise Interrupted(
            "the sweep was interrupted",
            f"{last['runs']:,} of {last['of']:,} runs are in {path}",
            "the same command goes on from there",
        )
    return Sweep(path)


def _simulate(
    plans: list[str], runs: list[tuple[int, int, int, str]], path: Path, threads: int, on_event: OnEvent
) -> Event:
    """Carry out what is missing; the last progress event. Ctrl-C ends it."""
    last: dict[str, Any] = {}
    wanted = True

    def stop() -> None:
        nonlocal wanted
        wanted = False

    def tell(text: str) -> bool:
        last.update(json.loads(text))
        try:
            on_event(last)
        except (KeyboardInterrupt, Interrupted):
            stop()
        return wanted

    simulate_many = function("simulate_many")
    with taken_over(stop):
        try:
            simulate_many(plans, runs, path / places.SHARDS, tell, shard_runs=SHARD_RUNS, threads=threads)
        except RuntimeError as error:
            what, _, why = str(error).partition(": ")
            raise RunFailed(f"the sweep failed: {what}", why, f"what is finished is in {path}") from error
    return last


def _identity(plans: Sequence[Planned], seeds: Seeds) -> str:
    """Of all sweeps with these cells; how often they are repeated is not in it."""
    told = {"cells": [plan.run_ids[0] for plan in plans], "seeds": seeds.given}
    return hashlib.sha256(canonical(told).encode()).hexdigest()[:12]


def _ignore(event: Event) -> None:
    pass

"""Simulates networks of the yardstick, each with a congestion control, on all cores."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dumbbell.engines.protocol import BatchEngine
from dumbbell.engines.registry import engine
from dumbbell.engines.signals import taken_over
from dumbbell.errors import Interrupted, ScenarioError
from dumbbell.execute import Local, Simulations
from dumbbell.frozen import dataclass
from dumbbell.records.manifest import core_version
from dumbbell.statistics.frames import BOTTLENECK
from dumbbell.studies.directory import SHARDS
from dumbbell.studies.planning import CHUNK, MANY, Planned, Planner, may_fork, planning_pool
from dumbbell.units.mtu import MTU, frame_bytes
from dumbbell.yardstick.cases import INCUMBENT, MINE, Case
from dumbbell.yardstick.metrics import Outcome
from dumbbell.yardstick.subject import Cc

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class Job:
    """A network, and the congestion control that is scored there: that of the flow group `mine`."""

    case: Case
    cc: Cc

    @property
    def key(self) -> tuple[str, str]:
        """Network and congestion control, as one key."""
        return self.case.name, json.dumps(self.cc, sort_keys=True)


Tell = Callable[[int, int], None]
"""Called with the number of finished runs, and of all."""


def simulate(jobs: Sequence[Job], seed: int, tell: Tell) -> dict[tuple[str, str], Outcome | str]:
    """Simulates `jobs`, equal ones once. Returns the outcome of each job by its key.

    The outcome of a job that is refused or fails is a sentence that says why.

    Raises:
        ScenarioError: every network refuses its congestion control.
        Interrupted: Ctrl-C.
    """
    different = list({job.key: job for job in jobs}.values())
    planned = dict(zip((job.key for job in different), _plans(different, seed), strict=True))
    refused = {key: one for key, one in planned.items() if isinstance(one, ScenarioError)}
    if refused and len(refused) == len(planned):
        raise next(iter(refused.values()))
    plans = {key: one for key, one in planned.items() if isinstance(one, Planned)}
    return {
        **dict(zip(plans, _run(list(plans.values()), tell), strict=True)),
        **{key: one.problems[0].why or one.problems[0].what for key, one in refused.items()},
    }


def _plans(jobs: Sequence[Job], seed: int) -> list[Planned | ScenarioError]:
    local, plan = Local(), partial(_plan, seed=seed)
    with ExitStack() as stack:
        if len(jobs) < MANY or local.cores < 2 or not may_fork():
            return list(map(plan, jobs))
        pool: Executor = stack.enter_context(planning_pool(local.cores))
        return list(pool.map(plan, jobs, chunksize=CHUNK))


def _plan(job: Job, seed: int) -> Planned | ScenarioError:
    planner = Planner(job.case.draft(job.cc, seed), 1, engine("simulate"), core_version() or "none")
    try:
        return planner.plan(job.case.cell)
    except ScenarioError as error:
        return error


def _run(plans: Sequence[Planned], tell: Tell) -> Iterator[Outcome | str]:
    """Returns the outcomes in the order of `plans`."""
    wanted = True

    def stop() -> None:
        nonlocal wanted
        wanted = False

    def progress(event: Mapping[str, Any]) -> bool:
        tell(event["runs"], event["of"])
        return wanted

    local, simulator = Local(), engine("simulate")
    assert isinstance(simulator, BatchEngine), "its capabilities say that it runs batches"
    # Each plan is a cell with one repetition.
    runs = tuple((i, i, 0, plan.seed, plan.run_ids[0]) for i, plan in enumerate(plans))
    objects = tuple(dict(one for plan in plans for one in plan.objects).items())
    with tempfile.TemporaryDirectory(prefix="dumbbell-score-") as folder:
        texts = tuple(plan.plans[0] for plan in plans)
        batch = Simulations(texts, runs, Path(folder, SHARDS), local.shard_runs, objects, engine=simulator)
        with taken_over(stop):
            local.simulate(batch, progress)
        if not wanted:
            raise Interrupted("interrupted before all networks were simulated", "nothing was written")
        return iter(list(_outcomes(Path(folder), plans)))


def _outcomes(folder: Path, plans: Sequence[Planned]) -> Iterator[Outcome | str]:
    from dumbbell.studies.shards import TABLES, scan

    runs, flows, links = (scan(folder, table).sort("run", maintain_order=True).collect() for table in TABLES)
    of_flows, of_links = _by_run(flows), _by_run(links)
    for row in runs.iter_rows(named=True):
        number = row["run"]
        if row["error"] is not None:
            yield row["error"].partition("\nhint: ")[0]
        else:
            yield _outcome(row, of_flows.get(number, []), of_links.get(number, []), plans[number])


def _by_run(table: pl.DataFrame) -> dict[int, list[dict[str, Any]]]:
    found: dict[int, list[dict[str, Any]]] = {}
    for row in table.iter_rows(named=True):
        found.setdefault(row["run"], []).append(row)
    return found


def _outcome(
    run: Mapping[str, Any], flows: Sequence[dict[str, Any]], links: Sequence[Mapping[str, Any]], planned: Planned
) -> Outcome:
    known = {(one.group, one.from_, one.to): one for one in planned.entries}
    for flow in flows:
        flow |= known[flow["group"], flow["from"], flow["to"]]._asdict()
    plan = next(link for link in json.loads(planned.plans[0])["links"] if link["name"] == BOTTLENECK)
    return Outcome(
        mine=[flow for flow in flows if flow["group"] == MINE],
        incumbents=[flow for flow in flows if flow["group"] == INCUMBENT],
        rest=[flow for flow in flows if flow["group"] not in (MINE, INCUMBENT)],
        bottleneck=next(link for link in links if link["link"] == BOTTLENECK),
        duration_s=planned.duration_s,
        jain_index=run["jain_index"],
        limit_bps=_limit_bps(plan),
    )


def _limit_bps(link: Mapping[str, Any]) -> float | None:
    """The rate that a link's policer or slots let pass."""
    policer, slots = link.get("policer"), link.get("slots")
    if policer:
        return float(policer["rate_bps"])
    if slots and slots["packets"]:
        interval_s = (slots["min_interval_ns"] + slots["max_interval_ns"]) / 2e9
        return float(8 * frame_bytes(MTU) * slots["packets"] / interval_s)
    return None

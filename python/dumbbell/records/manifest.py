"""`manifest.json`: what was run, when, on what machine, and what measuring cost."""

from __future__ import annotations

import platform
import sys
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from dumbbell.core import core
from dumbbell.engines.registry import capabilities
from dumbbell.errors import RunFailed
from dumbbell.machine import machine
from dumbbell.plan import wire
from dumbbell.plan.types import Plan
from dumbbell.records.accounts import Accounts
from dumbbell.records.schema import SCHEMA

Json = Mapping[str, Any]


def at_start(name: str, run_id: str, engine: str, source: str | None, overrides: Sequence[str]) -> dict[str, Any]:
    """The manifest while the run is going on.

    Args:
        name: the scenario's name.
        run_id: hash of all that determines the run.
        engine: which engine runs it.
        source: the scenario as the user named it, a file or a bundled scenario; `None` if it came from Python.
        overrides: `key=value`, as on the command line.
    """
    return {
        "schema": SCHEMA,
        "status": "running",
        "reason": None,
        "name": name,
        "run_id": run_id,
        "engine": engine,
        "started_at": datetime.now(UTC).isoformat(timespec="milliseconds"),
        "command": sys.argv,
        "scenario_source": source,
        "overrides": list(overrides),
        "tool": {"dumbbell": tool_version(), "core": core_version(), "python": platform.python_version()},
        "machine": machine(),
    }


def at_end(manifest: Json, wall_s: float, accounts: Accounts) -> dict[str, Any]:
    """The manifest of a run that ended, after `wall_s`, from what its engine tells."""
    cost = capabilities(accounts.engine).cost
    told = cost(accounts.network, accounts.traffic, accounts.lab, accounts.probe)
    return {**manifest, "wall_s": wall_s, "algorithms": list(algorithm_entries(accounts.plan, accounts.lab)), **told}


def algorithm_entries(plan: Plan, lab: Json) -> Iterator[dict[str, Any]]:
    """Congestion controls that are not the kernel's own under their own names: what each really was.

    A simulation loads none: whatever the source is, the simulator's code of that name worked.
    """
    found = {fact["label"]: fact for fact in lab.get("algorithms", ())}
    for planned in plan.algorithms:
        fact = found.get(planned.label, {})
        yield {
            "label": planned.label,
            "source": wire.part(planned.source),
            "parameters": dict(planned.parameters),
            "source_sha256": planned.sha256,
            "registered": fact.get("registered"),
            "object_sha256": fact.get("sha256"),
            "variant": fact.get("variant"),
            "loaded": fact.get("loaded"),
        }


def tool_version() -> str:
    """Version of this package; `source` if it runs from a source tree that is not installed."""
    try:
        return version("dumbbell")
    except PackageNotFoundError:
        return "source"


def core_version() -> str | None:
    """Version of the compiled core, or `None` if it is not built."""
    try:
        return core.version()
    except RunFailed:
        return None

"""`manifest.json`: what was run, when, on what machine, and what measuring cost."""

from __future__ import annotations

import platform
import sys
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from dumbbell.core import function
from dumbbell.engines.names import SIMULATE
from dumbbell.errors import RunFailed
from dumbbell.machine import machine
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
    told = _simulated(accounts) if accounts.engine == SIMULATE else _emulated(accounts)
    return {**manifest, "wall_s": wall_s, "algorithms": list(_algorithms(accounts.plan, accounts.lab)), **told}


def _emulated(accounts: Accounts) -> dict[str, Any]:
    emulator, traffic, lab, probe = accounts.network, accounts.traffic, accounts.lab, accounts.probe
    return {
        "lab": {key: lab[key] for key in ("rootless", "build_ms", "sysctls", "offloads", "cpu")}
        | {key: lab[key] for key in ("acks", "cpus") if key in lab},
        "scheduling": emulator["scheduling"],
        "path": emulator["path"],
        "cost": {
            "unit": "share of one core",
            "emulator": _ratio(emulator["cpu_s"], emulator["wall_s"]),
            "busy_wait": _ratio(emulator["spun_s"], emulator["wall_s"]),
            "traffic": _ratio(traffic["cpu_s"], traffic["wall_s"]),
            "sampling": _ratio(traffic["sampling"]["cpu_s"], traffic["wall_s"]),
            "logging": _ratio(emulator["writer"]["cpu_s"] + traffic["writer"]["cpu_s"], emulator["wall_s"]),
            "acks": _ratio(probe["cpu_s"] + probe["writer"]["cpu_s"], probe["wall_s"]) if probe else None,
        },
    }


def _simulated(accounts: Accounts) -> dict[str, Any]:
    simulator = accounts.network
    return {
        "cost": {
            "simulated_s": simulator["simulated_s"],
            "wall_s": simulator["wall_s"],
            "cpu_s": simulator["cpu_s"],
            "times_real_time": _ratio(simulator["simulated_s"], simulator["wall_s"]),
        },
    }


def _algorithms(plan: Json, lab: Json) -> Iterator[dict[str, Any]]:
    """Congestion controls that are not the kernel's own under their own names: what each really was.

    In a simulation none was loaded, and whatever its source is, the simulator's own code of that name worked.
    """
    found = {fact["label"]: fact for fact in lab.get("algorithms", ())}
    for planned in plan.get("algorithms", ()):
        fact = found.get(planned["label"], {})
        yield {
            "label": planned["label"],
            "source": planned["source"],
            "parameters": planned["parameters"],
            "source_sha256": planned["sha256"],
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
        return str(function("version")())
    except RunFailed:
        return None


def _ratio(part: float, whole: float) -> float | None:
    return part / whole if whole else None

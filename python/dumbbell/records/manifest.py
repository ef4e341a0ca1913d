"""`manifest.json`: what was run, when, on what machine, and what measuring cost."""

from __future__ import annotations

import platform
import sys
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from dumbbell.records.machine import machine
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


def at_end(
    manifest: Json, plan: Json, wall_s: float, emulator: Json, traffic: Json, lab: Json, probe: Json | None = None
) -> dict[str, Any]:
    """The manifest of a run that ended, from its plan and what its processes wrote; `probe` if it recorded ACKs."""
    return {
        **manifest,
        "wall_s": wall_s,
        "lab": {key: lab[key] for key in ("rootless", "build_ms", "sysctls", "offloads", "cpu")}
        | ({"acks": lab["acks"]} if "acks" in lab else {}),
        "scheduling": emulator["scheduling"],
        "path": emulator["path"],
        "algorithms": list(_algorithms(plan, lab)),
        "cost": {
            "unit": "share of one core",
            "emulator": _share(emulator["cpu_s"], emulator["wall_s"]),
            "traffic": _share(traffic["cpu_s"], traffic["wall_s"]),
            "sampling": _share(traffic["sampling"]["cpu_s"], traffic["wall_s"]),
            "logging": _share(emulator["writer"]["cpu_s"] + traffic["writer"]["cpu_s"], emulator["wall_s"]),
            "acks": _share(probe["cpu_s"] + probe["writer"]["cpu_s"], probe["wall_s"]) if probe else None,
        },
    }


def _algorithms(plan: Json, lab: Json) -> Iterator[dict[str, Any]]:
    """Congestion controls that are not the kernel's own under their own names: what each really was."""
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
        from dumbbell import _core
    except ImportError:
        return None
    return str(_core.version())


def _share(cpu_s: float, wall_s: float) -> float | None:
    return cpu_s / wall_s if wall_s else None

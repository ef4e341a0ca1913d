"""The identity of runs."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from dumbbell.plan.types import Plan
from dumbbell.plan.wire import document


def run_id(plan: Plan, engine: str, version: str) -> str:
    """12 hex digits of the SHA-256 of the plan, the engine's name and the core's version.

    The plan is hashed as canonical JSON (sorted keys, no spaces): neither the file's layout nor defaults written out
    change the id.
    """
    return Identity(plan, engine, version).run_id(plan.seed)


class Identity:
    """The common part of runs of a plan that differ by their seeds alone: spelled and hashed once."""

    def __init__(self, plan: Plan, engine: str, version: str) -> None:
        self._plan = canonical({**document(plan), "seed": _SEED}).split(canonical(_SEED))
        # The text is the canonical JSON of {"engine": ..., "plan": ..., "version": ...}.
        before = f'{{"engine":{canonical(engine)},"plan":{self._plan[0]}'
        self._hash = hashlib.sha256(before.encode())
        self._after = f'{self._plan[1]},"version":{canonical(version)}}}'

    def run_id(self, seed: int) -> str:
        """The `run_id` of the plan with this seed."""
        found = self._hash.copy()
        found.update(f"{seed}{self._after}".encode())
        return found.hexdigest()[:12]

    def plan(self, seed: int) -> str:
        """The plan with this seed, as canonical JSON."""
        return str(seed).join(self._plan)


_SEED = "\0seed"
"""A placeholder for the seed; no name in a plan has a NUL."""


def canonical(value: Any) -> str:
    """JSON with sorted keys and no spaces."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)

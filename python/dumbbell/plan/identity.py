"""The identity of runs."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from itertools import chain, zip_longest
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
        self._engine = hashlib.sha256(f'{{"engine":{canonical(engine)},"plan":'.encode())
        self._version = f',"version":{canonical(version)}}}'
        self._hash = self._engine.copy()
        self._hash.update(self._plan[0].encode())
        self._after = f"{self._plan[1]}{self._version}"

    def run_id(self, seed: int) -> str:
        """The `run_id` of the plan with this seed."""
        found = self._hash.copy()
        found.update(f"{seed}{self._after}".encode())
        return found.hexdigest()[:12]

    def plan(self, seed: int) -> str:
        """The plan with this seed, as canonical JSON."""
        return str(seed).join(self._plan)

    def moved(self, seed: int, starts: Sequence[int]) -> tuple[str, str]:
        """The plan with this seed, in which flows start at these times (ns), and its `run_id`."""
        between = _START.split(self.plan(seed))
        text = "".join(chain.from_iterable(zip_longest(between, map(str, starts), fillvalue="")))
        found = self._engine.copy()
        found.update(f"{text}{self._version}".encode())
        return text, found.hexdigest()[:12]


_START = re.compile(r'(?<="start_ns":)\d+')
"""The start of a flow in canonical JSON. In a text, the quotes would have backslashes."""
_SEED = "\0seed"
"""A placeholder for the seed; no name in a plan has a NUL."""


def canonical(value: Any) -> str:
    """JSON with sorted keys and no spaces."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)

"""What makes two runs the same run."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any


def run_id(plan: Mapping[str, Any], engine: str, version: str) -> str:
    """12 hex digits of the SHA-256 of the plan, the engine's name and the core's version.

    The plan is hashed as canonical JSON (sorted keys, no spaces), so neither the file's layout nor defaults written out
    change the id.
    """
    identity = {"plan": plan, "engine": engine, "version": version}
    text = json.dumps(identity, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()[:12]

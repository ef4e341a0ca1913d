"""What the compiled core knows and does about BPF congestion controls, typed."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from dumbbell.cc.parameters import Parameter, Parameters


@cache
def bundled() -> dict[str, dict[str, Any]]:
    """What the core says about each algorithm that comes with dumbbell, by label; empty if it is not built."""
    try:
        from dumbbell import _core

        told = json.loads(_core.cc_bundled())
    except (ImportError, AttributeError):
        return {}
    return {one["label"]: one for one in told}


def parameters_of(label: str | None) -> Parameters | None:
    """The parameters of one that comes with dumbbell; `None` of others, and if the core is not built."""
    told = bundled().get(label or "")
    if told is None:
        return None
    return Parameters(tuple(_parameter(one) for one in told["parameters"]))


def sha256_of(label: str) -> str | None:
    """Of the source of one that comes with dumbbell; `None` if the core is not built."""
    told = bundled().get(label)
    return None if told is None else str(told["sha256"])


def _parameter(told: dict[str, Any]) -> Parameter:
    return Parameter(**told)

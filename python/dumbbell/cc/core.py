"""Typed functions of the compiled core for BPF congestion controls.

Its functions take and return JSON. A failure there is a `RunFailed` here, with what, why and a hint.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

from dumbbell.cc.answers import (
    Built,
    Bundled,
    Checked,
    Contents,
    Entry,
    Loaded,
    ParameterFacts,
    Privileges,
    Registered,
)
from dumbbell.cc.parameters import Parameter, Parameters, Values
from dumbbell.core import core
from dumbbell.errors import RunFailed


def algorithm(label: str, source: dict[str, str], parameters: Values | None = None) -> Entry:
    """An algorithm that no plan has."""
    return {"label": label, "source": source, "parameters": dict(parameters or {}), "sha256": None}


@cache
def bundled() -> dict[str, Bundled]:
    """The core's facts about each algorithm that comes with dumbbell, by label; empty if the core is not built."""
    try:
        told: list[Bundled] = _ask(core.cc_bundled())
    except RunFailed:
        return {}
    return {one["label"]: one for one in told}


@cache
def parameters_of(label: str | None) -> Parameters | None:
    """The parameters of one that comes with dumbbell; `None` of others, and if the core is not built."""
    if label is None:
        return None  # Asking the core takes a moment.
    told = bundled().get(label)
    if told is None:
        return None
    return parameters(told)


def parameters(contents: Bundled | Contents) -> Parameters:
    """The parameters in the core's facts about an algorithm."""
    return Parameters(tuple(map(_parameter, contents["parameters"])))


def _parameter(facts: ParameterFacts) -> Parameter:
    limits = facts.get("limits")
    bounds = None if limits is None else (limits[0], limits[1])
    return Parameter(facts["name"], facts["bits"], facts["signed"], facts["default"], facts["doc"], bounds)


def sha256_of(label: str) -> str | None:
    """The SHA-256 of a bundled algorithm's source; `None` if the core is not built."""
    told = bundled().get(label)
    return None if told is None else str(told["sha256"])


def headers(directory: Path) -> None:
    """Write the headers that programs may include to `directory`."""
    _ask(core.cc_headers(directory))


def build(source: Path, out: Path) -> Built:
    """Compile a source to an object."""
    told: Built = _ask(core.cc_build(source, out))
    return told


def inspect(algorithm: Entry) -> Contents:
    """The contents of an object. Loads nothing."""
    told: Contents = _ask(core.cc_inspect(json.dumps(algorithm)))
    return told


def check(algorithm: Entry) -> Checked:
    """Let the kernel's verifier read it. A failure if it does not like it."""
    told: Checked = _ask(core.cc_check(json.dumps(algorithm)))
    return told


def load(algorithm: Entry) -> Loaded:
    """Register it to stay."""
    told: Loaded = _ask(core.cc_load(json.dumps(algorithm)))
    return told


def unload(name: str) -> list[str]:
    """Take away what was registered to stay, by label or registered name: the names that went."""
    return [str(one) for one in _ask(core.cc_unload(name))["unloaded"]]


def registered() -> Registered:
    """All congestion controls."""
    told: Registered = _ask(core.cc_list())
    return told


def can_load() -> Privileges:
    """Whether this process may load them."""
    told: Privileges = _ask(core.cc_can_load())
    return told


def why_not(privileges: Privileges) -> str:
    """Why this process may not load any, from what `can_load` tells."""
    failure = privileges["failure"]
    return (failure and failure["why"]) or f"this process lacks {' and '.join(privileges['missing'])}"


def _ask(text: str) -> Any:
    answer = json.loads(text)
    failure = answer.get("failure") if isinstance(answer, dict) else None
    if failure is None or "ok" in answer:
        return answer
    raise RunFailed(failure["what"], failure["why"], failure["hint"])

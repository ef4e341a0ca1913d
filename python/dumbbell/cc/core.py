"""Typed functions of the compiled core for BPF congestion controls.

Its functions take and return JSON. A failure there is a `RunFailed` here, with what, why and a hint.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from dumbbell.cc.parameters import Parameter, Parameters, Value
from dumbbell.core import core
from dumbbell.errors import InputError, RunFailed

Algorithm = Mapping[str, Any]
"""An entry of the plan's `algorithms`; the path of an object is absolute, or relative to the working directory."""


def algorithm(label: str, source: Mapping[str, str], parameters: Mapping[str, Value] | None = None) -> Algorithm:
    """An algorithm that no plan has."""
    return {"label": label, "source": source, "parameters": dict(parameters or {}), "sha256": None}


@cache
def bundled() -> dict[str, dict[str, Any]]:
    """The core's facts about each algorithm that comes with dumbbell, by label; empty if the core is not built."""
    try:
        told: list[dict[str, Any]] = _ask(core.cc_bundled())
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


def parameters(told: Mapping[str, Any]) -> Parameters:
    """The parameters in the core's facts about an algorithm."""
    return Parameters(tuple(_parameter(**one) for one in told["parameters"]))


def _parameter(limits: list[int] | None = None, **told: Any) -> Parameter:
    return Parameter(**told, limits=None if limits is None else (limits[0], limits[1]))


def sha256_of(label: str) -> str | None:
    """The SHA-256 of a bundled algorithm's source; `None` if the core is not built."""
    told = bundled().get(label)
    return None if told is None else str(told["sha256"])


def headers(directory: Path) -> None:
    """Write the headers that programs may include to `directory`."""
    try:
        str(directory).encode()
    except UnicodeEncodeError:
        raise InputError("the folder's name is not UTF-8", "", "choose another folder") from None
    _ask(core.cc_headers(directory))


def build(source: Path, out: Path) -> dict[str, Any]:
    """Compile: `ok`, `compiler`, `diagnostics`, `text`."""
    return _table(_ask(core.cc_build(source, out)))


def inspect(algorithm: Algorithm) -> dict[str, Any]:
    """The contents of an object: `label`, `licence`, `variant`, `operations`, `parameters`, `name`. Loads nothing."""
    return _table(_ask(core.cc_inspect(json.dumps(algorithm))))


def check(algorithm: Algorithm) -> dict[str, Any]:
    """Let the kernel's verifier read it: `label`, `variant`, `programs`. A failure if it does not like it."""
    return _table(_ask(core.cc_check(json.dumps(algorithm))))


def load(algorithm: Algorithm) -> dict[str, Any]:
    """Register it to stay: `name`, `label`, `parameters`, `sha256`, `loaded_at`, `already`, `mounted`."""
    return _table(_ask(core.cc_load(json.dumps(algorithm))))


def unload(name: str) -> list[str]:
    """Take away what was registered to stay, by label or registered name: the names that went."""
    return [str(one) for one in _table(_ask(core.cc_unload(name)))["unloaded"]]


def registered() -> dict[str, Any]:
    """All congestion controls: `bundled`, `stay`, `runs`, `kernel`."""
    return _table(_ask(core.cc_list()))


def can_load() -> dict[str, Any]:
    """The answer whether this process may load them: `ok`, `missing` (capabilities), `failure`."""
    return _table(_ask(core.cc_can_load()))


def why_not(told: Mapping[str, Any]) -> str:
    """Why this process may not load any, from what `can_load` tells."""
    why = (told["failure"] or {}).get("why") or f"this process lacks {' and '.join(told['missing'])}"
    return str(why)


def _ask(told: str) -> Any:
    answer = json.loads(told)
    failure = answer.get("failure") if isinstance(answer, dict) else None
    if failure is None or "ok" in answer:
        return answer
    raise RunFailed(failure["what"], failure["why"], failure["hint"])


def _table(answer: Any) -> dict[str, Any]:
    assert isinstance(answer, dict), answer
    return answer

"""The output of `dumbbell cc trace`. This module is not a verb."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from json import dumps
from typing import Any, Final

from dumbbell.cc.algorithm import program_in
from dumbbell.cc.parameters import Values
from dumbbell.cli.output import say
from dumbbell.errors import RunFailed
from dumbbell.pipeline.traced import Wanted, trace
from dumbbell.scenario import load
from dumbbell.scenario.model import Scenario
from dumbbell.scenario.resolve import resolve
from dumbbell.scenario.resolve.labels import Labelled
from dumbbell.yardstick.cases import only
from dumbbell.yardstick.subject import subject

_INFINITE: Final = 0x7FFF_FFFF
"""TCP_INFINITE_SSTHRESH."""


def scenario_of(file: str, values: Values, scenario: str, case: str | None) -> Scenario:
    """The scenario that is simulated: a network of the yardstick; or a user's, of which the first flow gets the program
    unless one has it. Raises `InputError`."""
    own = subject(file, values)
    if case is not None:
        return only(case).scenario(own.cc, 1)
    found, sha256 = load(scenario), program_in(file).sha256
    programs = (one.algorithm.bpf for one in resolve(found).labels.values() if isinstance(one, Labelled))
    if not values and any(one is not None and one.program.sha256 == sha256 for one in programs):
        return found
    return load(scenario, {"flows.0.cc": own.cc})


def run(scenario: Scenario, wanted: Wanted, json: bool) -> None:
    """Print the calls. Raises `RunFailed` if the program did what no kernel would let it do."""
    found = trace(scenario, wanted)
    for call in found.calls:
        print(dumps(_as_json(call))) if json else say(_text(call))
    if found.more:
        print(f"and more: --limit {10 * wanted.most} shows ten times as many", file=sys.stderr)
    elif not found.calls:
        print("no such calls", file=sys.stderr)
    if found.failure is not None:
        raise RunFailed(*found.failure.split(": ", 1))


def _as_json(call: Mapping[str, Any]) -> dict[str, object]:
    return {
        **call,
        "arguments": dict(call["arguments"]),
        "read": dict(call["read"]),
        "set": {name: [before, after] for name, before, after in call["set"]},
    }


def _text(call: Mapping[str, Any]) -> str:
    arguments = "".join(f" {name}={value}" for name, value in call["arguments"])
    lines = [f"{call['time_ns'] / 1e9:.6f}  {call['flow']}  {call['call']}{arguments}"]
    if call["read"]:
        lines.append("    read   " + ", ".join(f"{name} {_value(name, value)}" for name, value in call["read"]))
    if call["set"]:
        lines.append("    set    " + ", ".join(map(_change, call["set"])))
    if call["returns"] is not None:
        lines.append(f"    gives  {call['returns']}")
    if call["fault"] is not None:
        lines.append(f"    stops  {call['fault']}")
    return "\n".join(lines)


def _change(change: Sequence[Any]) -> str:
    name, before, after = change
    same = "" if before != after else ", as before"
    return f"{name} {_value(name, before)} -> {_value(name, after)}{same}"


def _value(name: str, value: int) -> str:
    return "infinite" if name == "snd_ssthresh" and value >= _INFINITE else str(value)

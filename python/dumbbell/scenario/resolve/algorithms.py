"""Checks of congestion controls that need more than one value."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from dumbbell.cc.core import parameters_of
from dumbbell.cc.parameters import misfits
from dumbbell.scenario.model import Scenario
from dumbbell.scenario.resolve.labels import Label, Labelled
from dumbbell.scenario.source import Finding, Key
from dumbbell.scenario.traffic.algorithms import Algorithm


def check_algorithms(
    scenario: Scenario, used: Mapping[Key, Algorithm], labels: Mapping[Key, Label]
) -> Iterator[Finding]:
    """Problems of the congestion controls that can be found on any machine."""
    for at, algorithm in used.items():
        yield from _parameters((*at, "parameters"), algorithm)
        yield from _ecn(at, scenario, algorithm)
    yield from _labels(labels)


def _parameters(at: Key, algorithm: Algorithm) -> Iterator[Finding]:
    known = algorithm.file.program.parameters if algorithm.file else parameters_of(algorithm.bundled)
    if known is None:
        return  # The kernel's own; or the core is not built, and no run will start.
    for one in misfits(str(algorithm), known, algorithm.parameters):
        yield Finding((*at, one.name), one.wrong, one.expected, one.hint)


def _ecn(at: Key, scenario: Scenario, algorithm: Algorithm) -> Iterator[Finding]:
    i = at[1]
    flow = scenario.flows[int(i)]
    if flow.negotiates_ecn is None:
        return
    if algorithm.bundled in ("bbr2", "bbr3") and algorithm.parameters.get("ecn") is True and not flow.negotiates_ecn:
        what = f"{algorithm} should answer marks, but the flow does not negotiate ECN"
        yield Finding((*at, "parameters", "ecn"), what, "ecn = true on the flow, too", "add ecn = true")
    if algorithm.needs_ecn and "ecn" in flow.model_fields_set and not flow.negotiates_ecn:
        yield Finding(("flows", i, "ecn"), f"{algorithm} always negotiates ECN", "true", "leave ecn out")


def _labels(labels: Mapping[Key, Label]) -> Iterator[Finding]:
    seen: dict[str, Labelled] = {}
    for at, found in labels.items():
        if isinstance(found, Labelled):
            first = seen.setdefault(found.label, found)
            if _what(first) != _what(found):
                hint = "give one of the files another name"
                yield Finding(at, f"two programs would be called {found.label}", "a name each", hint)


def _what(found: Labelled) -> tuple[object, ...]:
    """Key by which two algorithms of one label are the same."""
    program = found.algorithm.file.program if found.algorithm.file is not None else None
    return found.algorithm.bundled, found.algorithm.own, found.file, program, found.algorithm.parameters

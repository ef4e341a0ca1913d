"""What takes more than one value to judge about congestion controls."""

from __future__ import annotations

from collections.abc import Iterator

from dumbbell.cc.core import parameters_of
from dumbbell.cc.parameters import Parameter, Parameters, Value, written
from dumbbell.scenario.algorithms import Algorithm, Labelled, labelled, used
from dumbbell.scenario.flows import TcpFlow
from dumbbell.scenario.model import Scenario
from dumbbell.scenario.source import Finding, Key

_TOLD = 12
"""Of so many parameters each is told with what it is; of more, the names alone."""


def check_algorithms(scenario: Scenario) -> Iterator[Finding]:
    """What is wrong with the flows' congestion controls, as far as can be told on any machine."""
    for i, algorithm in used(scenario):
        yield from _parameters(("flows", i, "cc", "parameters"), algorithm)
        yield from _ecn(i, scenario, algorithm)
    yield from _labels(scenario)


def _parameters(at: Key, algorithm: Algorithm) -> Iterator[Finding]:
    known = algorithm.bpf.program.parameters if algorithm.bpf else parameters_of(algorithm.bundled)
    if known is None:
        return  # The kernel's own; or the core is not built, and no run will start.
    for name, value in algorithm.parameters.items():
        parameter = known.find(name)
        if parameter is not None:
            yield from _value((*at, name), parameter, value)
        elif known.complete or name.startswith("db_"):
            yield _unknown((*at, name), algorithm, known)


def _value(at: Key, parameter: Parameter, value: Value) -> Iterator[Finding]:
    expected = parameter.misfit(value)
    if expected:
        example = parameter.bounds[1] if parameter.default is None else parameter.default
        hint = f"{parameter.doc}; {_default(parameter)}" if parameter.doc else f"write {written(example)}"
        yield Finding(at, "does not fit", expected, hint)


def _unknown(at: Key, algorithm: Algorithm, known: Parameters) -> Finding:
    name = str(at[-1])
    if not known.known:
        hint = "declare it: const volatile __u32 " + name + " = 1; /* what it is */"
        return Finding(at, f"{algorithm} has no parameters", "no parameters", hint if algorithm.bpf else "")
    close = known.closest(name)
    if len(known.known) <= _TOLD:
        expected = "one of\n" + "\n".join(f"  {describe(parameter)}" for parameter in known.known)
        hint = f"did you mean {close.name}?" if close else ""
    else:
        expected = f"one of {', '.join(parameter.name for parameter in known.known)}"
        hint = f"did you mean {describe(close)}?" if close else f"what each is: dumbbell cc list {algorithm}"
    return Finding(at, f"{algorithm} has no such parameter", expected, hint)


def describe(parameter: Parameter) -> str:
    """`beta_keep (u32, 180 by default): what it is`."""
    return f"{parameter.name} ({parameter.type}, {_default(parameter)})" + (
        f": {parameter.doc}" if parameter.doc else ""
    )


def _default(parameter: Parameter) -> str:
    return "see its source" if parameter.default is None else f"{written(parameter.default)} by default"


def _ecn(i: int, scenario: Scenario, algorithm: Algorithm) -> Iterator[Finding]:
    flow = scenario.flows[i]
    if isinstance(flow, TcpFlow) and algorithm.needs_ecn and "ecn" in flow.model_fields_set and not flow.ecn:
        yield Finding(("flows", i, "ecn"), f"{algorithm} always negotiates ECN", "true", "leave ecn out")


def _labels(scenario: Scenario) -> Iterator[Finding]:
    seen: dict[str, Labelled] = {}
    for i, found in labelled(scenario).items():
        if isinstance(found, Labelled):
            first = seen.setdefault(found.label, found)
            if (first.file, first.algorithm.parameters) != (found.file, found.algorithm.parameters):
                hint = "give one of the files another name"
                yield Finding(("flows", i, "cc"), f"two programs would be called {found.label}", "a name each", hint)

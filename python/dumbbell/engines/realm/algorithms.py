"""Congestion controls of an emulated run: whether this machine can give them, and the user's own, compiled."""

from __future__ import annotations

import socket
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain
from pathlib import Path

from dumbbell import outputs
from dumbbell.cc import core
from dumbbell.cc.bundled import label_of_file
from dumbbell.cc.compile import compiled
from dumbbell.cc.parameters import Parameters, Values, spelled, written
from dumbbell.cc.source import SUFFIXES, read
from dumbbell.command import as_root
from dumbbell.errors import Problem, RunFailed
from dumbbell.plan import wire
from dumbbell.plan.algorithms import available, entries, lacking, own
from dumbbell.plan.types import ObjectSource, Plan
from dumbbell.scenario.model import Scenario
from dumbbell.scenario.resolve import resolve
from dumbbell.scenario.resolve.labels import Labelled
from dumbbell.scenario.source import Finding, Key, dotted


def check(scenario: Scenario) -> Iterator[Problem]:
    """The problems of this machine with the algorithms that a scenario uses, and with the record of every ACK."""
    yield from lacking(scenario, {*available(), *filter(has_algorithm, set(own(scenario).values()))})
    seen = set()
    for at, found in resolve(scenario).labels.items():
        if isinstance(found, Labelled) and found.algorithm.own is None and found.label not in seen:
            seen.add(found.label)
            if found.algorithm.linked is not None:
                yield scenario.source.problem(_linked(at, found.algorithm.linked.name))
                continue
            try:
                yield from _check(scenario, at, found)
            except RunFailed as error:
                yield Problem.at(scenario.source.place(at), error.what, error.why, error.hint, dotted(at))
    if scenario.record.acks is True and not (told := core.can_load())["ok"]:
        key = ("record", "acks")
        hint = 'run as root, or write acks = "auto": every ACK where that is allowed, and samples elsewhere'
        finding = Finding(key, "this user may not load BPF programs", "", hint)
        yield replace(scenario.source.problem(finding), why=core.why_not(told))


def _linked(at: Key, name: str) -> Finding:
    wrong = f"{name} becomes part of a kernel in virtual time, and this machine's kernel cannot be changed"
    hint = f'run it with --engine virtual; a BPF program can be loaded here: cc = {{ bpf = "{name}" }}'
    return Finding(at, wrong, "a BPF program, or the kernel's", hint)


def _check(scenario: Scenario, at: Key, labelled: Labelled) -> Iterator[Problem]:
    """Compile it if need be, compare its parameters with the scenario's, and see whether it can be loaded, or is."""
    (entry,) = entries([labelled])
    with tempfile.TemporaryDirectory(prefix="dumbbell-cc-") as folder:
        if labelled.algorithm.bpf is not None:
            assert isinstance(entry.source, ObjectSource)
            out = Path(folder, Path(entry.source.path).name)
            out.write_bytes(compiled(labelled.algorithm.bpf.program, file=_name(scenario, labelled)).object)
            entry = replace(entry, source=ObjectSource(path=str(out)))
        told = core.inspect(wire.part(entry))
        allowed = core.can_load()
        if allowed["ok"] and labelled.algorithm.bpf is not None:
            core.check(wire.part(entry))  # Nothing starts with a program that the verifier refuses.
    if allowed["ok"] or told["name"] in available():
        return
    why = "\n".join([core.why_not(allowed), *_otherwise(labelled, core.parameters(told))])
    load = as_root("cc", "load", *_as_arguments(scenario, labelled))
    also = "run it with --engine simulate; or " if labelled.algorithm.bundled is not None else ""
    hint = f"{also}run as root, or load it once so that every user's runs can use it: {load}"
    wrong = f"{labelled.label}: this user may not load BPF programs"
    yield Problem.at(scenario.source.place(at), wrong, why, hint, dotted(at))


def _otherwise(labelled: Labelled, known: Parameters) -> Iterator[str]:
    """The differences between this run's program and one that is loaded to stay under the same name."""

    def differing(values: Values) -> Values:
        return {key: value for key, value in values.items() if value != getattr(known.find(key), "default", None)}

    file = labelled.algorithm.bpf
    label = label_of_file(file.program.stem) if file is not None else str(labelled.algorithm)
    wanted = differing(labelled.algorithm.parameters)
    for one in core.registered()["stay"]:
        if one["label"] == label:
            loaded = differing(one["parameters"])
            other = f"with {spelled(loaded)}, not {spelled(wanted)}" if loaded != wanted else "another program"
            yield f"{label} is loaded to stay, but {other}"


def _as_arguments(scenario: Scenario, labelled: Labelled) -> list[str]:
    sets = [("--set", f"{key}={written(value)}") for key, value in sorted(labelled.algorithm.parameters.items())]
    return [_name(scenario, labelled), *chain.from_iterable(sets)]


def _name(scenario: Scenario, labelled: Labelled) -> str:
    """The algorithm's name on the command line."""
    file = labelled.algorithm.bpf
    return str(scenario.source.folder / file.name) if file is not None else str(labelled.algorithm)


def has_algorithm(name: str) -> bool:
    """True if a socket can use congestion control `name` in a lab of ours.

    Asks the kernel, which for root also loads the module. An algorithm that exists but is reserved for administrators
    (EPERM) counts: a lab is an administrator inside its network namespace.
    """
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        try:
            probe.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, name.encode())
        except PermissionError:
            return True
        except OSError:
            return False
    return True


def prepare(plan: Plan, directory: Path) -> None:
    """Compile the user's programs, whose sources lie in a run's `directory`, into the objects that the plan names.

    Raises:
        RunFailed: with the compiler's errors.
    """
    source, compiled_one = SUFFIXES
    for algorithm in plan.algorithms:
        if isinstance(algorithm.source, ObjectSource):
            out = directory / algorithm.source.path
            if not out.exists():
                file = out.with_name(out.name.removesuffix(compiled_one) + source)
                outputs.write(out, compiled(read(file)).object)

"""Labels of congestion controls in flows, plan and records."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from itertools import count

from dumbbell.cc.bundled import BUNDLED, label_of_file
from dumbbell.cc.parameters import Value, written
from dumbbell.cc.source import Program
from dumbbell.frozen import dataclass
from dumbbell.scenario.source import Key
from dumbbell.scenario.traffic.algorithms import Algorithm


@dataclass(frozen=True)
class Labelled:
    """The name in flows and records of a congestion control that is not just the kernel's under its own name."""

    label: str
    algorithm: Algorithm
    file: str = ""
    """The name of a user's program's copy in the run's directory."""


Label = str | Labelled
"""The kernel's own name, or what it is called here."""


def labelled(algorithms: Mapping[Key, Algorithm]) -> dict[Key, Label]:
    """Place that names a congestion control -> its label.

    One that is used with several sets of parameters has several labels, which tell the parameters that differ.
    """
    stems = _stems(algorithms.values())
    names = {at: _base(algorithm, algorithms, stems) for at, algorithm in algorithms.items()}
    sets: dict[tuple[str, str], list[dict[str, Value]]] = {}
    for at, algorithm in algorithms.items():
        alike = sets.setdefault(names[at], [])
        if algorithm.parameters not in alike:
            alike.append(algorithm.parameters)
    found: dict[Key, Label] = {}
    for at, algorithm in algorithms.items():
        base, file = names[at]
        label = base + _differing(algorithm.parameters, sets[names[at]])
        found[at] = label if algorithm.own == label else Labelled(label, algorithm, file)
    return found


def _stems(algorithms: Iterable[Algorithm]) -> dict[Program, str]:
    """Labels of the user's programs: the file's stem, with a number if another program has it.

    The labels are in the order of the flows, and never the stem of another file: `calm-2` may be one.
    """
    programs = dict.fromkeys(one.file.program for one in algorithms if one.file is not None)
    taken = {program.stem for program in programs}
    stems: dict[Program, str] = {}
    for program in programs:
        stem = program.stem
        if stem in stems.values():
            stem = next(name for n in count(2) if (name := f"{stem}-{n}") not in taken)
        taken.add(stem)
        stems[program] = stem
    return stems


def _base(algorithm: Algorithm, among: Mapping[Key, Algorithm], stems: dict[Program, str]) -> tuple[str, str]:
    """Its label without parameters, and the name of its copy."""
    if algorithm.file is None:
        return (f"{algorithm.kernel} (kernel)" if algorithm.kernel in BUNDLED else str(algorithm)), ""
    program = algorithm.file.program
    stem = stems[program]
    taken = any(other.own == stem for other in among.values())
    return f"{stem} (file)" if taken else label_of_file(stem), stem + program.suffix


def _differing(parameters: dict[str, Value], alike: list[dict[str, Value]]) -> str:
    shown = {key: value for key, value in parameters.items() if any(_other(key, value, table) for table in alike)}
    texts = [f"{key}={written(value)}" for key, value in sorted(shown.items())]
    return f" ({', '.join(texts)})" if texts else ""


def _other(key: str, value: Value, table: dict[str, Value]) -> bool:
    return key not in table or table[key] != value

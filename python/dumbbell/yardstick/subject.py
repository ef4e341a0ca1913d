"""The congestion controls that are scored, as the command line names them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dumbbell.cc.algorithm import is_file, label_of, program_in
from dumbbell.cc.compile import compiled
from dumbbell.cc.parameters import Values, spelled
from dumbbell.frozen import dataclass

Cc = str | Mapping[str, Any]
"""A congestion control as a scenario names it."""


@dataclass(frozen=True)
class Subject:
    """A congestion control that is scored."""

    label: str
    """Its name in tables."""
    cc: Cc

    @property
    def stem(self) -> str:
        """Its name as a file's."""
        return re.sub(r"[^A-Za-z0-9._-]+", "-", self.label).strip("-")


def is_name(subject: Subject) -> bool:
    """Returns true if the subject is an algorithm of the simulator, false if it is a program in a file."""
    return "name" in subject.cc if isinstance(subject.cc, Mapping) else not Path(subject.cc).is_absolute()


def subject(name: str, values: Values) -> Subject:
    """Returns the program in the file `name`, or the simulator's algorithm of that name, with parameters.

    Raises:
        InputError: there is no such file.
        RunFailed: the program does not compile.
    """
    label = f"{label_of(name)} ({spelled(values)})" if values else label_of(name)
    if not is_file(name):
        return Subject(label, {"name": name, "parameters": dict(values)} if values else name)
    # Its errors are those of the program, not of a network.
    compiled(program_in(name), file=name)
    path = str(Path(name).absolute())
    return Subject(label, {"bpf": path, "parameters": dict(values)} if values else path)

"""Networks of scenarios as files of other programs."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from dumbbell.frozen import dataclass
from dumbbell.labs.build import LabScenario
from dumbbell.labs.exports.containerlab import containerlab
from dumbbell.labs.exports.miniedit import miniedit
from dumbbell.labs.exports.program import program
from dumbbell.plan.expand import expand
from dumbbell.plan.wire import document

Written = tuple[str, list[str]]
"""A file's text, and a sentence for each kind of thing that it cannot say."""


@dataclass(frozen=True)
class Format:
    """A format: the end of its files' names, whose it is, and what writes it. Writing raises `InputError`."""

    end: str
    of: str
    write: Callable[[LabScenario], Written]


def _planned(write: Callable[[Mapping[str, Any]], Written]) -> Callable[[LabScenario], Written]:
    return lambda scenario: write(document(expand(scenario)))


FORMATS: Final[Mapping[str, Format]] = {
    "miniedit": Format(".mn", "Mininet's editor", _planned(miniedit)),
    "containerlab": Format(".clab.yml", "containerlab", _planned(containerlab)),
    "python": Format(".py", "dumbbell's Lab", program),
}
"""By the name of the format."""


def of_name(file: str) -> str:
    """The format of files that are called so; MiniEdit's of others."""
    return next((name for name, one in FORMATS.items() if file.endswith(one.end)), "miniedit")

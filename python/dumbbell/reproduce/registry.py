"""The published studies, by key."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from importlib import import_module
from typing import Final

from dumbbell.errors import InputError
from dumbbell.reproduce.model import Part, Reproduction

MODULES: Final = {
    "bernardi-2020": "bernardi",
    "buffa-2020": "buffa",
    "rincao-2021": "rincao",
    "aulbach-2020": "aulbach",
    "slides-2017": "slides",
}
"""Key -> module of this package, with a constant `REPRODUCTION`."""


def reproduction(key: str) -> Reproduction:
    """Raises `InputError` if there is none."""
    if key not in MODULES:
        near = difflib.get_close_matches(key, MODULES, 1)
        hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(MODULES)}"
        raise InputError(f"no published study {key!r}", hint=hint)
    found: Reproduction = import_module(f"dumbbell.reproduce.{MODULES[key]}").REPRODUCTION
    return found


def chosen(study: Reproduction, names: Sequence[str]) -> list[Part]:
    """The parts of these names, in the study's order; all but variants if none is named. Raises `InputError`."""
    known = {part.name: part for part in study.parts}
    for name in names:
        if name not in known:
            why = f"its parts are {', '.join(known)}"
            raise InputError(f"{study.key} has no part {name!r}", why, f"dumbbell reproduce {study.key} --list")
    return [part for part in study.parts if (part.name in names if names else part.variant_of is None)]

"""The published studies, by key."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Final

from dumbbell.errors import InputError
from dumbbell.hints import nearest
from dumbbell.published import folder
from dumbbell.published.model import Part, Reproduction
from dumbbell.published.packaged import folder as packaged

KEYS: Final = ("bernardi-2020", "buffa-2020", "rincao-2021", "aulbach-2020", "slides-2017")
"""Each is a folder of this package, as anyone's is."""


def reproduction(key: str) -> Reproduction:
    """The study of this key. Raises `InputError` if there is none."""
    if key not in KEYS:
        hint = nearest(key, KEYS, f"there are {', '.join(KEYS)}")
        raise InputError(f"no published study {key!r}", hint=hint)
    return folder.read(packaged(key), lambda: import_module(f"dumbbell.published.{key.replace('-', '_')}.code"))


def chosen(study: Reproduction, names: Sequence[str]) -> list[Part]:
    """The parts of these names, in the study's order; all except variants if none is named. Raises `InputError`."""
    known = {part.name: part for part in study.parts}
    for name in names:
        if name not in known:
            why = f"its parts are {', '.join(known)}"
            raise InputError(f"{study.key} has no part {name!r}", why, f"dumbbell reproduce {study.key} --list")
    return [part for part in study.parts if (part.name in names if names else part.variant_of is None)]

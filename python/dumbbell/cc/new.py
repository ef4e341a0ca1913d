"""A folder to begin a congestion control with."""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path
from typing import Final

from dumbbell import outputs
from dumbbell.caller import give
from dumbbell.cc.bundled import BUNDLED, KERNEL
from dumbbell.errors import InputError, unwritable

_NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,14}")
"""An identifier of C, short enough for the kernel (TCP_CA_NAME_MAX)."""
FILES: Final = {"program.bpf.c": "{name}.bpf.c", "test.toml": "test.toml", "study.toml": "study.toml"}
"""Template -> file in the folder."""


def create(name: str, folder: Path) -> list[Path]:
    """Write a program that is Reno, a test of it and a study to a new folder; returns the files.

    Raises:
        InputError: the name is none for an algorithm, or the folder is there already.
        RunFailed: it cannot be written.
    """
    checked_name(name)
    try:
        outputs.make_folder(folder.parent)
        folder.mkdir()
        give(folder)
    except FileExistsError:
        raise InputError(f"{folder} is there already", "nothing is overwritten", "choose another name") from None
    except OSError as error:
        raise unwritable(folder, error) from None
    written = []
    for template, file in FILES.items():
        text = files("dumbbell.cc").joinpath("template", template).read_text(encoding="utf-8")
        written.append(folder / file.format(name=name))
        outputs.write_new(written[-1], text.replace("NAME", name))
    return written


def checked_name(name: str) -> str:
    """The name, if a new congestion control can have it. Raises `InputError`."""
    if _NAME.fullmatch(name) is None:
        expected = "expected at most 15 of a to z, 0 to 9 and _, the first a letter: it is an identifier of C"
        raise InputError(f"{name!r} cannot be the name of a congestion control", expected, "choose another: my_cc")
    if name in BUNDLED or name in KERNEL:
        raise InputError(f"{name} is a congestion control already", "", f"choose another name: my_{name}"[:60])
    return name

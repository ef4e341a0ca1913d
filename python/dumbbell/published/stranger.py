"""Published studies of other people: a folder anywhere, whose code runs only after the user has agreed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from types import ModuleType
from typing import Final

from dumbbell import below, inputs
from dumbbell.errors import InputError
from dumbbell.frozen import dataclass
from dumbbell.published import folder as folders
from dumbbell.published.checking import check
from dumbbell.published.model import Reproduction
from dumbbell.published.registry import KEYS
from dumbbell.published.running import Order
from dumbbell.scenario.file.started import with_digest
from dumbbell.studies.programs import programs

_MODULE: Final = "study_code"


@dataclass(frozen=True)
class Stranger:
    """A study whose data were read, and whose code did not run."""

    folder: Path
    data: Reproduction
    """Its parts and claims; what its code judges or tells cannot be asked for."""
    code: str | None
    """The text of its `code.py`."""

    def programs(self, wanted: Sequence[Order] = ()) -> list[str]:
        """The programs that repeating it runs: its code with the digest of the text, and what its scenarios start, by
        each engine, quick or not.

        Args:
            wanted: orders with overrides of the user's, which may start more.

        Raises:
            InputError: a scenario is wrong, or names a file outside the folder.
        """
        found = [] if self.code is None else [with_digest(folders.CODE, self.code)]
        # Runs and reports keep copies of files: those of a stranger's scenarios, traces too, lie in the folder.
        with below.confined(below.Below(self.folder)):
            for part in self.data.parts:
                for engine, quick in product(part.engines, (False, True)):
                    found += programs(Order(part, engine, quick).draft)
        for order in wanted:
            for engine in order.part.engines if order.overrides else ():
                found += programs(replace(order, engine=engine).draft)
        return list(dict.fromkeys(found))

    def trusted(self) -> Reproduction:
        """The study with its code, which runs now: the text that `programs` names, even if the file has changed."""
        return _read(self.folder, self.code)


def is_folder(name: str) -> bool:
    """True if a study's name on the command line is the path of a folder."""
    return name not in KEYS and ("/" in name or (Path(name) / folders.FILE).exists())


def stranger(folder: Path) -> Stranger:
    """Read the data of a study in a folder. Raises `InputError`."""
    folder = folder.resolve()
    if not (folder / folders.FILE).exists():
        raise InputError(f"{folder} has no {folders.FILE}", hint="dumbbell reproduce lists the studies that come along")
    with below.confined(below.Below(folder)):
        path = folder / folders.CODE
        code = inputs.read_named(path, folders.LARGEST, path) if path.exists() else None
    data = _read(folder, None)
    with below.confined(below.Below(folder)):
        check(folder / folders.FILE, data)
    if data.key in KEYS:
        why = f"{data.key} is a study that comes along, and reports of both would be in one folder"
        raise InputError(f"{folder / folders.FILE}: key = {data.key!r} is taken", why, "choose another key")
    return Stranger(folder, data, code)


def _read(folder: Path, code: str | None) -> Reproduction:
    with below.confined(below.Below(folder)):
        return folders.read(folder, None if code is None else lambda: _module(folder / folders.CODE, code))


def _module(path: Path, text: str) -> ModuleType:
    """The module of a text. Raises `InputError` if it fails."""
    found = ModuleType(_MODULE)
    found.__file__ = str(path)
    try:
        exec(compile(text, str(path), "exec", dont_inherit=True), found.__dict__)
    except Exception as error:
        raise InputError(f"{path} fails", f"{type(error).__name__}: {error}") from error
    return found

"""Compiles a user's program to a BPF object."""

from __future__ import annotations

import tempfile
from functools import lru_cache
from pathlib import Path
from typing import Final

from dumbbell.cc import core
from dumbbell.cc.answers import Built
from dumbbell.cc.source import Program
from dumbbell.command import command
from dumbbell.errors import RunFailed
from dumbbell.frozen import dataclass

_QUOTED: Final = 6
"""Errors that a refusal shows; the first ones matter most."""


@dataclass(frozen=True)
class Compiled:
    """An object, and what the compiler said."""

    object: bytes
    compiler: str
    text: str
    """Warnings; empty if it had none."""


def compiled(program: Program, whole: bool = False, file: str = "") -> Compiled:
    """Compile `program`; one that is compiled passes unchanged.

    The source is compiled as a run keeps it, in one file: the object is the same wherever the source lies.

    Args:
        program: what to compile.
        whole: an error tells all that the compiler says, instead of the first errors.
        file: where the source lies, for hints.

    Raises:
        RunFailed: with the compiler's errors.
    """
    if program.compiled:
        return Compiled(program.content, "", "")
    try:
        return _compiled(program)
    except _Refusal as refusal:
        raise _refused(program, refusal, whole, file or f"{program.stem}.bpf.c") from None


class _Refusal(Exception):
    """A refusal of the compiler."""

    def __init__(self, built: Built, text: str) -> None:
        super().__init__(text)
        self.told = built
        self.text = text


@lru_cache(maxsize=32)
def _compiled(program: Program) -> Compiled:
    with tempfile.TemporaryDirectory(prefix="dumbbell-cc-") as folder:
        source, out = Path(folder, f"{program.stem}.bpf.c"), Path(folder, f"{program.stem}.bpf.o")
        source.write_bytes(program.content)
        told = core.build(source, out)
        text = str(told["text"]).replace(f"{folder}/", "").strip()
        if not told["ok"]:
            raise _Refusal(told, text)
        return Compiled(out.read_bytes(), str(told["compiler"]), text)


def forget() -> None:
    """Compile again what was compiled before."""
    _compiled.cache_clear()


def _refused(program: Program, refusal: _Refusal, whole: bool, file: str) -> RunFailed:
    told, text = refusal.told, refusal.text
    what = f"{program.stem}.bpf.c does not compile ({told['compiler']})"
    if whole:
        return RunFailed(what, text)
    errors = [one for one in told["diagnostics"] if one["severity"] == "error"]
    lines = [f"{one['file']}:{one['line']}:{one['column']}: {one['message']}" for one in errors]
    lines = list(dict.fromkeys(lines))  # A macro that uses its argument twice has the same error twice.
    if len(lines) > _QUOTED:
        lines[_QUOTED:] = [f"and {len(lines) - _QUOTED} more errors"]
    why = "\n".join(lines) or text
    hint = f"{command('cc', 'build', file)} shows all that the compiler says"
    return RunFailed(what, why, hint)

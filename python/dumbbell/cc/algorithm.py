"""Congestion controls as the command line names them."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from dumbbell.cc import core
from dumbbell.cc.answers import Entry
from dumbbell.cc.bundled import BUNDLED, label_of_file
from dumbbell.cc.compile import Compiled, compiled
from dumbbell.cc.parameters import Misfit, Parameters, Values, misfits, written
from dumbbell.cc.source import SUFFIXES, Program, SourceError, read
from dumbbell.errors import InputError
from dumbbell.frozen import dataclass
from dumbbell.hints import closest


@dataclass(frozen=True)
class Algorithm:
    """An algorithm that the core can work on."""

    entry: Entry
    """The algorithm in the core's form."""
    parameters: Parameters
    """Its parameters with their meanings, as far as the source shows them."""
    compiler: str = ""
    """Empty if nothing had to be compiled."""
    text: str = ""
    """The compiler's warnings."""


@contextmanager
def opened(name: str, values: Values) -> Iterator[Algorithm]:
    """The algorithm `name`, one that comes with dumbbell or a file, with parameters. A source is compiled.

    Raises:
        InputError: there is no such algorithm or file, or it has no such parameter.
        RunFailed: it does not compile.
    """
    if not is_file(name):
        label = _bundled(name)
        known = core.parameters_of(label) or Parameters((), complete=False)
        _check(name, known, values)
        yield Algorithm(core.algorithm(label, {"kind": "bundled", "name": label}, values), known)
        return
    program = program_in(name)
    _check(Path(name).name, program.parameters, values)
    found: Compiled = compiled(program, file=name)
    with tempfile.TemporaryDirectory(prefix="dumbbell-cc-") as folder:
        out = Path(folder, f"{program.stem}.bpf.o")
        out.write_bytes(found.object)
        label, source = label_of_file(program.stem), {"kind": "object", "path": str(out)}
        if values and not program.parameters.complete:
            # The object has the parameters that the source does not show without a compiler.
            _check(Path(name).name, core.parameters(core.inspect(core.algorithm(label, source))), values)
        yield Algorithm(core.algorithm(label, source, values), program.parameters, found.compiler, found.text)


def program_in(name: str) -> Program:
    """The program in the file `name`. Raises `InputError`."""
    try:
        return read(Path(name))
    except SourceError as error:
        raise InputError(
            f"{name}: {error.wrong}", f"expected {error.expected}" if error.expected else "", error.hint
        ) from None
    except FileNotFoundError:
        raise InputError(f"{name}: no such file", hint=_nearby(Path(name))) from None
    except OSError as error:
        raise InputError(f"{name}: cannot read it", error.strerror or str(error)) from None


def label_of(name: str) -> str:
    """The label under which a file is loaded; other names are unchanged."""
    suffix = next((suffix for suffix in SUFFIXES if name.endswith(suffix)), "")
    return label_of_file(Path(name).name.removesuffix(suffix)) if suffix else name


def parse(texts: Sequence[str]) -> Values:
    """Parameters from the command line: `beta_keep=200`, `undo=false`. Raises `InputError`."""
    values: dict[str, int | bool] = {}
    for text in texts:
        name, _, value = (part.strip() for part in text.partition("="))
        expected = "expected parameter=value, the value an integer, true or false"
        hint = f"write --set {name or 'beta_keep'}=200, or true"
        try:
            values[name] = value == "true" if value in ("true", "false") else int(value, 0)
        except ValueError:
            raise InputError(f"--set {text}: no such value", expected, hint) from None
        if not -(1 << 63) <= values[name] < 1 << 63:
            raise InputError(f"--set {text}: too large", "expected an integer of 64 bits", hint)
    return values


def is_file(name: str) -> bool:
    """True if `name` is a program's file, and no algorithm that comes with dumbbell."""
    return "/" in name or name.endswith((".c", ".o"))


def _bundled(name: str) -> str:
    if name in BUNDLED:
        return name
    close = closest(name, BUNDLED)
    here = [file for file in (Path(f"{name}{suffix}") for suffix in SUFFIXES) if file.is_file()]
    hint = f"for the file, write {here[0]}" if here else "" if close is None else f"did you mean {close}?"
    raise InputError(f"no congestion control {name} comes with dumbbell", f"expected one of {', '.join(BUNDLED)}", hint)


def _check(name: str, known: Parameters, values: Values) -> None:
    for one in misfits(name, known, values):
        raise _refusal(one, values)


def _refusal(misfit: Misfit, values: Values) -> InputError:
    what = f"--set {misfit.name}={written(values[misfit.name])}: {misfit.wrong}"
    return InputError(what, f"expected {misfit.expected}", misfit.hint)


def _nearby(path: Path) -> str:
    there = sorted(file.name for file in path.parent.glob("*.bpf.c")) if path.parent.is_dir() else []
    return f"there is {', '.join(there[:5])}" if there else ""

"""A user's own congestion control: a BPF program in C, or already compiled."""

from __future__ import annotations

import errno
import hashlib
import os
import re
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Final

from dumbbell import inputs
from dumbbell.cc.declared import declared
from dumbbell.cc.parameters import Parameters
from dumbbell.cc.reading import unbounded
from dumbbell.frozen import dataclass
from dumbbell.names import is_name

SUFFIXES: Final = (".bpf.c", ".bpf.o")
"""Suffixes of a source and of an object."""

LINKED_SUFFIX: Final = ".c"
"""Suffix of a source that is linked to a kernel."""

LARGEST: Final = 32 << 20
"""Bytes of a source with all that it includes: a `vmlinux.h` has 3 to 5 MB."""

LONGEST_STEM: Final = 32
"""Characters of a program's name."""
_INCLUDE: Final = re.compile(r'[ \t]*#[ \t]*include[ \t]+"([^"]+)"')
_ONCE: Final = re.compile(r"[ \t]*#[ \t]*pragma[ \t]+once\b.*")


class SourceError(ValueError):
    """A file that is no such program: what is `wrong`, what was `expected`, and a `hint`."""

    def __init__(self, wrong: str, expected: str = "", hint: str = "") -> None:
        super().__init__(wrong)
        self.wrong = wrong
        self.expected = expected
        self.hint = hint


@dataclass(frozen=True)
class Program:
    """A congestion control of the user's."""

    stem: str
    """Name of its file, without `.bpf.c` or `.bpf.o`."""
    content: bytes
    """The source, with the local files that it includes in their places; or the object."""
    compiled: bool
    in_kernel: bool = False
    """True for a source of a kernel in virtual time: its suffix is `.c`, and none of a BPF program."""

    @property
    def suffix(self) -> str:
        """The suffix of its copy."""
        return LINKED_SUFFIX if self.in_kernel else SUFFIXES[self.compiled]

    @property
    def sha256(self) -> str:
        """The SHA-256 of the content, in hex."""
        return hashlib.sha256(self.content).hexdigest()

    @cached_property
    def parameters(self) -> Parameters:
        """The parameters, as far as the source shows them without a compiler."""
        if self.compiled:
            return Parameters((), complete=False)
        found = declared(self.content.decode())
        # A kernel's source has only the parameters that can be found in it.
        return Parameters(found.known) if self.in_kernel else found

    @property
    def needs_ecn(self) -> bool:
        """True if the program asks the kernel to negotiate ECN, as far as the source shows."""
        return not self.compiled and b"TCP_CONG_NEEDS_ECN" in self.content


def read(path: Path) -> Program:
    """Read a program. Raises `SourceError`, and `OSError` if the file cannot be read."""
    suffix = next((suffix for suffix in SUFFIXES if path.name.endswith(suffix)), None)
    expected = "a BPF program in C (my_cc.bpf.c), or a compiled one (my_cc.bpf.o)"
    if suffix is None:
        raise SourceError("not the name of a BPF program", expected, f"rename it: {path.name.split('.')[0]}.bpf.c")
    stem = path.name.removesuffix(suffix)
    if not is_name(stem, LONGEST_STEM):
        raise SourceError("not a name for records", "at most 32 letters, digits, _, ., - before .bpf.c")
    if suffix == ".bpf.o":
        return Program(stem, inputs.read(path, LARGEST), compiled=True)
    text = "".join(_Inliner().lines(path, path.name))
    return Program(stem, text.encode(), compiled=False)


def read_linked(path: Path) -> Program:
    """Read a source that is linked to a kernel. Raises `SourceError`, and `OSError` if the file cannot be read."""
    if not path.name.endswith(LINKED_SUFFIX):
        raise SourceError("not the name of a source in C", "a congestion control in C (my_cc.c)")
    stem = path.name.removesuffix(SUFFIXES[0]).removesuffix(LINKED_SUFFIX)
    if not is_name(stem, LONGEST_STEM):
        raise SourceError("not a name for records", "at most 32 letters, digits, _, ., - before .c")
    text = "".join(_Inliner().lines(path, path.name))
    return Program(stem, text.encode(), compiled=False, in_kernel=True)


class _Inliner:
    """Puts the files that a source includes by `#include "..."` into their places, so that it is one file.

    An include that is not beside the including file is left to the compiler, if it is a header's plain name: the
    compiler looks among the headers of dumbbell and of the system.
    """

    def __init__(self) -> None:
        self._stack: list[Path] = []
        self._once: set[Path] = set()
        self._size = 0

    def lines(self, path: Path, name: str) -> Iterator[str]:
        resolved = Path(os.path.realpath(path))  # It takes a link to itself, at which `resolve` fails.
        if resolved in self._stack or resolved in self._once:
            return
        self._stack.append(resolved)
        text = _text(path, name)
        lines = text.removesuffix("\n").split("\n")
        for number, wrong in unbounded(text):
            if not _beside(path, lines[number - 1]):
                raise SourceError(f"line {number} of {name} {wrong}", _PLAINLY, "put the file beside it")
        for number, line in enumerate(lines, 1):
            self._size += len(line) + 1
            if self._size > LARGEST:
                raise _too_large()
            if included := _beside(path, line):
                yield f'#line 1 "{included}"\n'
                yield from self.lines(path.parent / included, included)
                yield f'#line {number + 1} "{name}"\n'
            elif _ONCE.match(line):
                self._once.add(resolved)
                yield "\n"
            else:
                yield f"{line}\n"
        self._stack.pop()


_PLAINLY: Final = '#include "FILE" with a file beside it, or #include <HEADER>'


def _beside(path: Path, line: str) -> str:
    """The file that a line of the source at `path` includes, if it is there; empty otherwise."""
    included = _INCLUDE.match(line)
    return included[1] if included and path.parent.joinpath(included[1]).is_file() else ""


def _too_large() -> SourceError:
    return SourceError(f"more than {LARGEST >> 20} MiB with all that it includes", "", "include less")


def _text(path: Path, name: str) -> str:
    try:
        return inputs.read_text(path, LARGEST)
    except OSError as error:
        if error.errno == errno.EFBIG:
            raise _too_large() from error
        raise
    except UnicodeDecodeError:
        raise SourceError(f"{name} is not UTF-8 text", "a source in C") from None

"""Programs of scenarios that come from elsewhere run only after the user has seen them and agreed, once.

A scenario is code where it has commands, BPF programs, sources of a kernel or routers' configurations. What is agreed
to is these texts, and what is in the files that they name: other values may change. What the user writes here by
himself needs no question.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from json import dumps
from pathlib import Path
from typing import Any, Final

from dumbbell import inputs
from dumbbell.cc import source
from dumbbell.cc.source import LINKED_SUFFIX
from dumbbell.errors import InputError
from dumbbell.server.journal import digest

_COMMANDS: Final = ("command", "server_command")
"""Keys whose values are command lines."""
_FILES: Final = ("bpf", "frr", "kernel")
"""Keys that name files which are compiled and loaded, become part of a kernel, or configure daemons."""
_LARGEST: Final = 64 << 20
"""More bytes than a daemon's configuration may have."""
_DIGEST: Final = ", SHA-256 "
"""Between a file's name and its digest."""


class NotAgreed(InputError):
    """A scenario runs programs that the user has not agreed to."""

    def __init__(self, path: str, programs: Sequence[str]) -> None:
        """Say so of the scenario `path`; `programs` are all that it runs."""
        hint = "look at them, and agree: it is asked once"
        super().__init__(f"{path} runs programs that you have not agreed to", "\n".join(programs), hint)
        self.programs = list(programs)


class Agreement:
    """The programs that may run, by their digests: a line each of `.dumbbell/agreed`."""

    def __init__(self, folder: Path) -> None:
        """`folder` is the application's own."""
        self._file = folder / "agreed"
        self._known: set[str] | None = None

    def has(self, programs: Sequence[str]) -> bool:
        """True if there is nothing to agree to, or it was agreed to."""
        return not programs or _key(programs) in self._read()

    def add(self, programs: Sequence[str]) -> None:
        """Agree. If it cannot be written down, it holds as long as the server runs."""
        if self.has(programs):
            return
        known, key = self._read(), _key(programs)
        known.add(key)
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True)
            with open(os.open(self._file, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600), "a") as out:
                out.write(f"{key}\n")
        except OSError:
            return

    def _read(self) -> set[str]:
        if self._known is None:
            try:
                self._known = set(self._file.read_text(encoding="utf-8").split())
            except (OSError, UnicodeDecodeError):
                self._known = set()
        return self._known


def programs(data: Mapping[str, Any], folder: Path) -> tuple[str, ...]:
    """What a scenario runs on this machine, in its order, each once: command lines, and files with the digest of what
    is in them now. A key may be dotted, as a sweep has it, and then has a list of what is run in turn.

    Args:
        data: the scenario.
        folder: where its file lies, from which it names others.
    """
    return tuple(dict.fromkeys(_found(data, folder)))


def has_changed(before: Sequence[str], now: Sequence[str]) -> bool:
    """True if another content is in a file that is named as before."""
    known = {one.partition(_DIGEST)[0]: one for one in before}
    return any(_DIGEST in one and known.get(one.partition(_DIGEST)[0], one) != one for one in now)


def _found(value: Any, folder: Path) -> Iterator[str]:
    if isinstance(value, dict | Mapping):
        for key, part in value.items():
            last = str(key).rpartition(".")[2]
            if last in _COMMANDS + _FILES:
                named = [one for one in (part if isinstance(part, list) else [part]) if isinstance(one, str)]
                if last == "kernel":  # Others are names of algorithms and of kernels.
                    named = [one for one in named if one.endswith(LINKED_SUFFIX)]
                yield from named if last in _COMMANDS else (_with_digest(last, one, folder) for one in named)
            if not isinstance(part, str):
                yield from _found(part, folder)
    elif isinstance(value, list):
        for part in value:
            if not isinstance(part, str):
                yield from _found(part, folder)


def _with_digest(key: str, name: str, folder: Path) -> str:
    """A file's name, with the digest of what a run would take from it; the name alone, if there is nothing."""
    path = folder / name
    try:
        if key == "bpf":
            found = source.read(path).sha256
        elif key == "kernel":
            found = source.read_linked(path).sha256
        else:
            found = hashlib.sha256(inputs.read(path, _LARGEST)).hexdigest()
    except (OSError, ValueError):
        return name  # A run says what is wrong with it.
    return f"{name}{_DIGEST}{found}"


def _key(programs: Sequence[str]) -> str:
    return digest(dumps(list(programs)))

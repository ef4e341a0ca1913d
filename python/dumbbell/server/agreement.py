"""Programs of scenarios that come from elsewhere run only after the user has seen them and agreed, once.

A scenario is code where it has commands, BPF programs or routers' configurations. What is agreed to is these texts, not
the file: other values may change. What the user writes here by himself needs no question.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from json import dumps
from pathlib import Path
from typing import Any, Final

from dumbbell.errors import InputError
from dumbbell.server.journal import digest

_RUN: Final = ("command", "server_command", "bpf", "frr")
"""Keys whose values are run on this machine: command lines, and files that are compiled and loaded, or configure
daemons."""


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


def programs(data: Mapping[str, Any]) -> tuple[str, ...]:
    """What a scenario runs on this machine, in its order, each once. A key may be dotted, as a sweep has it, and then
    has a list of what is run in turn."""
    return tuple(dict.fromkeys(_found(data)))


def _found(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        for key, part in value.items():
            if str(key).rpartition(".")[2] in _RUN:
                yield from (one for one in (part if isinstance(part, list) else [part]) if isinstance(one, str))
            yield from _found(part)
    elif isinstance(value, list):
        for part in value:
            yield from _found(part)


def _key(programs: Sequence[str]) -> str:
    return digest(dumps(list(programs)))

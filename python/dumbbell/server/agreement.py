"""Programs of scenarios that come from elsewhere run only after the user has seen them and agreed, once.

A scenario is code where it has commands, BPF programs or routers' configurations. What is agreed to is these texts, not
the file: other values may change. What the user writes here by himself needs no question.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from json import dumps
from pathlib import Path

from dumbbell.server.journal import digest


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


def _key(programs: Sequence[str]) -> str:
    return digest(dumps(list(programs)))

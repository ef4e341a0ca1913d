"""The log of a kernel, which may be a stranger's: what it says has no end if it wants none."""

from __future__ import annotations

from pathlib import Path
from typing import Final

FIRST: Final = 16 << 20
"""Bytes of a log that are kept from its begin."""
LAST: Final = 64 << 10
"""Bytes that are kept from its end, if it is longer: they say why a kernel ended."""


class Log:
    """A file that takes the begin of a log at once, and its end when it is over."""

    def __init__(self, path: Path) -> None:
        """Appends to the file, which is opened now."""
        self._file = open(path, "ab", buffering=0)  # noqa: SIM115
        self._room = FIRST
        self._left_out, self._last = 0, b""

    def write(self, part: bytes) -> None:
        """Take what comes next."""
        first, rest = part[: self._room], part[self._room :]
        self._file.write(first)
        self._room -= len(first)
        self._left_out += len(rest)
        self._last = (self._last + rest)[-LAST:]

    def end(self) -> None:
        """Write the end of a longer one. Nothing is taken any more."""
        if skipped := self._left_out - len(self._last):
            self._file.write(f"\n[{skipped} bytes are left out here]\n".encode())
        self._file.write(self._last)
        self._file.close()

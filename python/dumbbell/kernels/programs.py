"""Congestion controls that are linked to a kernel: ours, and those of the user."""

from __future__ import annotations

import hashlib
from typing import Final

from dumbbell.frozen import dataclass

NAME_BYTES: Final = 15
"""The longest name of a congestion control in Linux (TCP_CA_NAME_MAX, less the zero)."""


@dataclass(frozen=True)
class Program:
    """A congestion control in C that registers itself once, of the user or with the user's parameters."""

    label: str
    """Its name in scenario, plan and records."""
    content: bytes
    """Its source, with the local files that it includes in their places."""

    file: str = "program.c"
    """Its name in the compiler's errors."""

    @property
    def sha256(self) -> str:
        """The hash of label and content, in hex."""
        return hashlib.sha256(self.label.encode() + b"\0" + self.content).hexdigest()

    @property
    def registered(self) -> str:
        """Its name in the kernel, which is never that of one of the kernel's own."""
        digits = self.sha256[:5]
        stem = "".join(letter if letter.isalnum() or letter in "_-" else "_" for letter in self.label)
        return f"{stem[: NAME_BYTES - 6]}_{digits}"

"""Names of congestion controls that files have."""

from __future__ import annotations

from typing import Final

_KNOWN: Final = ("reno", "cubic", "bbr", "bbr2", "bbr3", "dctcp", "htcp", "westwood")


def known(name: str) -> str | None:
    """Returns the name if the simulator has such an algorithm, else None."""
    lower = name.lower()
    return "reno" if lower == "newreno" else lower if lower in _KNOWN else None

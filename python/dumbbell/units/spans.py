"""Times as people read them."""

from __future__ import annotations


def span(seconds: float, exact: bool = False) -> str:
    """`1 h 5 min`, `5 min 3 s`, `3 s`; `0.3 s` only if `exact`."""
    if exact and seconds < 10:
        return f"{seconds:.4g} s"
    whole = round(seconds)
    hours, minutes = whole // 3600, whole % 3600 // 60
    if hours:
        return f"{hours} h {minutes} min"
    return f"{minutes} min {whole % 60} s" if minutes else f"{whole} s"

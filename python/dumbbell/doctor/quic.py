"""The check of the program of QUIC flows."""

from __future__ import annotations

from dumbbell.doctor.finding import Finding, Level
from dumbbell.quic.program import NAME, Unusable, program, stacks, to_get


def examine() -> Finding:
    """The stacks that it has."""
    path = program()
    if path is None:
        why = f'no {NAME} is there; needed only for flows with protocol = "quic"'
        return Finding("QUIC stacks", Level.WARN, why, to_get())
    try:
        told = "; ".join(f"{name}: {', '.join(names)}" for name, names in stacks(path).items())
    except Unusable as error:
        return Finding("QUIC stacks", Level.WARN, str(error), to_get())
    return Finding("QUIC stacks", Level.OK, f"{told} ({path})")

"""The check of the program of QUIC flows."""

from __future__ import annotations

import subprocess

from dumbbell.doctor.finding import Finding, Level
from dumbbell.engines.realm import quic


def examine() -> Finding:
    """The stacks that it has."""
    path = quic.program()
    if path is None:
        why = f'no {quic.NAME} is there; needed only for flows with protocol = "quic"'
        return Finding("QUIC stacks", Level.WARN, why, quic.HINT)
    try:
        stacks = quic.stacks(path)
    except (OSError, ValueError, KeyError, TypeError, subprocess.TimeoutExpired) as error:
        return Finding("QUIC stacks", Level.WARN, f"{path} cannot be used: {error}", quic.HINT)
    said = "; ".join(f"{name}: {', '.join(names)}" for name, names in stacks.items())
    return Finding("QUIC stacks", Level.OK, f"{said} ({path})")

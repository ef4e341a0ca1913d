"""Congestion controls of ours with other parameters than they are built into a kernel with."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from dumbbell.kernels.additions import additions
from dumbbell.kernels.programs import Program

_DEFAULT: Final = re.compile(r"X\((?P<type>\w+), (?P<name>\w+), (?P<value>\w+)\)")


def tuned(label: str, name: str, parameters: Mapping[str, int | bool]) -> Program:
    """One of `kernel/src` with these values in place of its defaults, as it is linked to a kernel beside the other.

    Args:
        label: what scenario, plan and records call it.
        name: of its manifest, `bbr3-draft`.
        parameters: some of those that it has; the others keep their defaults.

    Raises:
        RunFailed: this installation has no such source.
    """
    ours = additions().kernel
    header = ours / "include" / "algorithms" / name / "parameters.h"
    file = f"{name.replace('-', '_')}.c"

    def valued(match: re.Match[str]) -> str:
        value = parameters.get(match["name"])
        return match[0] if value is None else f"X({match['type']}, {match['name']}, {int(value)})"

    values = _DEFAULT.sub(valued, header.read_text(encoding="utf-8"))
    return Program(label, values.encode() + (ours / "src" / file).read_bytes(), file)

"""Mahimahi's traces: a line for each opportunity to send a full packet, in ms (mm-link(1))."""

from __future__ import annotations

import re
from typing import Final

import numpy as np

from dumbbell.errors import InputError
from dumbbell.fitting.estimate import Estimate
from dumbbell.fitting.fitted import Fit
from dumbbell.fitting.logs.link import MTU_FRAME, fit_link
from dumbbell.scenario.traces import LineError, mahimahi

SOURCE: Final = "Mahimahi trace"
_FORM: Final = re.compile(rb"\A(?:[^\S\n]*+(?:#.*+)?\n)*+\d{1,12}\r?\n")
_BLOCK_NS: Final = 200_000_000
_LEAST: Final = 3
"""Times without which integers are not recognised as a trace."""


def is_form(head: bytes) -> bool:
    """Returns true for lines of integers that do not fall."""
    if _FORM.match(head) is None:
        return False
    lines = [line.strip() for line in head.splitlines()[:-1] if line.strip() and not line.lstrip().startswith(b"#")]
    return len(lines) >= _LEAST - 1 and all(line.isdigit() for line in lines)


def fit(text: str, name: str, connection: str | None) -> Fit:
    """Fits a link to a trace, whose times repeat after the last. Raises `InputError`."""
    if connection is not None:
        raise InputError(f"{name} has no connections", "it is a Mahimahi trace", "leave out --connection")
    try:
        moments = mahimahi(text)
    except LineError as error:
        place = f"{name}:{error.line}" if error.line else name
        raise InputError(f"{place}: {error.wrong}", f"expected {error.expected}", error.hint) from None
    time_ns, count = np.array([time for time, _ in moments]), np.array([count for _, count in moments], dtype=float)
    period = float(time_ns[-1])
    slots = min(100_000, max(1, int(period // _BLOCK_NS)))
    width = period / slots
    # An opportunity at the end of the period is the last block's.
    at = np.minimum(((time_ns - 0.5) // width).astype(np.int64).clip(0), slots - 1)
    bps = np.bincount(at, weights=count, minlength=slots) * MTU_FRAME * 8e9 / width
    mean = float(count.sum()) * MTU_FRAME * 8e9 / period
    evidence = f"{int(count.sum()):,} opportunities of {MTU_FRAME} B in {period / 1e9:g} s"
    series = list(zip((np.arange(slots) * width / 1e9).tolist(), bps.tolist(), strict=True))
    return fit_link(name, SOURCE, Estimate(mean, mean, mean, evidence), series, period / 1e9)

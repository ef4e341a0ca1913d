"""Logs of `ss -ti`, taken again and again, with times between them.

A time is a line of its own, as `date` writes it, or begins each line, as `ts` does. Without times, the time counts for
which the kernel says that the sender was busy. Fields are those that iproute2 prints of `struct tcp_info`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from dumbbell.errors import InputError
from dumbbell.fitting.fitted import Fit
from dumbbell.fitting.logs.sampled import fit_samples
from dumbbell.fitting.logs.sockets import Sample, samples_of
from dumbbell.fitting.logs.times import DAY_S, time_of

MOST_SAMPLES: Final = 500_000
"""Samples that are read."""
_FORM: Final = re.compile(rb"(?m)^(?>.*?\bESTAB\b).*?(?:\bcwnd:\d|\n.*?\bcwnd:\d)")
_SOCKET: Final = re.compile(r"(?<![\w-])([A-Z][A-Z0-9-]++)\s++\d++\s++\d++\s++(\S+:\w+)\s++(\S+:\w+)")
_FIELD: Final = re.compile(r"\b([a-z_]+):(\d+(?:\.\d+)?)(?:/(\d+(?:\.\d+)?))?")
_LIMITED: Final = re.compile(r"\bapp_limited\b")
_ESTABLISHED: Final = ("ESTAB", "CLOSE-WAIT", "FIN-WAIT-1")
"""States in which a socket sends."""


@dataclass
class _Log:
    """Samples of each socket, by its addresses."""

    sockets: dict[tuple[str, str], list[Sample]] = field(default_factory=dict)
    has_parts: bool = True
    """True if times have parts of a second."""


def is_form(head: bytes) -> bool:
    """Returns true for text in which a line of a socket, or the next one, has its window."""
    return _FORM.search(head) is not None


def fit(text: str, name: str, connection: str | None) -> Fit:
    """Fits a path to the socket that sent most. Raises `InputError`."""
    log = _read(text, name)
    if not log.sockets:
        why = "no line has bytes_acked, which an established sender has"
        raise InputError(f"{name} has no sender", why, "while sleep 0.1; do date +%s.%N; ss -tinHO; done > ss.log")
    ends = _chosen(log.sockets, connection, name)
    number = 1 + list(log.sockets).index(ends)
    return fit_samples(samples_of(name, number, log.sockets[ends], log.has_parts))


def _read(text: str, name: str) -> _Log:
    log = _Log()
    time, days, count, ends = np.nan, 0.0, 0, None
    for match in re.finditer(r"[^\n]+", text):
        line = match[0]
        if (stamp := time_of(line)) is not None:
            log.has_parts = log.has_parts and stamp[1]
            # A clock of the day goes on at midnight.
            days += DAY_S if np.isfinite(time) and stamp[0] + days < time - DAY_S / 2 and stamp[0] < DAY_S else 0.0
            time = stamp[0] + days
        if (socket := _SOCKET.search(line)) is not None:
            ends = (socket[2], socket[3]) if socket[1] in _ESTABLISHED else None
        if ends is None or "cwnd:" not in line:
            continue
        if "bytes_acked:" in line:
            count += 1
            if count > MOST_SAMPLES:
                why = f"it has more than {MOST_SAMPLES:,} samples"
                raise InputError(f"{name} is too long", why, "log one socket: ss -ti dst ADDRESS")
            log.sockets.setdefault(ends, []).append(_sample(line, time))
        ends = None
    return log


def _sample(line: str, time: float) -> Sample:
    fields: dict[str, float] = {}
    for name, first, second in _FIELD.findall(line):
        # retrans:0/5 has those in flight, and all so far; rtt:40.2/15.1 the mean, and its variation.
        fields[name] = min(float(second if name == "retrans" and second else first), 1e18)
    words = line.partition(" wscale:")[0].split()
    return Sample(time, words[-1] if words else "", _LIMITED.search(line) is not None, fields)


def _chosen(sockets: dict[tuple[str, str], list[Sample]], connection: str | None, name: str) -> tuple[str, str]:
    every = list(sockets)
    if connection is None:
        return max(every, key=lambda ends: sockets[ends][-1].get("bytes_acked") - sockets[ends][0].get("bytes_acked"))
    if connection.isdecimal() and len(connection) < 9 and 1 <= int(connection) <= len(every):
        return every[int(connection) - 1]
    asked = set(connection.split("-"))
    if (named := next((ends for ends in every if asked <= set(ends)), None)) is not None:
        return named
    known = "; ".join(f"{number} is {a}-{b}" for number, (a, b) in enumerate(every[:10], 1))
    raise InputError(f"{name} has no connection {connection}", known, "--connection names one of them")

"""Keeps each run in virtual time to a CPU of its own, as far as there are enough."""

from __future__ import annotations

import os
import socket
from itertools import count


def take() -> tuple[int, socket.socket]:
    """Keep this process, and all that it starts, to one CPU, which the fewest other runs have.

    A kernel and its processes take turns: on several CPUs each turn would wake another one, which costs more than all
    else. The CPU is this run's until the socket is closed: its name is taken in the abstract namespace (unix(7)), which
    frees it when the last process that has it ends, whatever ends it.
    """
    cpus = sorted(os.sched_getaffinity(0))
    claim = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    for layer in count():
        for cpu in cpus:
            try:
                claim.bind(f"\0dumbbell/virtual/{cpu}/{layer}")
            except OSError:
                continue
            os.sched_setaffinity(0, {cpu})
            return cpu, claim
    raise AssertionError("layers do not end")

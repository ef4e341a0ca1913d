"""Whether a ready kernel runs in real time on this machine: it is tried."""

from __future__ import annotations

import os
import tempfile
import time
from functools import cache, partial
from pathlib import Path
from typing import Final

from dumbbell.kernels.ready.boot import described, tried
from dumbbell.kernels.ready.machine import KVM, Machine, Monitor

BOOTS_WITHIN_S: Final = 2.0
"""A kernel boots in less where KVM works. There are machines with the device on which nothing ever happens."""


@cache
def why_not_in_real_time(machine: Machine, accelerator: str = "kvm", within_s: float = BOOTS_WITHIN_S) -> str | None:
    """Why a kernel cannot run in real time, in a phrase; `None` if it can: it has booted. Each is tried once.

    Args:
        machine: the kernel's.
        accelerator: see `machine.in_real_time`.
        within_s: the longest time for the boot.
    """
    if (unreachable := closed(accelerator)) is not None:
        return unreachable
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="dumbbell-boot-") as place:
        said = tried(partial(machine.in_real_time, accelerator, 1), Path(place), _described, os.environ, within_s)
    took_s = time.monotonic() - began
    if said is not None:
        return f"it did not boot within {within_s:g} s ({': '.join(said[:2])})"
    return f"its trial boot took {took_s:.1f} s, more than {within_s:g} s" if took_s > within_s else None


def _described(monitor: Monitor, shared: Path) -> None:
    described(shared)


def closed(accelerator: str = "kvm") -> str | None:
    """Why an accelerator cannot be reached at all, in a phrase; `None` if it can."""
    if accelerator != "kvm":
        return None
    if not KVM.exists():
        return f"there is no {KVM}: this machine's CPU, hypervisor or kernel offers no virtual machines"
    if not os.access(KVM, os.R_OK | os.W_OK):
        return f"this user may not open {KVM} (on Debian, members of the group kvm may)"
    return None

"""Checks of kernel, processors, clock, privileges and tools."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from typing import Final

from dumbbell.doctor.finding import Finding, Level
from dumbbell.machine import read_line

SLICES_SINCE: Final = (6, 12)
"""First Linux on which a process without privileges may ask for short time slices (EEVDF, sched_setattr)."""
GOOD_CLOCKS: Final = frozenset({"tsc", "kvm-clock", "hyperv_clocksource_tsc_page", "xen", "arch_sys_counter"})
"""Clock sources that are read without leaving user space or the guest."""


def kernel(release: str | None = None) -> Finding:
    """Check that this is Linux, and new enough to schedule the emulator in time."""
    if os.uname().sysname != "Linux":
        return Finding("kernel", Level.MISSING, os.uname().sysname, "run dumbbell in a Linux virtual machine")
    release = release or os.uname().release
    if release_of(release) < SLICES_SINCE:
        detail = f"Linux {release}: before 6.12, other programs may delay an ordinary user's emulator"
        return Finding("kernel", Level.WARN, detail, "run as root, or on an otherwise idle machine; see the verdict")
    return Finding("kernel", Level.OK, f"Linux {release}")


def release_of(text: str) -> tuple[int, ...]:
    """`6.18.44-fc` as (6, 18)."""
    return tuple(int(part) for part in text.split("-")[0].split(".")[:2] if part.isdigit())


def priority(capabilities: int | None = None) -> Finding:
    """Check that this user may raise the emulator's priority."""
    if has(_CAP_SYS_NICE, capabilities):
        return Finding("priority", Level.OK, "the highest for the emulator (CAP_SYS_NICE)")
    return Finding("priority", Level.OK, "the normal one (no CAP_SYS_NICE), so keep the machine idle")


def cores(count: int | None = None) -> Finding:
    """Check that there are two cores: the emulator and the traffic each need one."""
    count = count or len(os.sched_getaffinity(0))
    if count < 2:
        fix = "use a machine with two or more; single runs at low rates may still be valid"
        return Finding("cores", Level.WARN, "1: emulator and hosts take turns, and packets will be late", fix)
    return Finding("cores", Level.OK, str(count))


def load(average: float | None = None, count: int | None = None) -> Finding:
    """Check that no other work is running, which would make packets late."""
    average = os.getloadavg()[0] if average is None else average
    count = count or len(os.sched_getaffinity(0))
    detail = f"{average:.2f} on {count} cores over the last minute"
    if average > count / 2:
        return Finding("load", Level.WARN, f"{detail}: runs may be suspect", "wait until other work is done (top)")
    return Finding("load", Level.OK, detail)


def clocksource(name: str | None = None) -> Finding:
    """Check that reading the time is cheap: it happens several times per packet."""
    name = name or read_line("/sys/devices/system/clocksource/clocksource0/current_clocksource") or "unknown"
    if name in GOOD_CLOCKS:
        return Finding("clock source", Level.OK, name)
    fix = "echo tsc | sudo tee /sys/devices/system/clocksource/clocksource0/current_clocksource"
    return Finding("clock source", Level.WARN, f"{name}: reading it takes a microsecond or more", fix)


def scheduler_statistics() -> Finding:
    """Check that there are scheduler statistics, without which the verdict cannot see that the emulator waited for a
    CPU."""
    if read_line("/proc/self/schedstat") is None:
        detail = "/proc/self/schedstat is absent: starvation shows as lateness only"
        return Finding("scheduler statistics", Level.WARN, detail, "use a kernel with CONFIG_SCHED_INFO")
    return Finding("scheduler statistics", Level.OK, "available")


def tools() -> Iterator[Finding]:
    """Programs that some scenarios use."""
    for program, purpose in (("iperf3", "scenarios that run it as a flow"),):
        path = shutil.which(program)
        if path:
            yield Finding(program, Level.OK, path)
        else:
            detail = f"not installed; needed only for {purpose}"
            yield Finding(program, Level.WARN, detail, f"sudo apt-get install {program}")


# The constant is from linux/capability.h.
_CAP_SYS_NICE: Final = 23
_INITIAL_USER_NAMESPACE: Final = 0xEFFFFFFD
"""Inode of the initial user namespace, the same on every machine."""


def has(capability: int, capabilities: int | None = None) -> bool:
    """True if this process, or one with the bits `capabilities`, has a capability: root in a container may lack it."""
    return bool((effective_capabilities() if capabilities is None else capabilities) >> capability & 1)


def effective_capabilities() -> int:
    """Capabilities that count for the machine: none outside of the initial user namespace."""
    try:
        if os.stat("/proc/self/ns/user").st_ino != _INITIAL_USER_NAMESPACE:
            return 0
    except OSError:
        pass  # A kernel without user namespaces.
    for line in (read_line("/proc/self/status") or "").splitlines():
        if line.startswith("CapEff:"):
            return int(line.split()[1], 16)
    return 0

"""Facts about the machine, recorded with every run, because figures mean little without them."""

from __future__ import annotations

import os
import platform
import pwd
from pathlib import Path
from typing import Final, TypedDict

from dumbbell import caller


class MachineFacts(TypedDict):
    """Facts about this machine; `None`: the kernel does not report it."""

    host: str
    kernel: str
    kernel_build: str
    architecture: str
    cpu_model: str
    cores: int | None
    memory_bytes: int | None
    distribution: str | None
    hypervisor: bool
    clocksource: str | None
    load_average: list[float] | None
    congestion_controls: list[str]


def machine() -> MachineFacts:
    """Name, kernel, CPU, memory, distribution, clock source, load. A fact that the kernel does not report is null."""
    uname = platform.uname()
    return {
        "host": uname.node,
        "kernel": uname.release,
        "kernel_build": uname.version,
        "architecture": uname.machine,
        "cpu_model": _field("/proc/cpuinfo", "model name") or uname.machine,
        "cores": cores(),
        "memory_bytes": _memory_bytes(),
        "distribution": _distribution(),
        "hypervisor": "hypervisor" in (_field("/proc/cpuinfo", "flags") or "").split(),
        "clocksource": read_line("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
        "load_average": list(os.getloadavg()) if hasattr(os, "getloadavg") else None,
        "congestion_controls": (read_line("/proc/sys/net/ipv4/tcp_available_congestion_control") or "").split(),
    }


def read_line(path: str) -> str | None:
    """The content of a one-line file of the kernel, or `None` if this kernel lacks it."""
    try:
        return Path(path).read_text().strip()
    except OSError:
        return None


def cores() -> int | None:
    """CPUs that this process may use, on systems that report it; else all CPUs."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()


def has_module(name: str, modules: Path | None = None) -> bool:
    """True if `name` is among the loadable modules.

    Args:
        name: `tcp_bbr`, ...
        modules: where they lie; `/lib/modules/<release>`, those of this kernel, if not given.
    """
    modules = modules or Path("/lib/modules") / os.uname().release
    try:
        listed = (modules / "modules.dep").read_text()
    except OSError:
        return False
    return any(line.partition(":")[0].rpartition("/")[2].partition(".")[0] == name for line in listed.splitlines())


def state_folder() -> Path:
    """The folder of what dumbbell keeps for this user; it need not exist.

    sudo may leave the caller's `HOME`. Root's secret would make void there what the caller has agreed to, and nobody
    but root could enter a folder that it makes.
    """
    base = os.environ.get("XDG_STATE_HOME", "")
    # A relative path is to be ignored (XDG Base Directory Specification).
    state = Path(base) if base.startswith("/") else Path.home() / _STATE
    if caller.owns(state):
        state = Path(pwd.getpwuid(os.geteuid()).pw_dir) / _STATE
    return state / "dumbbell"


_STATE: Final = ".local/state"


def _memory_bytes() -> int | None:
    known = {"SC_PHYS_PAGES", "SC_PAGE_SIZE"} <= set(getattr(os, "sysconf_names", ()))
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") if known else None


def _field(path: str, key: str) -> str | None:
    for line in (read_line(path) or "").splitlines():
        name, _, value = line.partition(":")
        if name.strip() == key:
            return value.strip()
    return None


def _distribution() -> str | None:
    try:
        return platform.freedesktop_os_release().get("PRETTY_NAME")
    except OSError:
        return None

"""Checks whether this machine can load congestion controls that are BPF programs."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from dumbbell.cc import core
from dumbbell.cc.answers import Privileges
from dumbbell.cc.bundled import BUNDLED
from dumbbell.command import as_root
from dumbbell.doctor.finding import Finding, Level
from dumbbell.doctor.machine import release_of
from dumbbell.errors import RunFailed
from dumbbell.kernels.names import BPF_SINCE
from dumbbell.machine import read_line

TYPES: Final = Path("/sys/kernel/btf/vmlinux")
"""The kernel's own type information."""


def examine() -> Iterator[Finding]:
    """All findings, in the order in which loading a program needs them."""
    kernel_finding = kernel()
    yield kernel_finding
    if kernel_finding.level is Level.OK:
        yield privileges()
        yield jit()
    yield compiler()
    yield from loaded()


def kernel(release: str | None = None, types: Path = TYPES) -> Finding:
    """Check that the kernel supports BPF congestion controls."""
    release = release or os.uname().release
    names = ", ".join(BUNDLED)
    if release_of(release) < BPF_SINCE:
        why = f"Linux {release}: {names} need 6.4 or later"
        return Finding("BPF congestion controls", Level.WARN, why, "use a newer kernel; other algorithms work here")
    if not types.exists():
        why = f"{names} need the kernel's type information, and there is no {types}"
        fix = "use your distribution's standard kernel, or one with CONFIG_DEBUG_INFO_BTF"
        return Finding("BPF congestion controls", Level.WARN, why, fix)
    return Finding("BPF congestion controls", Level.OK, f"Linux {release} with type information (BTF)")


def privileges(known: Privileges | None = None) -> Finding:
    """Check that this user may load them, as the core checks before a run."""
    try:
        known = known or core.can_load()
    except RunFailed as error:
        return Finding("BPF privileges", Level.WARN, error.why, error.hint)
    if not known["missing"]:
        return Finding("BPF privileges", Level.OK, "this user may load congestion controls, and record every ACK")
    why = f"this user may not load congestion controls, nor record every ACK: {core.why_not(known)}"
    fix = f"run as root; or load an algorithm once, and every user's runs can use it: {as_root('cc', 'load', 'bbr3')}"
    return Finding("BPF privileges", Level.WARN, why, fix)


def jit(enabled: str | None = None) -> Finding:
    """Check that the kernel compiles BPF programs to machine code."""
    enabled = enabled or read_line("/proc/sys/net/core/bpf_jit_enable")
    if enabled == "0":
        why = "off: the kernel interprets BPF programs, which takes several times as long"
        return Finding("BPF compiler of the kernel", Level.WARN, why, "sudo sysctl -w net.core.bpf_jit_enable=1")
    return Finding("BPF compiler of the kernel", Level.OK, "on" if enabled else "on, or not visible to this user")


def compiler(path: str | None = None) -> Finding:
    """Check that there is a compiler. Only users' own programs need it: bundled ones are compiled."""
    path = path or shutil.which(os.environ.get("CLANG", "clang"))
    if path:
        return Finding("clang", Level.OK, path)
    why = 'not installed; needed only for congestion controls of your own, cc = { bpf = "my_cc.bpf.c" }'
    return Finding("clang", Level.WARN, why, "sudo apt-get install clang")


def loaded() -> Iterator[Finding]:
    """Algorithms that are loaded to stay."""
    try:
        stay = core.registered()["stay"]
    except RunFailed:
        return
    if stay:
        names = ", ".join(f"{one['label']} ({one['name']})" for one in stay)
        yield Finding("loaded to stay", Level.OK, f"{names}; dumbbell cc unload removes them")

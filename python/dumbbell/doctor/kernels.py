"""Checks of kernels for runs in virtual time: what builds them, and which there are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dumbbell.command import command
from dumbbell.doctor.finding import Finding, Level
from dumbbell.errors import DumbbellError
from dumbbell.kernels import DEFAULT, known, ready
from dumbbell.kernels import source as sources
from dumbbell.kernels.store import Known
from dumbbell.kernels.tools import install, lacking


def examine() -> Iterator[Finding]:
    """All findings, in the order in which a run needs them."""
    yield tools()
    try:
        found = known()
    except DumbbellError as error:
        yield Finding("kernels", Level.WARN, error.why, error.hint)
        return
    yield built(found)
    yield machine()
    if not any(one.is_current for one in found):
        yield source()


def tools(missing: Sequence[str] | None = None) -> Finding:
    """The finding on the tools that build a kernel."""
    missing = lacking() if missing is None else missing
    if missing:
        why = f"not installed: {', '.join(missing)}; needed only to build kernels for runs in virtual time"
        return Finding("kernel build", Level.WARN, why, install(missing))
    return Finding("kernel build", Level.OK, "all tools are installed")


def built(kernels: Sequence[Known]) -> Finding:
    """The finding on the kernels that are built."""
    usable = sorted(name for one in kernels if one.is_current for name in one.base.names)
    stale = sorted(name for one in kernels if not one.is_current for name in one.base.names)
    if usable:
        also = f"; built by another version of dumbbell: {', '.join(stale)}" if stale else ""
        return Finding("kernels", Level.OK, ", ".join(usable) + also)
    why = "none is built; needed only for runs in virtual time"
    if stale:
        why = f"{', '.join(stale)}: built by another version of dumbbell"
    return Finding("kernels", Level.WARN, why, command("kernel", "build"))


def machine() -> Finding:
    """The finding on the virtual machine of ready kernels."""
    added = sorted(name for image in ready.images() for name in image.names)
    try:
        told = f"{ready.qemu_version()}; added: {', '.join(added) or 'none'}"
        return Finding("ready kernels", Level.OK, f"QEMU {told}")
    except DumbbellError as error:
        return Finding(
            "ready kernels", Level.WARN, f"{error.what}; needed only for kernels of `kernel add`", error.hint
        )


def source(name: str = DEFAULT) -> Finding:
    """The finding on the default kernel's source."""
    try:
        return Finding("kernel source", Level.OK, str(sources.debian(name).path))
    except DumbbellError as error:
        return Finding("kernel source", Level.WARN, f"{error.what}: {error.why}", error.hint)

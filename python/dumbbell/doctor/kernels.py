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
    yield real_time()
    if not any(one.is_current for one in found):
        yield source()


def tools(missing: Sequence[str] | None = None) -> Finding:
    """The finding on the tools that build a kernel."""
    missing = lacking() if missing is None else missing
    if missing:
        why = f"not installed: {', '.join(missing)}; needed only to build kernels for runs in virtual time"
        return Finding("kernel build", Level.WARN, why, install(missing))
    return Finding("kernel build", Level.OK, "all tools are installed")


def built(found: Sequence[Known]) -> Finding:
    """The finding on the kernels that are built."""
    usable = sorted(name for one in found if one.is_current for name in one.base.names)
    stale = sorted(name for one in found if not one.is_current for name in one.base.names)
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


def real_time(accelerator: str = "kvm", within_s: float = ready.BOOTS_WITHIN_S) -> Finding:
    """The finding on KVM: it boots the newest kernel that was added. Try another accelerator only in tests."""
    needed = "needed only for --engine kvm; --engine virtual takes the same kernels"
    if (closed := ready.closed(accelerator)) is not None:
        return Finding("KVM", Level.WARN, f"{closed}; {needed}", "use a machine, or a virtual one, that has KVM")
    images = ready.images()
    if not images:
        return Finding(
            "KVM", Level.WARN, f"not tried: no kernel is added; {needed}", command("kernel", "add", "debian-6.12")
        )
    name = images[-1].names[0]
    try:
        found = ready.booted(images[-1], lambda step: None).machine
    except DumbbellError as error:
        return Finding("KVM", Level.WARN, f"not tried: {error.what}; {needed}", error.hint)
    if (why := ready.why_not_in_real_time(found, accelerator, within_s)) is not None:
        return Finding(
            "KVM", Level.WARN, f"{name}: {why}; {needed}", "use a machine, or a virtual one, whose KVM works"
        )
    return Finding("KVM", Level.OK, f"it boots {name} within {within_s:g} s: --engine kvm")


def source(name: str = DEFAULT) -> Finding:
    """The finding on the default kernel's source."""
    try:
        return Finding("kernel source", Level.OK, str(sources.debian(name).path))
    except DumbbellError as error:
        return Finding("kernel source", Level.WARN, f"{error.what}: {error.why}", error.hint)

"""Confines this process and all that it starts: no network, no other process, and one folder to write to."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Final

from dumbbell.engines.virtual import calls

PLACE: Final = "/sys"
"""The mount point of a tmpfs of our own, which holds the kernel's memory and all that it starts from. The host's files
there tell of the host only, and a kernel covers them with its own."""
RUN: Final = f"{PLACE}/run"
"""The place of the run's directory: the same path each time, as all is that a kernel sees when it starts."""

_READ_ANY: Final = 1 << 1 | 1 << 2
"""CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH: root may run what lies in a user's private folder."""


def enter(directory: Path, memory_bytes: int) -> None:
    """Move this process into namespaces in which only `directory` can be written to, at `RUN`; its children are in a
    new PID namespace. The process must have one thread.

    * A user namespace, if this user may not make the others: there is no privilege outside.
    * A network namespace without interfaces, and namespaces of its own for IPC and the host's name.
    * A mount namespace, in which all is read-only and without devices, but for `RUN` and a tmpfs of
      `memory_bytes` at `PLACE`.

    Raises `OSError` with what the system refuses.
    """
    user, group = os.geteuid(), os.getegid()
    if user != 0 or not _may_administer():
        calls.unshare(calls.NEW_USER)
        # Without setgroups the kernel lets nobody map a group (user_namespaces(7)).
        for name, text in (("setgroups", "deny"), ("uid_map", f"0 {user} 1"), ("gid_map", f"0 {group} 1")):
            Path("/proc/self", name).write_text(text)
    calls.unshare(calls.NEW_NAMESPACES)
    calls.mount("none", "/", None, calls.MS_REC | calls.MS_PRIVATE)
    calls.mount("kernel", PLACE, "tmpfs", calls.MS_NOSUID | calls.MS_NODEV, f"size={memory_bytes},mode=700")
    os.mkdir(RUN)
    calls.mount(str(directory), RUN, None, calls.MS_BIND)
    # A kernel's unused consoles are connected to the first.
    calls.mount(os.devnull, os.devnull, None, calls.MS_BIND)
    restrictions = calls.READ_ONLY | calls.NO_DEVICES | calls.NO_SETUID
    calls.mount_attributes("/", restrictions, below=True)
    for place in (PLACE, RUN):
        calls.mount_attributes(place, 0, calls.READ_ONLY)
    calls.mount_attributes(os.devnull, 0, calls.NO_DEVICES)


def drop_rights() -> None:
    """Show no other processes in `/proc`, and give up what could undo the confinement: from now on this process can
    mount nothing, and neither can what it starts.

    To be called by the first process of the PID namespace.
    """
    calls.unshare(calls.NEW_MOUNTS)
    # Some containers refuse it: then other processes can be seen, as by every program there.
    with suppress(OSError):
        calls.mount("proc", "/proc", "proc", calls.MS_NOSUID | calls.MS_NODEV)
    calls.prctl(calls.PR_SET_SECUREBITS, calls.NO_ROOT)
    # Root in a container may lack one of them.
    held = _READ_ANY & _capabilities("CapPrm")
    calls.keep_capabilities(held)
    for capability in (1, 2):
        if held >> capability & 1:
            calls.prctl(calls.PR_CAP_AMBIENT, calls.PR_CAP_AMBIENT_RAISE, capability)
    calls.prctl(calls.PR_SET_NO_NEW_PRIVS, 1)


def _may_administer() -> bool:
    """True if this process has CAP_SYS_ADMIN and CAP_NET_ADMIN."""
    needed = 1 << 21 | 1 << 12
    return _capabilities("CapEff") & needed == needed


def _capabilities(which: str) -> int:
    """A set of this process's capabilities, as a mask: `CapEff` or `CapPrm` (proc_pid_status(5))."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1], 16) for line in lines if line.startswith(f"{which}:"))

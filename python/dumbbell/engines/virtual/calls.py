"""System calls that Python has no function for."""

from __future__ import annotations

import ctypes
import os
from typing import Final

NEW_NAMESPACES: Final = 0x00020000 | 0x04000000 | 0x08000000 | 0x20000000 | 0x40000000
"""CLONE_NEWNS, CLONE_NEWUTS, CLONE_NEWIPC, CLONE_NEWPID and CLONE_NEWNET."""
NEW_MOUNTS: Final = 0x00020000
NEW_USER: Final = 0x10000000

MS_NOSUID: Final = 0x2
MS_NODEV: Final = 0x4
MS_BIND: Final = 0x1000
MS_REC: Final = 0x4000
MS_PRIVATE: Final = 1 << 18

READ_ONLY: Final = 0x1
"""MOUNT_ATTR_RDONLY of mount_setattr(2)."""
NO_SETUID: Final = 0x2
NO_DEVICES: Final = 0x4

PR_SET_PDEATHSIG: Final = 1
PR_SET_SECUREBITS: Final = 28
PR_SET_NO_NEW_PRIVS: Final = 38
PR_CAP_AMBIENT: Final = 47
PR_CAP_AMBIENT_RAISE: Final = 2
NO_ROOT: Final = 0x3
"""SECBIT_NOROOT, locked: user 0 has no capabilities by itself."""

_MOUNT_SETATTR: Final = 442
_CAPSET: Final = 126
_CAPABILITIES_V3: Final = 0x20080522
_AT_FDCWD: Final = -100
_AT_RECURSIVE: Final = 0x8000
_ADDR_NO_RANDOMIZE: Final = 0x0040000

_libc = ctypes.CDLL(None, use_errno=True)


def unshare(flags: int) -> None:
    """Move this process into new namespaces. Raises `OSError`."""
    _checked(_libc.unshare(flags), "unshare")


def mount(source: str, target: str, kind: str | None, flags: int = 0, data: str | None = None) -> None:
    """mount(2). Raises `OSError`."""
    found = _libc.mount(
        os.fsencode(source),
        os.fsencode(target),
        kind and kind.encode(),
        ctypes.c_ulong(flags),
        data and os.fsencode(data),
    )
    _checked(found, f"mounting {target}")


def mount_attributes(target: str, add: int, remove: int = 0, below: bool = False) -> None:
    """Change attributes of a mount, and with `below` of all mounts below it. Raises `OSError`; needs Linux 5.12."""
    attributes = (ctypes.c_uint64 * 4)(add, remove, 0, 0)
    flags = _AT_RECURSIVE if below else 0
    size = ctypes.c_size_t(ctypes.sizeof(attributes))
    found = _libc.syscall(
        ctypes.c_long(_MOUNT_SETATTR),
        ctypes.c_long(_AT_FDCWD),
        os.fsencode(target),
        ctypes.c_ulong(flags),
        attributes,
        size,
    )
    _checked(found, f"changing the mount {target}")


def prctl(option: int, *arguments: int) -> None:
    """prctl(2). Raises `OSError`."""
    padded = [ctypes.c_ulong(one) for one in (*arguments, 0, 0, 0, 0)[:4]]
    _checked(_libc.prctl(ctypes.c_int(option), *padded), "prctl")


def keep_capabilities(wanted: int) -> None:
    """Give up all capabilities of this process but those of the mask `wanted`. Raises `OSError`."""
    header = (ctypes.c_uint32 * 2)(_CAPABILITIES_V3, 0)
    sets = (ctypes.c_uint32 * 6)(wanted, wanted, wanted, 0, 0, 0)
    _checked(_libc.syscall(ctypes.c_long(_CAPSET), header, sets), "capset")


def fix_addresses() -> None:
    """Programs that this process starts lie at the same addresses each time: their address space is not randomized."""
    _libc.personality(ctypes.c_ulong(_ADDR_NO_RANDOMIZE))


def _checked(result: int, what: str) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")

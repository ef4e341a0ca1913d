"""Whose files are: what `sudo dumbbell` makes in a directory of its caller's belongs to the caller."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path


def give(path: Path) -> None:
    """Give a file, or a directory with what is in it, to the caller of sudo, if the directory above is the caller's.

    Only what root has is given. Links are not followed, and files with a second name, which may be elsewhere, are left.
    """
    user = _caller()
    if user is None:
        return
    # The caller may have removed it meanwhile.
    with suppress(OSError):
        # All is reached from here: the caller may put a link to another directory in this one's place.
        above = os.open(path.parent, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            if os.fstat(above).st_uid != user[0]:
                return
            _give(path.name, above, user)
            if stat.S_ISDIR(os.lstat(path.name, dir_fd=above).st_mode):
                for _, folders, names, within in os.fwalk(path.name, dir_fd=above):
                    for name in (*folders, *names):
                        _give(name, within, user)
        finally:
            os.close(above)


def owns(path: Path) -> bool:
    """Returns true if the caller of sudo owns a directory, or the first one above it that is there."""
    user = _caller()
    if user is None:
        return False
    for one in (path, *path.parents):
        with suppress(OSError):
            return one.stat().st_uid == user[0]
    return False


def _caller() -> tuple[int, int] | None:
    """The user and the group who called sudo; `None` without sudo."""
    if os.geteuid() != 0:
        return None
    try:
        user, group = int(os.environ["SUDO_UID"]), int(os.environ["SUDO_GID"])
    except (KeyError, ValueError):
        return None
    return (user, group) if user > 0 and group >= 0 else None


def _give(name: str, within: int, user: tuple[int, int]) -> None:
    with suppress(OSError):
        opened = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=within)
        try:
            found = os.fstat(opened)
            is_plain = stat.S_ISREG(found.st_mode) and found.st_nlink == 1
            if found.st_uid == 0 and (is_plain or stat.S_ISDIR(found.st_mode)):
                os.fchown(opened, *user)
        finally:
            os.close(opened)

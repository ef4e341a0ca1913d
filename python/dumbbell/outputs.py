"""Writes files that are whole: whatever fails meanwhile, a reader finds the former content or all of the new one.

The content goes to a file of another name in the same folder, to the disk, and then to its own name by one rename.
Where a context is confined to a folder (`below.confined`), no path leads out of it. What sudo writes in a directory of
its caller's belongs to the caller.
"""

from __future__ import annotations

import errno
import os
import re
import secrets
import stat
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, Final

from dumbbell import below
from dumbbell.caller import give
from dumbbell.errors import InputError, unwritable

if TYPE_CHECKING:
    import polars as pl

_PART: Final = re.compile(r"\.dumbbell-[0-9a-f]{8}\.part")
_NAMES: Final = {Path("/dev"), Path("/dev/fd"), Path("/proc/self/fd")}
_YOUNG_S: Final = 60.0
"""Age of a part that nobody writes any more: its writer was killed."""


def sync_later(folder: Path) -> None:
    """Leave syncing what is written below a folder to the caller, who does so before the folder gets its name."""
    _LATER.add(folder.absolute())


def sync_at_once(folder: Path) -> None:
    """Undo `sync_later`."""
    _LATER.discard(folder.absolute())


_LATER: Final = set[Path]()


def write(path: Path, content: str | bytes | memoryview, mode: int = 0o666) -> None:
    """Write a file, or replace it. One that is replaced keeps its permissions; a link is replaced itself.

    Args:
        path: the file, in a folder that exists.
        content: text is written as UTF-8.
        mode: permissions of a new file, less the umask.

    Raises:
        OSError: nothing has changed, and nothing is left behind.
    """
    with _part(path, content, mode) as (folder, part):
        os.replace(part, path.name, src_dir_fd=folder, dst_dir_fd=folder)


def write_named(path: Path, content: bytes) -> None:
    """Write a file that a user names, as `write`. A device or a pipe is written to, and never replaced, and so is what
    `/dev` names: `/dev/stdout` may be a file. A link elsewhere is replaced: it may be a stranger's, and lead to a
    device. Raises `OSError`."""
    if _is_written_to(path):
        path.write_bytes(content)
    else:
        write(path, content)


def open_named(path: Path) -> BinaryIO:
    """Open a file that a user names, for content that comes bit by bit. A link is replaced, as by `write_named`: it may
    be a stranger's. Raises `OSError`."""
    if _is_written_to(path):
        return path.open("wb")
    if path.is_symlink():
        path.unlink()
    descriptor = below.opened(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW)
    give(path)
    return open(descriptor, "wb")


def _is_written_to(path: Path) -> bool:
    """True if a path that a user names stays as it is: a device or a pipe itself, or what `/dev` names."""
    if path.parent in _NAMES:
        return True
    return path.exists() and not (path.is_file() or path.is_symlink())


def write_new(path: Path, text: str) -> None:
    """Write a file that is not there yet.

    Raises:
        InputError: it is there already.
        RunFailed: it cannot be written.
    """
    try:
        with _part(path, text, 0o666) as (folder, part):
            _link(folder, part, path.name)
    except FileExistsError:
        raise InputError(f"{path} is there already", "nothing is overwritten", "choose another name") from None
    except OSError as error:
        raise unwritable(path, error, hint="choose a file in another folder") from error


def append(path: Path, text: str) -> int:
    """Append text, in UTF-8, to a regular file, which is made if need be. Returns the file's size in bytes.

    Raises:
        OSError: nothing was appended, as far as the disk lets us cut off what was. A link is not followed.
    """
    content = memoryview(text.encode())
    # A pipe that nobody reads is refused, in place of waiting.
    flags = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NONBLOCK | os.O_NOCTTY | os.O_NOFOLLOW
    descriptor = below.opened(path, flags)
    try:
        found = os.fstat(descriptor)
        if not stat.S_ISREG(found.st_mode):
            raise OSError(errno.EINVAL, "Not a regular file", os.fspath(path))
        try:
            while content:
                content = content[os.write(descriptor, content) :]
        except OSError:
            os.ftruncate(descriptor, found.st_size)
            raise
        return os.fstat(descriptor).st_size
    finally:
        os.close(descriptor)


def write_parquet(frame: pl.DataFrame, path: Path) -> None:
    """Write a table, as `write`. Raises `OSError`, where polars raises errors of its own."""
    content = BytesIO()
    frame.write_parquet(content)
    write(path, content.getbuffer())


def make_folder(path: Path) -> None:
    """Make a folder, and those above it that are missing. Raises `OSError`."""
    missing = [one for one in (path, *path.parents) if not one.exists()]
    os.close(below.folder(path, make=True))
    for one in reversed(missing):
        give(one)


def remove_parts(folder: Path, young_s: float = 0.0) -> None:
    """Remove what killed writers have left in a folder, unless it is younger than `young_s` seconds."""
    with suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if _PART.fullmatch(entry.name):
                with suppress(OSError):
                    if time.time() - entry.stat(follow_symlinks=False).st_mtime >= young_s:
                        os.unlink(entry.path)


@lru_cache(256)
def _remove_parts_once(folder: Path) -> None:
    remove_parts(folder, _YOUNG_S)


@contextmanager
def _part(path: Path, content: str | bytes | memoryview, mode: int) -> Iterator[tuple[int, str]]:
    """The content on disk under another name: the descriptor of the folder, and the name, which is gone afterwards."""
    folder, is_later = below.folder(path.parent), not _LATER.isdisjoint(path.absolute().parents)
    try:
        _remove_parts_once(path.parent)
        part = f".dumbbell-{secrets.token_hex(4)}.part"
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        descriptor = os.open(part, flags, mode, dir_fd=folder)
        try:
            with open(descriptor, "wb") as file:
                with suppress(FileNotFoundError):
                    found = os.stat(path.name, dir_fd=folder, follow_symlinks=False)
                    if stat.S_ISREG(found.st_mode):
                        os.fchmod(file.fileno(), found.st_mode & 0o777)
                file.write(content.encode() if isinstance(content, str) else content)
                file.flush()
                if not is_later:
                    os.fsync(file.fileno())
            yield folder, part
        finally:
            with suppress(OSError):
                os.unlink(part, dir_fd=folder)
        if not is_later:
            _sync_names(folder)
        give(path)
    finally:
        os.close(folder)


def _link(folder: int, part: str, name: str) -> None:
    """Give a file its name, if that is free. Raises `FileExistsError`."""
    try:
        os.link(part, name, src_dir_fd=folder, dst_dir_fd=folder)
    except OSError as error:
        if error.errno not in (errno.EPERM, errno.ENOTSUP, errno.ENOSYS):
            raise
        # This file system has no links.
        with suppress(FileNotFoundError):
            os.stat(name, dir_fd=folder, follow_symlinks=False)
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), name) from None
        os.replace(part, name, src_dir_fd=folder, dst_dir_fd=folder)


def _sync_names(folder: int) -> None:
    """Make a folder's names survive a power cut, where the file system can: the file is there in any case."""
    with suppress(OSError):
        opened = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=folder)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)

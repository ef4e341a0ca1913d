"""Reads and writes the files that a user, a request or another file names: regular ones of a bounded size.

Where a context is confined to a folder (`below.confined`), as the web application is, no path leads out of it.
"""

from __future__ import annotations

import errno
import os
import secrets
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import IO, Any, Final

from dumbbell import below
from dumbbell.caller import give
from dumbbell.errors import InputError, unwritable

STANDARD_INPUT: Final = "-"
"""The name by which commands call standard input."""


def opened(path: str | os.PathLike[str]) -> int:
    """The descriptor of a regular file, for reading.

    Devices and pipes have no size: one may never end, and another may make the reader wait for ever.

    Raises:
        OSError: there is no such file, it is not a regular one, or it lies outside.
    """
    try:
        # A pipe without a writer would block when it is opened.
        descriptor = below.opened(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY)
    except OSError as error:
        if error.errno == errno.ENXIO:  # a socket
            raise OSError(errno.EINVAL, _IRREGULAR, os.fspath(path)) from None
        raise
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISREG(mode):
        return descriptor
    os.close(descriptor)
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(path))
    raise OSError(errno.EINVAL, _IRREGULAR, os.fspath(path))


_IRREGULAR: Final = "Not a regular file"


def read(path: str | os.PathLike[str], most: int) -> bytes:
    """The content of a file of at most `most` bytes.

    Raises:
        OSError: as `opened`, or it is larger.
    """
    with open(opened(path), "rb") as file:
        if os.fstat(file.fileno()).st_size > most:
            raise _too_large(most)
        return _at_most(file, most)


def read_text(path: str | os.PathLike[str], most: int) -> str:
    """A text in UTF-8, without the byte order mark with which some editors begin it. Line ends become newlines.

    Raises:
        OSError: as `read`.
        UnicodeDecodeError: it is no such text.
    """
    return _text(read(path, most))


def check_files(folder: Path) -> None:
    """Raise `OSError` unless all in a folder are regular files or folders, none of which lies outside.

    For folders whose files are opened by others, such as tables by polars, which wait for a pipe.
    """
    below_all = below.confining() is not None
    if below.leads_out(folder):
        raise OSError(errno.EXDEV, "It leads out of the workspace", os.fspath(folder))
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_symlink():
                if below_all and below.leads_out(entry.path):
                    raise OSError(errno.EXDEV, f"Its {entry.name} leads out of the workspace", entry.path)
                if not os.path.exists(entry.path):
                    continue
            if not (entry.is_file() or entry.is_dir()):
                raise OSError(errno.EINVAL, f"Its {entry.name} is not a regular file", entry.path)


@cache
def standard_input(most: int) -> str:
    """Standard input to its end, as `read_text`. It is read once: later calls return the same."""
    if sys.stdin is None:
        raise OSError(errno.EBADF, "Standard input is closed")
    return _text(_at_most(sys.stdin.buffer, most))


def _at_most(file: IO[Any], most: int) -> bytes:
    content = bytearray()
    # To read all at once would ask for as much memory as a file may have.
    while len(content) <= most and (part := file.read(_CHUNK)):
        content += part
    if len(content) > most:
        raise _too_large(most)
    return bytes(content)


_CHUNK: Final = 64 << 10


def _too_large(most: int) -> OSError:
    return OSError(errno.EFBIG, f"More than {most >> 20} MiB")


def _text(content: bytes) -> str:
    return content.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")


def write_new(path: Path, text: str) -> None:
    """Write a file that is not there yet.

    Raises:
        InputError: it is there already.
        RunFailed: it cannot be written.
    """
    try:
        with open(below.opened(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL), "w", encoding="utf-8") as out:
            out.write(text)
        give(path)
    except FileExistsError:
        raise InputError(f"{path} is there already", "nothing is overwritten", "choose another name") from None
    except OSError as error:
        raise unwritable(path, error, hint="choose a file in another folder") from error


def write(path: Path, content: bytes | memoryview, sync: bool = True) -> None:
    """Write a file so that it holds either the old content or the new one, whatever happens. Raises `OSError`.

    It keeps its permissions; a link is replaced. Nothing is left behind if the disk is full. With `sync`, it survives a
    power cut.
    """
    folder = below.folder(path.parent)
    try:
        with _scratch(folder) as (scratch, descriptor):
            with open(descriptor, "wb") as file:
                with suppress(FileNotFoundError):
                    found = os.stat(path.name, dir_fd=folder, follow_symlinks=False)
                    if stat.S_ISREG(found.st_mode):
                        os.fchmod(file.fileno(), found.st_mode & 0o777)
                file.write(content)
                if sync:
                    file.flush()
                    os.fsync(file.fileno())
            os.replace(scratch, path.name, src_dir_fd=folder, dst_dir_fd=folder)
        if sync:
            _sync(folder)
        give(path)
    finally:
        os.close(folder)


def _sync(folder: int) -> None:
    """Make a folder's list of names survive a power cut, as far as its file system can."""
    with suppress(OSError):
        opened = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=folder)
        try:
            os.fsync(opened)
        finally:
            os.close(opened)


@contextmanager
def _scratch(folder: int) -> Iterator[tuple[str, int]]:
    """A new file in the folder `folder`, and its descriptor. It is removed if an error comes."""
    scratch = f".{secrets.token_hex(8)}.part"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    descriptor = os.open(scratch, flags, 0o666, dir_fd=folder)
    try:
        yield scratch, descriptor
    except BaseException:
        with suppress(OSError):
            os.unlink(scratch, dir_fd=folder)
        raise


def appended(path: Path) -> int:
    """The descriptor of a regular file, which is made if it is not there, for appending. Raises `OSError`."""
    # A pipe that nobody reads is refused, in place of waiting.
    descriptor = below.opened(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NONBLOCK | os.O_NOCTTY)
    if stat.S_ISREG(os.fstat(descriptor).st_mode):
        return descriptor
    os.close(descriptor)
    raise OSError(errno.EINVAL, _IRREGULAR, os.fspath(path))


def make_folder(path: Path) -> None:
    """Make a folder, and those above it. Raises `OSError`."""
    missing = [one for one in (path, *path.parents) if not one.exists()]
    os.close(below.folder(path, make=True))
    for one in reversed(missing):
        give(one)

"""Reads the files that a user, a request or another file names: regular ones of a bounded size, or standard input.

Where a context is confined to a folder (`below.confined`), as the web application is, no path leads out of it.
"""

from __future__ import annotations

import errno
import os
import stat
import sys
from functools import cache
from pathlib import Path
from typing import IO, Any, Final

from dumbbell import below
from dumbbell.errors import InputError

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


def read_own(folder: Path, name: str, most: int) -> str:
    """A text that a folder has of its own, as `read_text`: no link leads out of the folder, which may be a stranger's.

    For texts that become part of a page or of other files. Raises as `read_text`.
    """
    with below.confined(below.Below(folder)):
        return read_text(folder / name, most)


def read_named(path: Path, most: int, name: object) -> str:
    """A text, as `read_text`, for who named it: an error calls it `name`. Raises `InputError`."""
    try:
        return read_text(path, most)
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise InputError(f"cannot read {name}", why or str(error)) from None


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

"""Reads the files that a user names: regular ones of a bounded size, or standard input. Writes new ones."""

from __future__ import annotations

import errno
import os
import stat
import sys
from functools import cache
from pathlib import Path
from typing import IO, Any, Final

from dumbbell.errors import InputError, unwritable

STANDARD_INPUT: Final = "-"
"""The name by which commands call standard input."""


def read(path: str | os.PathLike[str], most: int) -> bytes:
    """The content of a file of at most `most` bytes.

    Devices and pipes have no size: one may never end, and another may make the reader wait for ever.

    Raises:
        OSError: there is no such file, it is not a regular one, or it is larger.
    """
    # A pipe without a writer would block when it is opened.
    with open(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
        mode = os.fstat(file.fileno()).st_mode
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), os.fspath(path))
        if not stat.S_ISREG(mode):
            raise OSError(errno.EINVAL, "Not a regular file", os.fspath(path))
        return _at_most(file, most)


def read_text(path: str | os.PathLike[str], most: int) -> str:
    """A text in UTF-8, without the byte order mark with which some editors begin it. Line ends become newlines.

    Raises:
        OSError: as `read`.
        UnicodeDecodeError: it is no such text.
    """
    return _text(read(path, most))


@cache
def standard_input(most: int) -> str:
    """Standard input to its end, as `read_text`. It is read once: later calls return the same."""
    if sys.stdin is None:
        raise OSError(errno.EBADF, "Standard input is closed")
    return _text(_at_most(sys.stdin.buffer, most))


def _at_most(file: IO[Any], most: int) -> bytes:
    content: bytes = file.read(most + 1)
    if len(content) > most:
        raise OSError(errno.EFBIG, f"More than {most >> 20} MiB")
    return content


def _text(content: bytes) -> str:
    return content.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")


def write_new(path: Path, text: str) -> None:
    """Write a file that is not there yet.

    Raises:
        InputError: it is there already.
        RunFailed: it cannot be written.
    """
    try:
        with path.open("x", encoding="utf-8") as out:
            out.write(text)
    except FileExistsError:
        raise InputError(f"{path} is there already", "nothing is overwritten", "choose another name") from None
    except OSError as error:
        raise unwritable(path, error, hint="choose a file in another folder") from error

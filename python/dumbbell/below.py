"""Opens files below a folder: no link, no `..` and no absolute path leads out of it.

A link may be followed if it ends below the folder. Linux checks that by itself (openat2, RESOLVE_BENEATH); it refuses
absolute links, and kernels before 5.6 lack it: such a path is resolved first, and then opened step by step without
links.
"""

from __future__ import annotations

import ctypes
import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from typing import Final

_OPENAT2: Final = 437
"""Number of the system call, on all architectures."""
_BENEATH: Final = 0x08 | 0x02
"""RESOLVE_BENEATH and RESOLVE_NO_MAGICLINKS."""
_UNDECIDED: Final = frozenset([errno.EXDEV, errno.ELOOP, errno.EAGAIN, errno.ENOSYS, errno.EPERM, errno.EINVAL])
"""Errors of openat2 after which the path is resolved here."""
_FOLDER: Final = os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC
_PACKAGE: Final = Path(__file__).resolve().parent
VARIABLE: Final = "DUMBBELL_BELOW"
"""Environment variable with the folder beyond which a command opens nothing that a scenario names."""

_confining: ContextVar[Below | None] = ContextVar("confining", default=None)


class _How(ctypes.Structure):
    _fields_ = (("flags", ctypes.c_uint64), ("mode", ctypes.c_uint64), ("resolve", ctypes.c_uint64))


class Below:
    """A folder, whose files are opened."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        """Raises `OSError` if it is no folder."""
        self.path = os.path.realpath(folder)
        self._folder = os.open(self.path, _FOLDER)

    def __del__(self) -> None:
        """Close it."""
        if hasattr(self, "_folder"):
            os.close(self._folder)

    def open(self, path: str | os.PathLike[str], flags: int, mode: int = 0o666) -> int:
        """The descriptor of a path, as `os.open` gives it. Raises `OSError`; EXDEV: the path leads out."""
        flags |= os.O_CLOEXEC
        asked = self._relative(os.path.abspath(path))
        if asked is not None and (found := _beneath(self._folder, asked, flags, mode)) is not None:
            return found
        return self._by_steps(self._inside(path), flags, mode)

    def folder(self, path: str | os.PathLike[str], make: bool = False) -> int:
        """The descriptor of a folder (O_PATH); with `make`, it and those above it are made. Raises `OSError`."""
        if make:
            at = os.path.realpath(path)
            if not os.path.isdir(at) and self._inside(at) != ".":
                os.close(self.folder(os.path.dirname(at), make=True))
                above = self.folder(os.path.dirname(at))
                try:
                    os.mkdir(os.path.basename(at), dir_fd=above)
                except FileExistsError:
                    pass
                finally:
                    os.close(above)
        return self.open(path, _FOLDER)

    def has(self, path: str | os.PathLike[str]) -> bool:
        """True if a path leads to a place below the folder, links followed. Nothing need be there."""
        try:
            self._inside(path)
        except (OSError, ValueError):
            return False
        return True

    def _relative(self, path: str) -> str | None:
        """An absolute path from the folder on; `None` if it does not begin with it."""
        if path == self.path:
            return "."
        begin = self.path if self.path.endswith("/") else f"{self.path}/"
        return path[len(begin) :] if path.startswith(begin) else None

    def _inside(self, path: str | os.PathLike[str]) -> str:
        found = self._relative(os.path.realpath(path))
        if found is None:
            raise OSError(errno.EXDEV, f"It lies outside {self.path}", os.fspath(path))
        return found

    def _by_steps(self, path: str, flags: int, mode: int) -> int:
        """Open a path from the folder on that has no link."""
        *above, name = path.split("/")
        at = os.dup(self._folder)
        try:
            for part in above:
                at, former = os.open(part, _FOLDER | os.O_NOFOLLOW, dir_fd=at), at
                os.close(former)
            return os.open(name, flags | os.O_NOFOLLOW, mode, dir_fd=at)
        finally:
            os.close(at)


def _beneath(folder: int, path: str, flags: int, mode: int) -> int | None:
    """Open by openat2; `None` if that does not decide it. Raises `OSError`."""
    how = _How(flags, mode if flags & (os.O_CREAT | os.O_TMPFILE) else 0, _BENEATH)
    if (name := os.fsencode(path)).find(0) >= 0:
        raise ValueError("embedded null byte")
    found = int(_library().syscall(_OPENAT2, folder, name, ctypes.byref(how), ctypes.sizeof(how)))
    if found >= 0:
        return found
    number = ctypes.get_errno()
    if number in _UNDECIDED:
        return None
    raise OSError(number, os.strerror(number), path)


@cache
def _library() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


@contextmanager
def confined(folder: Below | None) -> Iterator[None]:
    """While it lasts, this context and its tasks open files below `folder` alone, and dumbbell's own."""
    token = _confining.set(folder)
    try:
        yield
    finally:
        _confining.reset(token)


def opened(path: str | os.PathLike[str], flags: int, mode: int = 0o666) -> int:
    """The descriptor of a path: below the folder that confines this context, if one does. Raises `OSError`.

    A path that cannot be one, such as one with a null byte or a lone surrogate, is an `OSError` too.
    """
    with _paths_alone(path):
        if (folder := confining()) is None:
            return os.open(path, flags | os.O_CLOEXEC, mode)
        return _owner(folder, path).open(path, flags, mode)


def folder(path: str | os.PathLike[str], make: bool = False) -> int:
    """The descriptor of a folder (O_PATH) as `opened`; with `make`, it and those above it are made."""
    with _paths_alone(path):
        if (found := confining()) is not None:
            return _owner(found, path).folder(path, make)
        if make:
            os.makedirs(path, exist_ok=True)
        return os.open(path, _FOLDER)


@contextmanager
def _paths_alone(path: str | os.PathLike[str]) -> Iterator[None]:
    try:
        yield
    except ValueError as error:  # UnicodeEncodeError is one.
        raise OSError(errno.EINVAL, f"Not a path: {error}", repr(os.fspath(path))) from None


def leads_out(path: str | os.PathLike[str]) -> bool:
    """True if this context is confined, and a path leads out."""
    found = confining()
    return found is not None and not _owner(found, path).has(path)


def confining() -> Below | None:
    """The folder that confines this context; `None`: nothing does."""
    return _confining.get() or _of_environment()


@cache
def _of_environment() -> Below | None:
    # What the command starts itself, such as a user's shell in a lab, opens what it likes.
    given = os.environ.pop(VARIABLE, None)
    return Below(given) if given else None


def allow(folder: Path) -> None:
    """Open what lies below a folder of dumbbell's own, too, wherever a context is confined."""
    known = _own.get(folder)
    if known is None or not os.path.samestat(os.fstat(known._folder), os.stat(folder)):
        _own[folder] = Below(folder)


_own: dict[Path, Below] = {}


def _owner(folder: Below, path: str | os.PathLike[str]) -> Below:
    """The folder below which a path is opened: one of dumbbell's own, if the path begins with it."""
    if _PACKAGE not in _own:  # It has the trace of a bundled scenario.
        allow(_PACKAGE)
    asked = os.path.abspath(path)
    return next((own for own in _own.values() if own._relative(asked) is not None), folder)

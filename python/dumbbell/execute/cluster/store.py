"""The store of the nodes' results, for the driver and any later driver: a shared directory, or a URL.

A result's name says all that determines it, so whoever finds it there need not make it again. It is there as a whole or
not at all.
"""

from __future__ import annotations

import os
import uuid
from pathlib import Path
from typing import Any, Final

from dumbbell.errors import InputError

SUFFIX: Final = ".tar"
AT_ONCE: Final = frozenset({"abfs", "abfss", "adl", "az", "gcs", "gs", "memory", "oss", "s3", "s3a"})
"""Protocols in which a file appears only when it is complete. Other protocols first write the file under another
name."""


def absolute(place: str) -> str:
    """The place, independent of the working directory."""
    return place if "://" in place else str(Path(place).expanduser().absolute())


class Store:
    """A folder of results."""

    def __init__(self, place: str) -> None:
        """Open or create it: an absolute path, or any URL that fsspec understands. Raises `InputError`."""
        self.place = place
        try:
            import fsspec

            self._files, self._folder = fsspec.core.url_to_fs(place)
            self._files.makedirs(self._folder, exist_ok=True)
        except ImportError as error:
            hint = "install that on every node, beside dumbbell[cluster]"
            raise InputError(f"cannot use the store {place}", str(error), hint) from None
        except Exception as error:  # each file system has different errors
            raise _unreachable(place, error) from error

    def names(self) -> set[str]:
        """The names of the results."""
        try:
            # Another machine may have added some since the last listing.
            self._files.invalidate_cache(self._folder)
            found = self._files.ls(self._folder, detail=False)
        except FileNotFoundError:
            return set()
        except Exception as error:
            raise _unreachable(self.place, error) from error
        return {name.removesuffix(SUFFIX) for name in map(os.path.basename, found) if name.endswith(SUFFIX)}

    def has(self, name: str) -> bool:
        """True if the store has this result."""
        self._files.invalidate_cache(self._folder)
        return bool(self._files.exists(self._path(name)))

    def put(self, name: str, archive: Path) -> None:
        """Keep a result. Raises `InputError`."""
        protocols: Any = self._files.protocol
        whole = AT_ONCE.intersection([protocols] if isinstance(protocols, str) else protocols)
        to = self._path(name) if whole else f"{self._folder}/.{name}.{uuid.uuid4().hex}"
        try:
            self._files.put_file(str(archive), to)
            if not whole:
                self._files.mv(to, self._path(name))
        except Exception as error:
            raise _unreachable(self.place, error) from error

    def fetch(self, name: str, archive: Path) -> None:
        """Copy a result to `archive`. Raises `InputError`."""
        try:
            self._files.get_file(self._path(name), str(archive))
        except Exception as error:
            raise _unreachable(self.place, error) from error

    def remove(self, name: str) -> None:
        """Remove a result."""
        self._files.rm_file(self._path(name))

    def _path(self, name: str) -> str:
        return f"{self._folder}/{name}{SUFFIX}"


def _unreachable(place: str, error: Exception) -> InputError:
    why = f"{type(error).__name__}: {error}"
    return InputError(f"cannot use the store {place}", why, "a directory that all nodes share, or a URL with its keys")

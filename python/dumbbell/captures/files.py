"""The files that were analysed: they are read again only while they are the same.

Whoever writes a summary by hand can name any file of another user, such as a capture of theirs, but cannot know its
digest without its content.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import Final

from dumbbell import inputs
from dumbbell.captures.capture import Capture
from dumbbell.errors import InputError

_PART: Final = 1 << 20
"""Bytes at the beginning and at the end of a file from which its digest is made: captures may have many GB."""


def digests(files: Sequence[str]) -> list[str]:
    """The digest of each file, in hex: of its size, its beginning and its end. Empty for what cannot be read."""
    return [_digest(file) for file in files]


def unchanged(capture: Capture) -> list[str]:
    """The paths of the capture's files, to read them again.

    Raises:
        InputError: the capture was standard input, or the files are gone or have changed.
    """
    files = [str(file) for file in capture.summary["files"]]
    if "-" in files:
        raise InputError("single packets are not known", "the capture was read from standard input", "analyse a file")
    if missing := [file for file in files if not Path(file).is_file()]:
        raise InputError(
            f"{missing[0]} is gone", "single packets are read from the capture's own files", "put it back there"
        )
    known = capture.summary.get("digests", [])
    known = known if len(known) == len(files) else [""] * len(files)
    for file, now, before in zip(files, digests(files), known, strict=True):
        if not now or now != before:
            raise InputError(
                f"{file} has changed since it was analysed", "its size or content is another", "repeat dumbbell pcap"
            )
    return files


def _digest(file: str) -> str:
    with suppress(OSError), open(inputs.opened(file), "rb") as content:
        size = os.fstat(content.fileno()).st_size
        found = sha256(f"{size} ".encode())
        found.update(content.read(_PART))
        content.seek(max(_PART, size - _PART))
        found.update(content.read(_PART))
        return found.hexdigest()
    return ""

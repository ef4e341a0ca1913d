"""A file of a bounded size, as text, gzip or not."""

from __future__ import annotations

import os
import zlib
from pathlib import Path
from typing import IO, Any, Final

from dumbbell import inputs
from dumbbell.errors import InputError

LARGEST: Final = 256 << 20
"""Bytes of text, uncompressed. What is read of it takes up to ten times as much memory."""
HEAD: Final = 64 << 10
"""Bytes by which a form is recognised."""
_GZIP: Final = b"\x1f\x8b"
_GZIP_BITS: Final = 31
"""Window bits by which zlib reads gzip."""
_CHUNK: Final = 1 << 20


def head(path: Path) -> bytes:
    """Returns the first bytes of a file, uncompressed; none if it is no regular file."""
    try:
        with open(inputs.opened(path), "rb") as file:
            return _unpacked(file, HEAD)[:HEAD]
    except (OSError, zlib.error):
        return b""


def text(path: Path) -> str:
    """Returns the text of a file. Raises `InputError` if it is larger than `LARGEST`, damaged, or not UTF-8."""
    try:
        with open(inputs.opened(path), "rb") as file:
            content = _unpacked(file, LARGEST + 1)
    except OSError as error:
        raise InputError(f"cannot read {path}", error.strerror or str(error)) from None
    except zlib.error:
        raise InputError(f"cannot read {path}", "it is damaged: its compressed data cannot be read") from None
    if len(content) > LARGEST:
        raise InputError(f"cannot read {path}", f"it has more than {LARGEST >> 20} MiB of text", "take a shorter log")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"cannot read {path}", "it is not UTF-8 text") from None


def _unpacked(file: IO[Any], most: int) -> bytes:
    """Returns up to `most` bytes: if a file is compressed and ends early, those before its end."""
    start = file.read(2)
    file.seek(0, os.SEEK_SET)
    if start != _GZIP:
        return bytes(file.read(most))
    unpack, content = zlib.decompressobj(_GZIP_BITS), bytearray()
    while len(content) < most and not unpack.eof and (part := file.read(_CHUNK)):
        content += unpack.decompress(part, most - len(content))
        while unpack.unconsumed_tail and len(content) < most:
            content += unpack.decompress(unpack.unconsumed_tail, most - len(content))
    return bytes(content)

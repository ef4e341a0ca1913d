"""The two files of a document, as text: how they are read, and how they look on disk."""

from __future__ import annotations

import os
import time
from pathlib import Path
from typing import Final

from dumbbell import inputs, outputs
from dumbbell.errors import InputError
from dumbbell.frozen import dataclass
from dumbbell.server import layout as layouts
from dumbbell.server.messages import Layout
from dumbbell.server.workspace import LARGEST, layout_of

Signature = tuple[int, int, int, int] | None
"""Identity of a file's content: device, inode, size and time of change (ns); `None`: there is none."""
CLOCK_REALTIME_COARSE: Final = 5
"""Linux's clock that dates files (clock_gettime(2)), to which Python gives no name."""
CLOCK_NS: Final = 50_000_000
"""Nanoseconds: a file that changed so shortly before it was read may change again without another time."""


@dataclass(frozen=True)
class OnDisk:
    """Content of the files. Line ends and a byte order mark are the file's own, and are kept when it is written."""

    text: str | None
    """`None`: there is no file."""
    layout: str = ""
    """Text of the layout's file; empty if there is none, or it is no layout."""
    newline: str = "\n"
    mark: bool = False
    """True if a byte order mark begins it."""
    signatures: tuple[Signature, Signature] = (None, None)
    read_at: int = 0
    """When it was read or written, in nanoseconds since 1970, by the clock that dates files."""

    @property
    def is_young(self) -> bool:
        """True if a further change might not show in the signatures."""
        return any(found is not None and found[3] >= self.read_at - CLOCK_NS for found in self.signatures)

    @property
    def parsed_layout(self) -> Layout:
        """The layout."""
        return layouts.read(self.layout) if self.layout else Layout()


def signatures(file: Path) -> tuple[Signature, Signature]:
    """Returns the signatures of a scenario's file and of its layout's."""
    return _signature(file), _signature(layout_of(file))


def _now() -> int:
    """Nanoseconds of the clock that dates files: more than `CLOCK_NS` behind others if CPU time is short."""
    return time.clock_gettime_ns(CLOCK_REALTIME_COARSE)


def _signature(path: Path) -> Signature:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_size, found.st_ctime_ns


def read(file: Path) -> OnDisk:
    """Read both files. Raises `InputError` if the scenario's is no text that can be edited."""
    at, seen = _now(), signatures(file)
    try:
        content = inputs.read(file, 4 * LARGEST)
        text = content.decode("utf-8-sig")
    except FileNotFoundError:
        return OnDisk(None, _layout(file), signatures=seen, read_at=at)
    except UnicodeDecodeError:
        raise InputError(f"{file.name} is not UTF-8 text", "", "save it as UTF-8") from None
    except OSError as error:
        raise InputError(f"cannot read {file.name}", error.strerror or str(error)) from None
    if len(text) > LARGEST:
        raise InputError(f"{file.name} is too large to be edited here", f"at most {LARGEST:,} characters")
    lines = text.count("\n")
    newline = "\r\n" if lines and text.count("\r\n") == lines else "\n"
    plain = text.replace("\r\n", "\n").replace("\r", "\n")
    return OnDisk(plain, _layout(file), newline, content.startswith(b"\xef\xbb\xbf"), seen, at)


def _layout(file: Path) -> str:
    """The layout's text, if it is one: it is worth no error."""
    try:
        text = inputs.read_text(layout_of(file), LARGEST)
        layouts.read(text)
    except (OSError, ValueError):
        return ""
    return text


def save(file: Path, before: OnDisk, text: str, layout: Layout) -> OnDisk:
    """Write what has changed since `before`, each file at once as a whole. Raises `OSError`."""
    laid = layouts.write(layout)
    if before.text is None or text != before.text:
        written = ("\ufeff" if before.mark else "") + text.replace("\n", before.newline)
        outputs.write(file, written.encode())
    if layout != before.parsed_layout:
        beside = layout_of(file)
        if laid:
            outputs.write(beside, laid.encode())
        else:
            beside.unlink(missing_ok=True)
    else:
        laid = before.layout
    return OnDisk(text, laid, before.newline, before.mark, signatures(file), _now())

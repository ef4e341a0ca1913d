"""Archives from which a kernel unpacks its root file system, in the format `newc` (Linux's
Documentation/driver-api/early-userspace/buffer-format.rst). Python's library has none; this writes files and folders.
"""

from __future__ import annotations

import stat
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Final

_MAGIC: Final = "070701"
_TRAILER: Final = "TRAILER!!!"


def archive(files: Mapping[str, bytes]) -> bytes:
    """An archive of programs and other files, by their paths without the first slash.

    The same files give the same bytes: members are sorted, numbered in order, and of root and the epoch.
    """
    folders = {str(parent) for path in files for parent in PurePosixPath(path).parents} - {"."}
    members = [(folder, stat.S_IFDIR | 0o755, b"") for folder in folders]
    members += [(path, stat.S_IFREG | 0o755, content) for path, content in files.items()]
    parts = [_member(name, mode, content, number) for number, (name, mode, content) in enumerate(sorted(members), 1)]
    return b"".join([*parts, _member(_TRAILER, 0, b"", 0)])


def _member(name: str, mode: int, content: bytes, number: int) -> bytes:
    path = name.encode() + b"\0"
    # Inode, mode, user, group, links, time, size, four numbers of devices, the name's length, and no checksum.
    fields = (number, mode, 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(path), 0)
    head = (_MAGIC + "".join(f"{field:08x}" for field in fields)).encode() + path
    return head + bytes(-len(head) % 4) + content + bytes(-len(content) % 4)

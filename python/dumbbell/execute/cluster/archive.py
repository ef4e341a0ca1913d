"""Packs a folder into one file, to send it to another machine."""

from __future__ import annotations

import io
import shutil
import tarfile
from pathlib import Path


def pack(folder: Path, archive: Path) -> None:
    """Write `folder`, by its name, to `archive`, without compression: tables are already compressed."""
    with tarfile.open(archive, "w") as tar:
        tar.add(folder, folder.name)


def unpack(archive: bytes | Path, into: Path) -> Path:
    """Unpack the folder in `archive` below `into`, replacing an older one. Returns its path."""
    shutil.rmtree(into, ignore_errors=True)
    into.mkdir(parents=True)
    opened = io.BytesIO(archive) if isinstance(archive, bytes) else archive.open("rb")
    with opened as file, tarfile.open(fileobj=file) as tar:
        # Python before 3.11.4 knows no filters; the archives come from the cluster's own nodes.
        tar.extraction_filter = getattr(tarfile, "data_filter", lambda member, path: member)
        tar.extractall(into)
    (folder,) = into.iterdir()
    return folder

"""The application's page and its modules, as the build made them. Imports little, so the page comes before the rest."""

from __future__ import annotations

import asyncio
import hashlib
from contextlib import suppress
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from dumbbell import inputs
from dumbbell.command import rebuild

if TYPE_CHECKING:
    from starlette.types import Send


PAGE: Final = Path(__file__).parent / "page"
_KINDS: Final = {
    ".js": b"text/javascript; charset=utf-8",
    ".css": b"text/css; charset=utf-8",
    ".wasm": b"application/wasm",
    ".woff2": b"font/woff2",
    ".svg": b"image/svg+xml",
    ".png": b"image/png",
    ".json": b"application/json",
    ".txt": b"text/plain; charset=utf-8",
}
_LARGEST: Final = 256 << 20
"""More bytes than any file of the page has."""
PART: Final = 65_536
"""Bytes of a file that are sent at a time."""
_FOR_EVER: Final = (b"cache-control", b"public, max-age=31536000, immutable")


async def answer(path: str, method: str, send: Send) -> None:
    """Answer a request for the page, or for one of its modules, whose names change with their content."""
    status, kind, content = await asyncio.to_thread(_content, path)
    headers = [(b"content-type", kind), (b"content-length", str(len(content)).encode())]
    if path != "/" and status == 200:
        headers.append(_FOR_EVER)
    await send({"type": "http.response.start", "status": status, "headers": headers})
    # In parts: only what the peer takes in is copied to its connection.
    for start in range(0, 0 if method == "HEAD" else len(content), PART):
        await send({"type": "http.response.body", "body": content[start : start + PART], "more_body": True})
    await send({"type": "http.response.body", "body": b""})


def _content(path: str) -> tuple[int, bytes, bytes]:
    """Status, type and content."""
    html = b"text/html; charset=utf-8"
    if path == "/":
        index = PAGE / "index.html"
        if index.is_file():
            return 200, html, index.read_bytes()
        text = f"<!doctype html><title>dumbbell</title><p>The page is not built: <code>{rebuild('ui')}</code></p>"
        return 503, html, text.encode()
    folder, _, name = path.rpartition("/")
    file = PAGE / "assets" / name
    kind = _KINDS.get(file.suffix)
    if folder == "/assets" and kind is not None and file.parent == PAGE / "assets":
        with suppress(OSError, ValueError):
            return 200, kind, _bytes(file, file.stat().st_mtime_ns)
    return 404, b"text/plain", b"there is no such file"


@lru_cache(maxsize=64)
def _bytes(file: Path, modified: int) -> bytes:
    """One copy for all who are taking it in."""
    return inputs.read(file, _LARGEST)


def version() -> str:
    """Returns the page's version: a digest of the page, which names its modules."""
    index = PAGE / "index.html"
    return _digest(index.stat().st_mtime_ns) if index.is_file() else "none"


@cache
def _digest(modified: int) -> str:
    return hashlib.sha256((PAGE / "index.html").read_bytes()).hexdigest()[:16]

"""The application's page and its modules, as the build made them."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path
from typing import Final

from fastapi import APIRouter
from fastapi.responses import FileResponse, HTMLResponse, Response

from dumbbell.command import rebuild

PAGE: Final = Path(__file__).parent / "page"
_KINDS: Final = {
    ".js": "text/javascript",
    ".css": "text/css",
    ".wasm": "application/wasm",
    ".woff2": "font/woff2",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".json": "application/json",
    ".txt": "text/plain; charset=utf-8",
}
router = APIRouter()


@router.get("/", include_in_schema=False)
def page() -> Response:
    """The page. It is asked for anew each time; what it loads has names that change with their content."""
    index = PAGE / "index.html"
    if not index.is_file():
        text = f"<!doctype html><title>dumbbell</title><p>The page is not built: <code>{rebuild()}</code></p>"
        return HTMLResponse(text, status_code=503)
    return HTMLResponse(index.read_bytes())


@router.get("/assets/{name}", include_in_schema=False)
def asset(name: str) -> Response:
    """A module, a style sheet or an image of the page."""
    path = PAGE / "assets" / name
    kind = _KINDS.get(path.suffix)
    if kind is None or path.parent != PAGE / "assets" or not path.is_file():
        return Response(status_code=404)
    return FileResponse(path, media_type=kind, headers={"Cache-Control": "public, max-age=31536000, immutable"})


def version() -> str:
    """What tells this page from that of another version: a digest of the page, which names its modules."""
    return _digest((PAGE / "index.html").stat().st_mtime_ns if (PAGE / "index.html").is_file() else 0)


@cache
def _digest(modified: int) -> str:
    return hashlib.sha256((PAGE / "index.html").read_bytes()).hexdigest()[:16] if modified else "none"

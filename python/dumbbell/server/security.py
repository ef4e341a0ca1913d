"""Guards the server: it talks only to its own page in the user's own browser.

A local server that runs programs is remote code execution for any web page that gets at it, and other users of the
machine can connect to its port. `Guard` stands before everything, for HTTP and for WebSockets. It checks the `Host`
header (another name for 127.0.0.1 is DNS rebinding), the `Origin` (another page, also one from another port of this
machine), the type of bodies (a form needs no permission to be sent anywhere), their size, and the cookie.

The cookie is for the token in the URL's fragment, which no server, log or `Referer` ever gets to see. Browsers send
cookies to all ports of a host (RFC 6265, section 8.5), and behind another port may be a server of another user. So the
server has a random name below `localhost`, which browsers take for this machine's loopback without asking anybody.
"""

from __future__ import annotations

import hmac
import json
import secrets
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Final

from dumbbell.errors import DumbbellError

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send


LOOPBACK: Final = ("127.0.0.1", "[::1]", "localhost")
LOGIN: Final = "/api/login"
LARGEST_BODY: Final = 9_000_000
"""Bytes of a request's body: a text of 2 MB, each character escaped, and some room."""
LARGEST_IMPORT: Final = 64 << 20
LARGEST_CAPTURE: Final = 1 << 30
CAPTURES: Final = "/api/fit"
"""The route whose body is a capture or a log, as it is."""
LARGEST_LOGIN: Final = 1_000
_LARGEST: Final = {LOGIN: LARGEST_LOGIN, "/api/import": LARGEST_IMPORT, CAPTURES: LARGEST_CAPTURE}
STRANGER_S: Final = 10.0
"""Until the body of a request without the cookie must be there as a whole."""

PAGE_POLICY: Final = (
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; font-src 'self'; connect-src 'self'; worker-src 'self'; frame-src 'self'; "
    "frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
)
"""Policy on what the application's page may load and do."""


@cache
def record_policy() -> bytes:
    """The policy of files of runs, which may be a stranger's.

    They have an origin of their own, without the cookie, and no connection to anywhere. Only the programs of our own
    reports run, as browsers have no policy against WebRTC. They have none either that keeps a page in a tab from
    leading elsewhere; in a frame, the application's own does. So such files are shown in frames alone, and else saved.
    """
    from dumbbell.report.render import html
    from dumbbell.report.render.markup import digest

    ours = []
    for program in html.PROGRAMS:
        with suppress(DumbbellError):  # It was not built, so no report has it.
            ours.append(f"'{digest(html.read(f'assets/{program}.js'))}'")
    return (
        f"sandbox allow-scripts allow-downloads; default-src 'none'; script-src {' '.join(ours)}; "
        "style-src 'unsafe-inline'; img-src data: blob:; font-src data:; frame-ancestors 'self'; base-uri 'none'; "
        "form-action 'none'"
    ).encode()


_ALWAYS: Final = {
    b"x-content-type-options": b"nosniff",
    b"referrer-policy": b"no-referrer",
    b"cross-origin-opener-policy": b"same-origin",
    b"cross-origin-resource-policy": b"same-origin",
    b"content-security-policy": PAGE_POLICY.encode(),
    b"cache-control": b"no-store",
}
"""Headers of every answer that does not set them itself. There are none of CORS."""
_CLOSE: Final = (b"connection", b"close")
"""The rest of a body that is not read would be taken for the next request."""
_SAFE: Final = ("GET", "HEAD")


@dataclass
class Access:
    """The token, the cookie, and the names by which this server may be called."""

    port: int | None
    """`None`: a Unix socket, which a tunnel may show at any port of the browser's machine."""
    hosts: tuple[str, ...] = field(default_factory=lambda: (f"d-{secrets.token_hex(8)}.localhost",))
    tls: bool = False
    """With it, browsers keep the cookie from whoever has no certificate for the host."""
    token: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    """256 bits, for the URL's fragment."""
    session: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    """The cookie's value."""

    @property
    def cookie(self) -> str:
        """The cookie's name. Cookies do not know ports, so the name does. The prefix is of RFC 6265bis, 4.1.3.2."""
        return f"{'__Host-' if self.tls else ''}dumbbell-{self.port or 'socket'}"

    def set_cookie(self) -> str:
        """The header `Set-Cookie`."""
        return f"{self.cookie}={self.session}; Path=/; HttpOnly; SameSite=Strict{'; Secure' if self.tls else ''}"

    def is_token(self, given: str) -> bool:
        """Compares in constant time."""
        return hmac.compare_digest(given.encode(), self.token.encode())

    def is_host(self, host: str) -> bool:
        """True if `Host` names this server."""
        if self.port is not None:
            standard = {80: False, 443: True}.get(self.port) is self.tls
            return host in {f"{name}:{self.port}" for name in self.hosts} | (set(self.hosts) if standard else set())
        name, _, port = host.rpartition(":")
        return host in self.hosts or (name in self.hosts and port.isascii() and port.isdigit())

    def is_origin(self, origin: str, host: str) -> bool:
        """True if `Origin` is this server, called as in `Host`."""
        return origin == f"{'https' if self.tls else 'http'}://{host}"

    def has_cookie(self, headers: Iterable[bytes]) -> bool:
        """True if one of the headers `Cookie` has the session.

        Browsers send it without quotes, and Python's parser takes seconds for a header of many backslashes.
        """
        wanted = f"{self.cookie}={self.session}".encode()
        return any(hmac.compare_digest(one.strip(), wanted) for header in headers for one in header.split(b";"))


class Refused(Exception):
    """A request that the guard does not let pass."""

    def __init__(self, status: int, what: str, why: str = "", hint: str = "") -> None:
        """Say it as a problem."""
        super().__init__(what)
        self.status, self.problem = status, {"what": what, "why": why, "hint": hint}


class Guard:
    """ASGI middleware before everything else."""

    def __init__(self, app: ASGIApp, access: Access) -> None:
        """Let pass to `app` what `access` allows."""
        self._app, self._access = app, access

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, or refuse it."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        try:
            most = self._check(scope)
        except Refused as refused:
            if refused.status == 413 and _length(scope) < 2 * LARGEST_IMPORT:
                with suppress(TimeoutError):
                    await _drained(receive)
            await _refuse(scope, receive, send, refused)
            return
        if scope["type"] == "websocket":
            await self._app(scope, receive, send)
            return
        body = _Body(receive, most, STRANGER_S if scope["path"] == LOGIN else None)

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                if body.refused is not None:
                    message["status"] = body.refused.status
                headers = _confined([(name.lower(), value) for name, value in message.get("headers", [])], scope)
                own = {name for name, _ in headers}
                message["headers"] = [*headers, *((name, value) for name, value in _ALWAYS.items() if name not in own)]
                if body.refused is not None:
                    message["headers"].append(_CLOSE)
            await send(message)

        await self._app(scope, body, with_headers)

    def _check(self, scope: Scope) -> int:
        """The most bytes that the body may have. Raises `Refused`."""
        access, path = self._access, scope["path"]
        headers: dict[bytes, list[bytes]] = {}
        for name, value in scope["headers"]:
            headers.setdefault(name.lower(), []).append(value)
        host = _only(headers, b"host")
        if host is None or not access.is_host(host):
            raise Refused(421, "this server is not called so", f"Host: {host or ''}", "use the URL that it printed")
        origin, is_socket = _only(headers, b"origin"), scope["type"] == "websocket"
        method = "GET" if is_socket else scope["method"]
        if b"origin" in headers and (origin is None or not access.is_origin(origin, host)):
            raise Refused(403, "another page asks", f"Origin: {origin or ''}")
        if b"origin" not in headers and (is_socket or method not in _SAFE):
            raise Refused(403, "no page asks", "the header Origin is missing")
        is_page = not path.startswith("/api") and not is_socket and method in _SAFE
        site = _only(headers, b"sec-fetch-site") or "none"
        if not is_page and site not in ("same-origin", "none"):
            raise Refused(403, "another page asks", f"Sec-Fetch-Site: {site}")
        if method not in _SAFE:
            kind = (_only(headers, b"content-type") or "").partition(";")[0].strip().lower()
            # No form can send either, and no other page without asking first.
            wanted = "application/octet-stream" if path == CAPTURES else "application/json"
            if kind != wanted:
                raise Refused(415, f"not {wanted}", f"Content-Type: {kind}", f"send {wanted}")
        if not is_page and path != LOGIN and not access.has_cookie(headers.get(b"cookie", [])):
            raise Refused(401, "not logged in", "the cookie is missing", "open the URL that dumbbell ui printed")
        most = _LARGEST.get(path, LARGEST_BODY)
        length = _only(headers, b"content-length") or "0"
        if not length.isdigit() or int(length) > most:
            raise _too_large(most)
        return most


def _confined(headers: list[tuple[bytes, bytes]], scope: Scope) -> list[tuple[bytes, bytes]]:
    """Whatever a route puts into a sandbox gets the whole policy of such files, and is saved unless a frame asks."""
    given = dict(headers)
    if not given.get(b"content-security-policy", b"").startswith(b"sandbox"):
        return headers
    given |= {b"content-security-policy": record_policy(), b"x-dns-prefetch-control": b"off"}
    if dict(scope["headers"]).get(b"sec-fetch-dest") != b"iframe":
        given.setdefault(b"content-disposition", b"attachment")
    return list(given.items())


def _only(headers: dict[bytes, list[bytes]], name: bytes) -> str | None:
    """The value of a header that is there once; `None` if it is missing or there twice."""
    values = headers.get(name, [])
    return values[0].decode("latin-1") if len(values) == 1 else None


def _too_large(most: int) -> Refused:
    return Refused(413, "too large", f"at most {most:,} bytes")


class _Body:
    """A request's body, counted as it comes: it need not say its length."""

    def __init__(self, receive: Receive, most: int, most_s: float | None) -> None:
        self._receive, self._most, self._got = receive, most, 0
        self._until = None if most_s is None else time.monotonic() + most_s
        self.refused: Refused | None = None
        """Why the body is not taken. Whoever reads it may answer the exception in a way of his own."""

    async def __call__(self) -> Message:
        """The next part. Raises `Refused` if it is too large or too slow."""
        import asyncio

        try:
            async with asyncio.timeout(None if self._until is None else self._until - time.monotonic()):
                message = await self._receive()
        except TimeoutError:
            self.refused = Refused(408, "too slow", f"no whole request within {STRANGER_S:g} s")
            raise self.refused from None
        self._got += len(message.get("body", b""))
        if self._got > self._most:
            self.refused = _too_large(self._most)
            raise self.refused
        return message


async def _drained(receive: Receive) -> None:
    """Take in the rest of a body: a browser hears no answer before it has sent all. Raises `TimeoutError`."""
    import asyncio

    more = True
    async with asyncio.timeout(STRANGER_S):
        while more:
            message = await receive()
            more = message["type"] == "http.request" and message.get("more_body", False)


def _length(scope: Scope) -> int:
    """The length of the body that is announced; 0 if none is, or it is no number."""
    found = dict(scope["headers"]).get(b"content-length", b"0")
    return int(found) if found.isdigit() and len(found) < 20 else 0


def answer(refused: Refused) -> tuple[int, dict[str, object]]:
    """The status and the body of a refusal."""
    return refused.status, {**refused.problem, "wrong": "", "key": None, "line": None, "column": None, "length": None}


async def _refuse(scope: Scope, receive: Receive, send: Send, refused: Refused) -> None:
    """Answer with the problem; a WebSocket is closed before it opens, which the browser sees as 403."""
    if scope["type"] == "websocket":
        await receive()  # its connect
        await send({"type": "websocket.close", "code": 1008, "reason": str(refused)})
        return
    status, told = answer(refused)
    body = json.dumps(told).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    headers += [*_ALWAYS.items(), _CLOSE]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})

"""Serves the application. The port is open before anything slow is imported, so that the URL can be printed at once."""

from __future__ import annotations

import gc
import os
import signal
import socket
import stat
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Final

from dumbbell.errors import InputError
from dumbbell.server.security import LOOPBACK, Access, App, Guard

YOUNG: Final = 50_000
"""Objects that are made before Python looks among them for garbage: a check of a large network makes half of them."""


@dataclass(frozen=True)
class Listening:
    """An open socket, and who may use it."""

    socket: socket.socket
    access: Access
    url: str
    """With the token; of a Unix socket, with `PORT` for the port at which a tunnel shows it."""
    certificate: Path | None = None
    path: Path | None = None
    """Of a Unix socket."""


def listen(port: int, host: str | None, certificate: Path | None, uds: Path | None) -> Listening:
    """Open the socket.

    Args:
        port: 0 for any.
        host: an address beside the loopback's, with `certificate`; `None`: 127.0.0.1.
        certificate: PEM file with a certificate and its key.
        uds: the path of a Unix socket, in place of a port.

    Raises:
        InputError: it can't be had.
    """
    if uds is not None:
        access = Access(None)
        return Listening(_unix(uds), access, f"http://localhost:PORT/#token={access.token}", path=uds)
    if host is not None and certificate is None:
        why = "everything, the token and terminals as well, would cross the network in clear"
        raise InputError(
            f"--host {host} without --certificate", why, "over ssh, no other address is needed: --uds PATH"
        )
    if certificate is not None:
        _check(certificate)
    address = host or "127.0.0.1"
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    opened = socket.socket(family, socket.SOCK_STREAM | socket.SOCK_CLOEXEC)
    opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        opened.bind((address, port))
        opened.listen(128)
    except (OSError, OverflowError) as error:
        opened.close()
        hint = "choose another port, or leave --port out"
        raise InputError(
            f"cannot listen at {address}:{port}", getattr(error, "strerror", "") or str(error), hint
        ) from None
    number = opened.getsockname()[1]
    if address in ("0.0.0.0", "::"):
        address = socket.gethostname()  # All addresses are none that a browser could open.
    shown = f"[{address}]" if ":" in address else address
    hosts = (
        LOOPBACK if host is None else tuple(dict.fromkeys([*LOOPBACK, shown, socket.gethostname(), socket.getfqdn()]))
    )
    access = Access(number, hosts, tls=certificate is not None)
    scheme = "https" if certificate else "http"
    return Listening(opened, access, f"{scheme}://{shown}:{number}/#token={access.token}", certificate)


def _check(certificate: Path) -> None:
    """Raise `InputError` unless it is a certificate with its key."""
    import ssl

    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(certificate)
    except OSError as error:
        hint = "a PEM file with the certificate and its key: cat key.pem certificate.pem"
        raise InputError(
            f"{certificate} does not hold a certificate with its key", error.strerror or str(error), hint
        ) from None


def _unix(path: Path) -> socket.socket:
    opened = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_CLOEXEC)
    mask = os.umask(0o177)
    try:
        with suppress(FileNotFoundError):
            if not stat.S_ISSOCK(path.lstat().st_mode):
                raise InputError(f"{path} is there already", "it is not a socket", "choose another path")
            if _answers(path):
                raise InputError(f"another server listens at {path}", "", "choose another path")
            path.unlink()
        opened.bind(os.fspath(path))
        opened.listen(128)
    except OSError as error:
        opened.close()
        raise InputError(f"cannot listen at {path}", error.strerror or str(error)) from None
    finally:
        os.umask(mask)
    return opened


def _answers(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as trial, suppress(OSError):
        trial.connect(os.fspath(path))
        return True
    return False


def application(root: Path, access: Access) -> Guard:
    """The application of the workspace `root`, behind its guard."""
    from dumbbell.server.soon import Soon  # It imports asyncio, which the URL need not wait for.

    def made() -> App:
        from dumbbell.server.app import routes
        from dumbbell.server.workspace import Workspace

        app = routes(Workspace(root), access)
        # What was imported stays, and looking for garbage in it costs a change of a large network 30 ms now and then.
        gc.collect()
        gc.freeze()
        gc.set_threshold(YOUNG, 20, 20)
        return app

    return Guard(Soon(made), access)


def serve(listening: Listening, root: Path, ready: Callable[[], None]) -> None:
    """Serve the workspace `root` until Ctrl-C or SIGTERM; call `ready` when it answers."""
    import uvicorn

    class Server(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            ready()

    # uvicorn ends in its own time, and then repeats the signal: what is to be left behind as it was must still be done.
    signal.signal(signal.SIGTERM, _end)
    certificate = None if listening.certificate is None else os.fspath(listening.certificate)
    settings = uvicorn.Config(
        application(root, listening.access),
        ws="websockets-sansio",
        ws_max_size=9_000_000,
        ws_ping_interval=20,
        ws_per_message_deflate=False,  # 10 messages a second to the same machine
        access_log=False,
        log_level="warning",
        server_header=False,
        proxy_headers=False,
        h11_max_incomplete_event_size=64_000,
        timeout_graceful_shutdown=2,
        ssl_certfile=certificate,
        ssl_keyfile=certificate,
    )
    try:
        Server(settings).run(sockets=[listening.socket])
    finally:
        listening.socket.close()
        if listening.path is not None:
            listening.path.unlink(missing_ok=True)


def _end(number: int, frame: FrameType | None) -> None:
    raise SystemExit(128 + number)

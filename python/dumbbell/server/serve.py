"""Serves the application. The port is open before anything slow is imported, so that the URL can be printed at once."""

from __future__ import annotations

import errno
import gc
import os
import signal
import socket
import stat
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Final

from dumbbell.errors import InputError
from dumbbell.frozen import dataclass
from dumbbell.server.security import LOOPBACK, Access, Guard

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from dumbbell.server.limits import Server

YOUNG: Final = 50_000
"""Objects that are made before Python looks among them for garbage: a check of a large network makes half of them."""
TRIES: Final = 20
"""Ports that are tried until one is free at both addresses of the loopback."""


@dataclass(frozen=True)
class Listening:
    """Open sockets, and who may use them."""

    sockets: tuple[socket.socket, ...]
    access: Access
    url: str
    """With the token; of a Unix socket, with `PORT` for the port at which a tunnel shows it."""
    certificate: Path | None = None
    path: Path | None = None
    """Path of a Unix socket."""


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
        return Listening((_unix(uds),), access, f"http://{access.hosts[0]}:PORT/#token={access.token}", path=uds)
    if host is not None and certificate is None:
        why = "everything, the token and terminals as well, would cross the network in clear"
        raise InputError(
            f"--host {host} without --certificate", why, "over ssh, no other address is needed: --uds PATH"
        )
    if certificate is not None:
        _check(certificate)
    if host is None:
        sockets = _loopback(port)
        number = sockets[0].getsockname()[1]
        # A certificate is for names that are known.
        access = Access(number) if certificate is None else Access(number, LOOPBACK, tls=True)
        shown = access.hosts[0]
    else:
        sockets = (_bound(host, port),)
        # All addresses are none that a browser could open.
        address = socket.gethostname() if host in ("0.0.0.0", "::") else host
        shown = f"[{address}]" if ":" in address else address
        hosts = tuple(dict.fromkeys([*LOOPBACK, shown, socket.gethostname(), socket.getfqdn()]))
        access = Access(sockets[0].getsockname()[1], hosts, tls=True)
    scheme = "https" if certificate else "http"
    return Listening(sockets, access, f"{scheme}://{shown}:{access.port}/#token={access.token}", certificate)


def _loopback(port: int) -> tuple[socket.socket, ...]:
    """Sockets at both addresses of the loopback: a browser may try either for a name below `localhost`.

    At the address that is left out another user of the machine could listen, and get the token.
    """
    for _ in range(1 if port else TRIES):
        first = _bound("127.0.0.1", port)
        number = first.getsockname()[1]
        try:
            return first, _bound("::1", number)
        except InputError as error:
            if isinstance(error.__context__, OSError) and error.__context__.errno in _NO_IPV6:
                return (first,)
            first.close()
            refused = error
    raise refused


_NO_IPV6: Final = (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT)
"""Errors of a machine on which nobody can listen at `::1`."""


def _bound(address: str, port: int) -> socket.socket:
    """A socket at an address. Raises `InputError`."""
    opened = None
    try:
        opened = socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET, socket.SOCK_STREAM)
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        opened.bind((address, port))
        opened.listen(128)
    except (OSError, OverflowError) as error:
        if opened is not None:
            opened.close()
        hint = "choose another port, or leave --port out"
        raise InputError(
            f"cannot listen at {address}:{port}", getattr(error, "strerror", "") or str(error), hint
        ) from None
    return opened


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

    def made() -> ASGIApp:
        from dumbbell.server.app import routes
        from dumbbell.server.workspace import Workspace

        app = routes(Workspace(root), access)
        # What was imported stays, and looking for garbage in it costs a change of a large network 30 ms now and then.
        gc.collect()
        gc.freeze()
        gc.set_threshold(YOUNG, 20, 20)
        return app

    return Guard(Soon(made), access)


def server(listening: Listening, root: Path, ready: Callable[[], None]) -> tuple[Server, list[socket.socket]]:
    """A server of the workspace `root`, which calls `ready` when it answers, and the sockets to run it with."""
    import uvicorn

    from dumbbell.server import limits

    class Ours(limits.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            ready()

    gate = limits.Gate(limits.lift_descriptors())
    certificate = None if listening.certificate is None else os.fspath(listening.certificate)
    settings = uvicorn.Config(
        application(root, listening.access),
        http=limits.protocol(gate, listening.access.has_cookie),
        backlog=limits.BACKLOG,
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
    limits.ration_logs()
    limits.shrink_tls_buffers()
    made = Ours(settings)
    made.gate = gate
    return made, [limits.listener(one, gate) for one in listening.sockets]


def serve(listening: Listening, root: Path, ready: Callable[[], None]) -> None:
    """Serve the workspace `root` until Ctrl-C or SIGTERM; call `ready` when it answers."""
    # uvicorn ends in its own time, and then repeats the signal: what is to be left behind as it was must still be done.
    signal.signal(signal.SIGTERM, _end)
    made, sockets = server(listening, root, ready)
    try:
        made.run(sockets=sockets)
    finally:
        for one in sockets:
            one.close()
        if listening.path is not None:
            listening.path.unlink(missing_ok=True)


def _end(number: int, frame: FrameType | None) -> None:
    raise SystemExit(128 + number)

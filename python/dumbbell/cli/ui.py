"""`dumbbell ui`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def command(
    directory: Annotated[
        Path,
        typer.Argument(metavar="[DIR]", help="The folder of scenarios, runs and studies.", show_default="here"),
    ] = Path(),
    port: Annotated[int, typer.Option("--port", metavar="PORT", help="The port. 0: any.", min=0, max=65535)] = 0,
    no_open: Annotated[bool, typer.Option("--no-open", help="Do not open the browser.")] = False,
    uds: Annotated[
        Path | None,
        typer.Option(
            "--uds",
            metavar="PATH",
            help="A Unix socket in place of a port, which only you can use: for ssh -L 8080:PATH.",
            show_default=False,
        ),
    ] = None,
    host: Annotated[
        str | None,
        typer.Option(
            "--host", metavar="ADDRESS", help="Another address than the loopback's.", show_default="127.0.0.1"
        ),
    ] = None,
    certificate: Annotated[
        Path | None,
        typer.Option("--certificate", metavar="FILE", help="A TLS certificate with its key (PEM).", show_default=False),
    ] = None,
    as_root: Annotated[bool, typer.Option("--as-root", help="Serve even as root.")] = False,
    running: Annotated[bool, typer.Option("--list", help="List your running servers, and exit.")] = False,
) -> None:
    """Draw networks in the browser, run them, watch them, compare.

    Serves a page to this machine's browser alone, under a URL with a token. Ctrl-C ends it; runs and studies go on.
    """
    import os
    import sys

    from dumbbell.errors import InputError

    if running:
        _list()
        return
    if not directory.is_dir():
        raise InputError(f"{directory} is not a folder", "", "name the folder that holds your scenarios")
    if os.geteuid() == 0 and not as_root:
        why = "whoever gets at the page could do everything on this machine"
        hint = "start it as an ordinary user: sudo dumbbell cc load lends them BPF algorithms. Or add --as-root"
        raise InputError("the application is not served by root", why, hint)
    from dumbbell.command import rebuild
    from dumbbell.server.assets import PAGE
    from dumbbell.server.serve import listen

    if not (PAGE / "index.html").is_file():
        raise InputError("the application's page is not built", f"there is no {PAGE / 'index.html'}", rebuild("ui"))
    listening = listen(port, host, certificate, uds)
    print(listening.url, flush=True)
    if uds is not None:
        print(f"through a tunnel: ssh -L 8080:{uds.absolute()} THIS-MACHINE; PORT is 8080 then", file=sys.stderr)
    if host is not None:
        print(f"warning: whoever reaches {host} and has the token can run programs here as you", file=sys.stderr)
    from dumbbell.server import place
    from dumbbell.server.serve import serve

    noted = place.note(listening.url, directory.absolute())
    try:
        serve(listening, directory, lambda: None if no_open or uds is not None else _open(listening.url))
    finally:
        noted.unlink(missing_ok=True)
        _page().unlink(missing_ok=True)


def _open(url: str) -> None:
    """Open the browser, if there is one with a display. The token is in no command line that other users could see."""
    import os
    import sys
    import threading

    if not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY") or sys.platform == "darwin"):
        return
    threading.Thread(target=_browse, args=[url], daemon=True).start()


def _browse(url: str) -> None:
    import webbrowser
    from html import escape

    from dumbbell import outputs

    page = _page()
    leads = f'<!doctype html><meta http-equiv="refresh" content="0;url={escape(url)}"><title>dumbbell</title>'
    outputs.write(page, leads, mode=0o600)
    webbrowser.open(page.as_uri())


def _page() -> Path:
    """The page that leads the browser to the URL; only the user can read it."""
    import os

    from dumbbell.server.place import folder

    return folder() / f"open-{os.getpid()}.html"


def _list() -> None:
    from dumbbell.server.place import noted

    for one in noted():
        print(f"{one.url}  {one.workspace}")

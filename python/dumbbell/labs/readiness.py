"""The moment from which a server in a node can be reached: its socket listens on a port."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from typing import Final

from dumbbell.errors import InputError, RunFailed

LIMIT_S: Final = 60.0
"""A server that does not listen by then has failed."""
_LOOK_S: Final = 0.02
_LISTENS: Final = {"tcp": "0A", "udp": "07"}
"""The state of a socket that waits for clients, as /proc/net says it (proc_net_tcp.txt of Linux's documentation)."""


def wait(node: str, output: Callable[[str], str], failure: Callable[[], str | None], ready: str) -> None:
    """Wait until a socket of a node listens on a port, at any address of IPv4 or IPv6.

    Args:
        node: its name.
        output: runs a command line in the node, and returns its output.
        failure: says how the program that is to open the port has failed; then there is nothing to wait for.
        ready: the protocol and the port: `tcp 80`, `udp 53`.

    Raises:
        InputError: `ready` is no such text.
        RunFailed: the program failed before, or nothing listens within a minute.
    """
    protocol, port = checked(ready)
    # A line: its number, the local address and port, the remote ones, the state.
    listens = re.compile(rf"^\s*\d+: [0-9A-F]+:{port:04X} [0-9A-F]+:0000 {_LISTENS[protocol]} ", re.MULTILINE)
    deadline = time.monotonic() + LIMIT_S
    while not listens.search(output(f"cat /proc/net/{protocol} /proc/net/{protocol}6 2>/dev/null")):
        what = f"nothing listens on {ready} in {node}"
        if failed := failure():
            raise RunFailed(what, failed, "")
        if time.monotonic() > deadline:
            raise RunFailed(what, f"after {LIMIT_S:.0f} s", "does the program listen on another port?")
        time.sleep(_LOOK_S)


def checked(ready: str) -> tuple[str, int]:
    """The protocol and the port of a text such as `tcp 80`. Raises `InputError`."""
    # A command in a node does not need a scenario's models, and comes sooner without.
    from dumbbell.scenario.traffic.programs import port

    found = port(ready)
    if found is None:
        raise InputError(f"ready = {ready!r}", "it is a protocol and a port", 'write ready="tcp 80"')
    return found

"""Where pings come by: the echoes of `ping_all` at all interfaces of some nodes, in the order of time.

They are known by what they carry: a router sends from the address of whichever interface it takes, a policy or a route
chooses another source, and address translation changes both ends on the way.
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Final

from dumbbell.frozen import dataclass
from dumbbell.labs.agent import Connection

_ETHERNET: Final = 14
_IPV4, _IPV6 = 0x0800, 0x86DD
_OUTGOING: Final = 4
"""`PACKET_OUTGOING` of packet(7): the node sends the frame."""
_HEADER: Final = 20
"""Bytes of the shortest header of IPv4; that of IPv6 has twice as many."""
_ICMP: Final = 8
"""Bytes of the header of an echo, before what it carries."""
_OURS: Final = struct.Struct("!II")
"""The first bytes that a ping of `ping_all` carries."""
_LONGEST: Final = 65_536
_REQUESTS: Final = (8, 128)
_ECHOES: Final = {1: (8, 0), 58: (128, 129)}
"""Types of echoes, requests and replies, by the protocol below IP (RFC 792, RFC 4443)."""


@dataclass(frozen=True)
class Seen:
    """An echo request or reply at an interface."""

    time_ns: int
    node: str
    interface: str
    is_sent: bool
    """The node sends it; if not, the node receives it."""
    pair: tuple[int, int]
    """The node that asks and the one that is asked, as indices of the hosts of `ping_all`."""
    is_request: bool
    ttl: int
    """Its time to live, or hop limit, there."""


def pings(lab: Path, places: Sequence[tuple[str, str]], work: Callable[[], object]) -> list[Seen]:
    """The echoes that come by while `work` is done.

    Args:
        lab: the lab's directory.
        places: nodes and their interfaces.
        work: sends pings, and waits for answers.

    Raises:
        RunFailed: there is no such interface, or the lab has ended.
    """
    with ExitStack() as stack:
        sockets = []
        for node, interface in places:
            with Connection(lab, {"do": "capture", "node": node, "interface": interface}) as connection:
                connection.answer()
                sees = stack.enter_context(socket.socket(fileno=connection.descriptors.pop()))
            sees.setblocking(False)
            sockets.append((node, interface, sees))
        work()
        found = [seen for node, interface, sees in sockets for seen in _read(node, interface, sees)]
    return sorted(found, key=lambda seen: seen.time_ns)


def _read(node: str, interface: str, sees: socket.socket) -> Iterator[Seen]:
    while True:
        try:
            frame, stamps, _, address = sees.recvmsg(_LONGEST, 64)
        except BlockingIOError:
            return
        except OSError:  # The interface is down; what came before that can still be read.
            continue
        s, ns = struct.unpack("qq", stamps[0][2])
        echo = _parsed(frame)
        if echo is not None:
            yield Seen(s * 1_000_000_000 + ns, node, interface, address[2] == _OUTGOING, *echo)


def _parsed(frame: bytes) -> tuple[tuple[int, int], bool, int] | None:
    """The pair, whether it is a request, and the TTL; `None` of other frames."""
    kind, ip = int.from_bytes(frame[12:14], "big"), frame[_ETHERNET:]
    if kind == _IPV4 and len(ip) >= _HEADER:
        protocol, ttl, rest = ip[9], ip[8], ip[4 * (ip[0] & 15) :]
    elif kind == _IPV6 and len(ip) > 2 * _HEADER:
        protocol, ttl, rest = ip[6], ip[7], ip[2 * _HEADER :]
    else:
        return None
    if len(rest) < _ICMP + _OURS.size or rest[0] not in _ECHOES.get(protocol, ()):
        return None
    from_, to = _OURS.unpack_from(rest, _ICMP)
    return (from_, to), rest[0] in _REQUESTS, ttl

"""Where pings come by: the echo requests and replies at all interfaces of some nodes, in the order of time."""

from __future__ import annotations

import socket
import struct
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from ipaddress import IPv4Address, IPv6Address, ip_address
from pathlib import Path
from typing import Final

from dumbbell.frozen import dataclass
from dumbbell.labs.agent import Connection

_ETHERNET: Final = 14
_IPV4, _IPV6 = 0x0800, 0x86DD
_OUTGOING: Final = 4
"""`PACKET_OUTGOING` of packet(7): the node sends the frame."""
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
    from_: str
    to: str
    """Its addresses."""
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


def _parsed(frame: bytes) -> tuple[str, str, bool, int] | None:
    """Addresses, whether it is a request, and the TTL; `None` of other frames."""
    if len(frame) < _ETHERNET + 28:
        return None
    kind, ip = int.from_bytes(frame[12:14], "big"), frame[_ETHERNET:]
    addresses: tuple[IPv4Address | IPv6Address, IPv4Address | IPv6Address]
    if kind == _IPV4:
        protocol, ttl, rest = ip[9], ip[8], ip[4 * (ip[0] & 15) :]
        addresses = ip_address(ip[12:16]), ip_address(ip[16:20])
    elif kind == _IPV6 and len(ip) > 40:
        protocol, ttl, rest = ip[6], ip[7], ip[40:]
        addresses = ip_address(ip[8:24]), ip_address(ip[24:40])
    else:
        return None
    if not rest or rest[0] not in _ECHOES.get(protocol, ()):
        return None
    return str(addresses[0]), str(addresses[1]), rest[0] in _REQUESTS, ttl

"""Sizes of packets, in bytes: what a network's MTU leaves for frames and payload."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal

Version = Literal[4, 6]
"""A version of IP."""

MTU: Final = 1500
"""Ethernet's maximum transmission unit: the most bytes of an IP packet."""
ETHERNET: Final = 14
"""Header of a frame, without preamble and frame check sequence."""
IP: Final[Mapping[int, int]] = {4: 20, 6: 40}
"""Header of each version of IP, without options and extension headers."""
IPV6_LEAST: Final = 1280
"""The least MTU that IPv6 takes (RFC 8200 section 5): an interface with less has none."""
UDP: Final = 8
"""Header of UDP; that of an ICMP echo is as long."""
MOST_PAYLOAD: Final = 65_507
"""The most payload of a UDP datagram: an IPv4 packet has at most 65,535 bytes (RFC 791), headers included."""
TCP: Final = 32
"""Header of TCP with the timestamp option (RFC 7323), as Linux aligns it."""


def frame_bytes(mtu: int) -> int:
    """The frame of a full packet: 1514 bytes at Ethernet's MTU."""
    return ETHERNET + mtu


def segment_bytes(mtu: int, ip: int = 4) -> int:
    """Payload of a full TCP segment with timestamps: at Ethernet's MTU 1448 bytes in IPv4, 1428 in IPv6."""
    return mtu - IP[ip] - TCP


def datagram_bytes(mtu: int, ip: int = 4) -> int:
    """Payload of a full UDP datagram, or of a full echo request: at Ethernet's MTU 1472 bytes in IPv4, 1452 in IPv6."""
    return mtu - IP[ip] - UDP

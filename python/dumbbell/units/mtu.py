"""Sizes of packets, in bytes: what a network's MTU leaves for frames and payload."""

from __future__ import annotations

from typing import Final

MTU: Final = 1500
"""Ethernet's maximum transmission unit: the most bytes of an IP packet."""
ETHERNET: Final = 14
"""Header of a frame, without preamble and frame check sequence."""
IPV4: Final = 20
"""Header of IPv4 without options."""
UDP: Final = 8
"""Header of UDP; that of an ICMP echo is as long."""
TCP: Final = 32
"""Header of TCP with the timestamp option (RFC 7323), as Linux aligns it."""


def frame_bytes(mtu: int) -> int:
    """The frame of a full packet: 1514 bytes at Ethernet's MTU."""
    return ETHERNET + mtu


def segment_bytes(mtu: int) -> int:
    """Payload of a full TCP segment with timestamps: 1448 bytes at Ethernet's MTU."""
    return mtu - IPV4 - TCP


def datagram_bytes(mtu: int) -> int:
    """Payload of a full UDP datagram, or of a full echo request: 1472 bytes at Ethernet's MTU."""
    return mtu - IPV4 - UDP

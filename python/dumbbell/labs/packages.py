"""Debian's packages of programs that people run in labs: for a hint where one is missing."""

from __future__ import annotations

import os
import shutil
from typing import Final

_PACKAGES: Final = {
    "arp": "net-tools",
    "arping": "iputils-arping",
    "bridge": "iproute2",
    "curl": "curl",
    "dig": "bind9-dnsutils",
    "ethtool": "ethtool",
    "fping": "fping",
    "ifconfig": "net-tools",
    "ip": "iproute2",
    "iperf": "iperf",
    "iperf3": "iperf3",
    "mtr": "mtr-tiny",
    "nc": "netcat-openbsd",
    "netperf": "netperf",
    "netstat": "net-tools",
    "nft": "nftables",
    "nginx": "nginx-light",
    "nmap": "nmap",
    "ping": "iputils-ping",
    "route": "net-tools",
    "ss": "iproute2",
    "tcpdump": "tcpdump",
    "telnet": "telnet",
    "tracepath": "iputils-tracepath",
    "traceroute": "traceroute",
    "tshark": "tshark",
    "vtysh": "frr",
    "wget": "wget",
    "wireshark": "wireshark",
}


def hint(program: str) -> str:
    """How to get a program that is missing. Empty if it is there, or of no package that we know."""
    name = os.path.basename(program)
    if name not in _PACKAGES or shutil.which(program) is not None:
        return ""
    return f"{name} is not installed; on Debian and Ubuntu: apt install {_PACKAGES[name]}"

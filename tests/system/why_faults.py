"""Faults between h1 and h2 of a lab, what `why` must say of each, and the networks in which they are provoked.

A fault is as many lines of the lab's shell as it needs. What `why` names as its mend must mend it.
"""

from __future__ import annotations

from dataclasses import dataclass

from graphs import graph, link

LINE = graph(
    link("h1", "s1"),
    link("h3", "s1"),
    link("s1", "r1", "lan"),
    link("r1", "r2", "core", delay="1 ms"),
    link("r2", "h2"),
    name="line",
    duration=None,
    ipv6=True,
)
"""h1 10.1.0.2, h3 10.1.0.3, r1 10.1.0.1 and 10.0.0.1, r2 10.0.0.2 and 10.0.0.5, h2 10.0.0.6."""
RING = graph(
    link("h1", "r1"),
    link("r1", "r2", "a"),
    link("r2", "r4", "b"),
    link("r1", "r3", "c"),
    link("r3", "r4", "d"),
    link("r4", "h2"),
    nodes={f"r{number}": {"kind": "router", "routing": ["ospf"]} for number in (1, 2, 3, 4)},
    name="ring",
    duration=None,
)
BGP = graph(
    link("h1", "r1"),
    link("r1", "r2", "core"),
    link("r2", "h2"),
    nodes={f"r{number}": {"kind": "router", "asn": 65000 + number, "routing": ["bgp"]} for number in (1, 2)},
    name="bgp",
    duration=None,
)


@dataclass(frozen=True)
class Fault:
    """A fault, or several at once."""

    lines: tuple[str, ...]
    said: tuple[str, ...]
    """Parts of the answer, one of each reason."""
    ip: int = 4


def _one(line: str, *said: str, ip: int = 4) -> Fault:
    return Fault((line,), said, ip)


def _wall(node: str, hook: str, rule: str = "", policy: str = "accept") -> tuple[str, ...]:
    chain = f"{{ type filter hook {hook} priority 0; policy {policy}; }}"
    lines = (f"{node} nft add table inet wall", f"{node} nft 'add chain inet wall here {chain}'")
    return (*lines, f"{node} nft 'add rule inet wall here {rule}'") if rule else lines


_DOWN = ("links core (r1 -> r2) and core-reverse (r2 -> r1) are down",)
LINKS = (
    _one("link core down", *_DOWN),
    _one("link core silent", "link core (r1 -> r2) is down"),
    _one("link core-reverse silent", "link core-reverse (r2 -> r1) is down"),
    _one("link lan down", "lan (s1 -> r1)"),
    _one("link core loss=100 %", "link core (r1 -> r2) loses packets: 100 %"),
    _one("link core-reverse loss=80 %", "link core-reverse (r2 -> r1) loses packets: 80 %"),
    _one("link core corrupt=100 %", "link core (r1 -> r2) corrupts 100 % of packets"),
    _one("link core rate=1 kbit/s", "link core (r1 -> r2) takes 785 ms for a ping"),
    _one("link core delay=2 s", "link core (r1 -> r2) takes 2 s for a ping"),
)
INTERFACES = (
    _one("h2 ip link set eth0 down", "h2's interface eth0 is down"),
    _one("h2 ip link set eth0 down", "h2's interface eth0 is down", ip=6),
    Fault(
        (
            "h3 ip addr add fd00:0:0:1::2/64 dev eth0 nodad",
            "h1 sysctl -qw net.ipv6.conf.eth0.dad_transmits=1 net.ipv6.conf.eth0.accept_dad=1",
            "h1 ip addr del fd00:0:0:1::2/64 dev eth0",
            "h1 ip addr add fd00:0:0:1::2/64 dev eth0",
            "h1 sleep 2",
        ),
        (
            "h1 does not use its address fd00:0:0:1::2/64 at eth0",
            "h3 has h1's address fd00:0:0:1::2, too, at eth0",
        ),
        ip=6,
    ),
    _one("h1 ip link set eth0 down", "h1's interface eth0 is down"),
    _one("r1 ip link set eth1 down", "r1's interface eth1 is down"),
    _one("h2 ip addr flush dev eth0", "h2's interface eth0 lacks its address 10.0.0.6/30"),
    Fault(
        ("h2 ip addr flush dev eth0", "h2 ip addr add 10.9.9.9/24 dev eth0"),
        ("h2's interface eth0 lacks its address 10.0.0.6/30: it has 10.9.9.9/24",),
    ),
    Fault(
        ("h1 ip addr add 10.1.0.2/7 dev eth0", "h1 ip addr del 10.1.0.2/24 dev eth0"),
        ("h1's interface eth0 lacks its address 10.1.0.2/24: it has 10.1.0.2/7",),
    ),
    _one("r1 ip addr flush dev eth0", "r1's interface eth0 lacks its address 10.1.0.1/24"),
    _one("r1 ip addr add 10.0.0.6/32 dev lo", "r1 has h2's address 10.0.0.6, too, at lo"),
    _one("h2 ip link set eth0 address 02:00:00:00:00:99", "and h2 has 02:00:00:00:00:99 there"),
    _one(
        "r2 ip neigh replace 10.0.0.6 lladdr 02:00:00:00:00:77 dev eth1 nud permanent",
        "r2 sends packets for 10.0.0.6 to 02:00:00:00:00:77",
    ),
    Fault(
        ("h1 ip link set eth0 down", "h1 ip link set eth0 name wan0", "h1 ip link set wan0 up"),
        ("h1's interface eth0 has another name now: wan0",),
    ),
    _one("r2 ip link set eth1 arp off", "r2's interface eth1 neither asks nor answers by ARP"),
)
ROUTES = (
    _one("h1 ip route del default", "h1 has no route to h2 (10.0.0.6)"),
    _one("h1 ip -6 route del default", "h1 has no route to h2", ip=6),
    _one("h1 ip route replace default via 10.1.0.9", "where no node has the address 10.1.0.9"),
    _one("h1 ip route replace default via 10.1.0.3", "h1 sends packets for h2 to h3, which is a host"),
    _one("r1 ip route del 10.0.0.4/30", "r1 has no route to h2 (10.0.0.6)"),
    _one("r2 ip route del 10.1.0.0/24", "r2 has no route to h1 (10.1.0.2)"),
    _one("r1 ip route add blackhole 10.0.0.6/32", "r1 has a route that refuses packets for h2: blackhole 10.0.0.6"),
    _one("r1 ip route add prohibit 10.0.0.6/32", "prohibit 10.0.0.6"),
    _one("r1 ip -6 route add unreachable fd00:0:0:3::2/128", "unreachable fd00:0:0:3::2", ip=6),
    _one("r2 ip route replace 10.0.0.6/32 via 10.0.0.1", "packets from h1 to h2 run in a circle: r1 -> r2 -> r1"),
    Fault(
        ("h1 ip addr add 10.77.0.1/32 dev lo", "h1 ip route replace default via 10.1.0.1 src 10.77.0.1"),
        ("h1 sends packets for h2 from 10.77.0.1, which is no address of the scenario's",),
    ),
    _one("r1 ip rule add from 10.1.0.2 prohibit", "by a policy: from 10.1.0.2 prohibit"),
    _one("h1 ip rule add to 10.0.0.6 prohibit", "h1 drops packets from h1 to h2 by a policy: from all to 10.0.0.6"),
)
SETTINGS = (
    _one("r1 sysctl -qw net.ipv4.ip_forward=0", "r1 does not forward packets: net.ipv4.ip_forward is 0"),
    _one("r1 sysctl -qw net.ipv4.conf.eth0.forwarding=0", "net.ipv4.conf.eth0.forwarding is 0"),
    _one("r1 sysctl -qw net.ipv6.conf.all.forwarding=0", "net.ipv6.conf.all.forwarding is 0", ip=6),
    _one("h2 sysctl -qw net.ipv4.icmp_echo_ignore_all=1", "h2 does not answer pings"),
    _one("h2 sysctl -qw net.ipv6.icmp.echo_ignore_all=1", "net.ipv6.icmp.echo_ignore_all is 1", ip=6),
    _one("h2 sysctl -qw net.ipv6.conf.eth0.disable_ipv6=1", "h2 has no IPv6 at eth0", ip=6),
    Fault(
        ("r2 sysctl -qw net.ipv4.conf.all.rp_filter=1", "r2 ip route replace 10.1.0.0/24 via 10.0.0.6"),
        ("r2 drops packets from h1, whose address it would not reach by eth0", "run in a circle"),
    ),
    _one("h1 sysctl -qw net.ipv4.ip_default_ttl=2", "expire at r2: their TTL has run out"),
    _one("h1 sysctl -qw net.ipv6.conf.eth0.hop_limit=2", "expire at r2: their hop limit has run out", ip=6),
    Fault(
        _wall("r1", "forward", "icmp type echo-request drop"), ("r1 takes packets from h1 to h2 at eth0", "wall, here")
    ),
    Fault(_wall("h2", "input", policy="drop"), ("h2 takes pings of h1, and does not answer", "policy drop")),
    Fault(_wall("h1", "output", policy="drop"), ("h1 sends no pings to h2", "policy drop")),
)
SEVERAL = (
    Fault(("link core silent", "r2 ip route del 10.1.0.0/24"), ("core (r1 -> r2) is down", "r2 has no route to h1")),
    Fault(
        (
            "r1 sysctl -qw net.ipv4.ip_forward=0",
            "h1 ip route del default",
            "h2 sysctl -qw net.ipv4.icmp_echo_ignore_all=1",
        ),
        ("ip_forward is 0", "h1 has no route to h2", "h2 does not answer pings"),
    ),
    Fault(("link core down", *_wall("h2", "input", policy="drop")), (*_DOWN, "h2's firewall may drop packets, too")),
    Fault(("h2 ip link set eth0 down", "link core loss=100 %"), ("h2's interface eth0", "link core (r1 -> r2) loses")),
)
RINGS = (
    Fault(("link a down", "link c silent"), ("links a (r1 -> r2) and a-reverse", "link c (r1 -> r3) is down")),
    Fault(("daemon r4 ospfd stop", "r1 sleep 3"), ("ospfd does not run in r4",)),
    Fault(
        (
            "r4 vtysh -c 'configure terminal' -c 'interface eth0' -c 'no ip ospf area 0' -c 'ip ospf area 7'"
            " -c 'interface eth1' -c 'no ip ospf area 0' -c 'ip ospf area 7'",
            "r1 sleep 5",
        ),
        ("r4's configuration is not the scenario's", "`interface eth0 / ip ospf area 7`"),
    ),
    Fault(("r4 sh -c 'kill -9 $(cat /var/run/frr/ospfd.pid)'", "r1 sleep 3"), ("ospfd does not run in r4",)),
)
SESSIONS = (
    # Programs of all nodes have one table of processes: both die, by a signal that they could refuse.
    Fault(("r1 pkill bgpd", "r1 sleep 3"), ("bgpd does not run in r1", "bgpd does not run in r2")),
    Fault(("daemon r2 bgpd stop", "r1 sleep 3"), ("bgpd does not run in r2", "r1's session of BGP with 10.0.0.6")),
    Fault(
        ("r1 vtysh -c 'configure terminal' -c 'router bgp 65001' -c 'neighbor 10.0.0.6 shutdown'", "r1 sleep 1"),
        ("r1's session of BGP with 10.0.0.6 is not up: Idle (Admin)",),
    ),
    Fault(
        (
            "r2 vtysh -c 'configure terminal' -c 'ip prefix-list NONE deny any' -c 'router bgp 65002'"
            " -c 'address-family ipv4 unicast' -c 'neighbor 10.0.0.5 prefix-list NONE out'",
            "r1 sleep 3",
        ),
        ("r2's configuration is not the scenario's", "neighbor 10.0.0.5 prefix-list NONE out`"),
    ),
    Fault(
        (
            "r2 vtysh -c 'configure terminal' -c 'router bgp 65002' -c 'neighbor 10.0.0.5 remote-as 65009'",
            "r1 sleep 3",
        ),
        ("r2's configuration is not the scenario's", "lacks `router bgp 65002 / neighbor 10.0.0.5 remote-as 65001`"),
    ),
)
NETWORKS = {
    "links": (LINE, LINKS),
    "interfaces": (LINE, INTERFACES),
    "routes": (LINE, ROUTES),
    "settings": (LINE, SETTINGS),
    "several": (LINE, SEVERAL),
    "ring": (RING, RINGS),
    "bgp": (BGP, SESSIONS),
}
LONG = ("interfaces", "settings", "bgp", "routes", "ring")
"""Kinds that only thorough tests try: each takes half a minute, mostly of waiting."""

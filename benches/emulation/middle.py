"""Kernel shapers in a namespace between two others, and the traffic through them."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

SCRIPT = r"""
set -e
taps=
directory=$1 seconds=$2 probe=$3 forward=$4 back=$5 rate=$6 python=$7
mount -t tmpfs none /run
mkdir /run/netns
ip netns add a
ip netns add b
ip link add name core-a type veth peer name va netns a
ip link add name core-b type veth peer name vb netns b
for x in a b; do
    ip -n $x link set v$x up
    ip link set core-$x up
    ip netns exec $x ethtool -K v$x tx off tso off gso off gro off
    ethtool -K core-$x tx off tso off gso off gro off
    ip netns exec $x sysctl -qw net.ipv6.conf.all.disable_ipv6=1 net.ipv4.tcp_no_metrics_save=1 \
        net.ipv4.tcp_rmem="4096 131072 67108864" net.ipv4.tcp_wmem="4096 65536 67108864"
done
sysctl -qw net.ipv4.ip_forward=1
ip addr add 10.1.0.254/24 dev core-a
ip addr add 10.2.0.254/24 dev core-b
ip -n a addr add 10.1.0.1/24 dev va
ip -n b addr add 10.2.0.1/24 dev vb
ip -n a route add default via 10.1.0.254
ip -n b route add default via 10.2.0.254
[ -z "$forward" ] || tc qdisc add dev core-b root $forward
[ -z "$back" ] || tc qdisc add dev core-a root $back
for x in a b; do
    ip netns exec $x tcpdump -i v$x -s 80 -B 65536 --time-stamp-precision nano -Z root -w "$directory/$x.pcap" \
        'tcp dst port 5201 or udp dst port 9000' 2>/dev/null &
    taps="$taps $!"
done
ip netns exec b iperf3 -s -1 >/dev/null &
sleep 0.7
ip netns exec a "$python" -c "$probe"
ip netns exec a iperf3 -c 10.2.0.1 -C cubic -t "$seconds" ${rate:+-b $rate} --json > "$directory/iperf3.json"
sleep 1.5  # what is under way arrives, and tcpdump hears of it
kill $taps
wait $taps
"""
"""Run in new network and process namespaces: nothing is left when it ends, however it ends."""

PROBE = """
import socket, struct, time
probe = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for number in range({datagrams}):
    probe.sendto(struct.pack("<Q", number) + bytes(1464), ("10.2.0.1", 9000))
    time.sleep(0.005)
"""


@dataclass(frozen=True)
class Qdiscs:
    """The arguments of `tc qdisc add dev ... root`, on the way there and on the way back."""

    forward: str = ""
    back: str = ""


def knows(qdisc: str) -> bool:
    """Has this kernel the qdisc? `qdisc`: its words."""
    words = ["unshare", "--net", "sh", "-c", f"ip link set lo up && tc qdisc add dev lo root {qdisc}"]
    return subprocess.run(words, check=False, capture_output=True).returncode == 0


def measure(qdiscs: Qdiscs, directory: Path, seconds: int, datagrams: int, rate: str = "") -> None:
    """A probe on the idle link, then CUBIC for `seconds`; captures are left in `directory` as a.pcap and b.pcap.

    `rate`: iperf3 sends no faster than that, e.g. `100M`.
    """
    arguments = [str(directory), str(seconds), PROBE.format(datagrams=datagrams), qdiscs.forward, qdiscs.back, rate]
    command = ["unshare", "--net", "--mount", "--pid", "--fork", "--kill-child", "sh", "-c", SCRIPT, "middle"]
    words = [*command, *arguments, sys.executable]
    done = subprocess.run(words, check=False, capture_output=True, text=True, timeout=seconds + 60)
    if done.returncode:
        report = directory / "iperf3.json"
        raise RuntimeError(done.stderr or json.loads(report.read_text())["error"])

"""The time that a lab takes to come up and to go: ours, `ip -batch`, and Mininet where it is installed, in turn.

All build hosts on one switch without shaping. Ours has its switch in the emulator, so it builds no bridge; the others
use the kernel's. Ours is built three times: as a core network; as a lab network, with MAC addresses of all neighbours,
mounts and a hostname for each host; and as a lab network with a switch for each host, the switches in a line. Up: until
every host could send. Down: until the command learns that everything is gone. Work that the kernel does in the
background afterwards does not count. Debian: mininet, bridge-utils.
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from benches.table import show

Times = tuple[float, float]
"""Up and down, in ms."""

CORE, LAB, LINE = "dumbbell", "dumbbell, lab network", "dumbbell, line of switches"

TARGETS = {
    (2, CORE): ("<= 25", "<= 10"),
    (200, CORE): ("<= 600", "<= 500"),
    (200, LAB): ("<= 300", "<= 10"),
    (200, LINE): ("<= 1000", "<= 10"),
}
"""By the number of hosts: up and down."""

ROOT = Path(__file__).parents[2]

IP_BATCH = r"""
import subprocess, sys, time

def batch(lines, *options):
    subprocess.run(["ip", *options, "-batch", "-"], input="\n".join(lines), text=True, check=True)

hosts = range(int(sys.argv[1]))
began = time.perf_counter()
lines = ["link add sw type bridge", "link set sw up"]
for i in hosts:
    lines += [
        f"netns add h{i}",
        f"link add s{i} type veth peer name eth0 netns h{i}",
        f"link set s{i} master sw up",
    ]
batch(lines)
for i in hosts:
    batch(["link set lo up", f"addr add 10.0.{i // 250}.{i % 250 + 1}/16 dev eth0", "link set eth0 up"], "-n", f"h{i}")
up = time.perf_counter()
batch([f"netns del h{i}" for i in hosts] + ["link del sw"])
print((up - began) * 1e3, (time.perf_counter() - up) * 1e3)
"""
"""Run in new namespaces, with a new `/run`."""

MININET = r"""
import sys, time
from mininet.net import Mininet
from mininet.nodelib import LinuxBridge

began = time.perf_counter()
net = Mininet(switch=LinuxBridge, controller=None)
switch = net.addSwitch("s1")
for i in range(int(sys.argv[1])):
    net.addLink(net.addHost(f"h{i + 1}"), switch)
net.start()
up = time.perf_counter()
net.stop()
print((up - began) * 1e3, (time.perf_counter() - up) * 1e3)
"""


def ours(*options: str) -> Callable[[int], Times]:
    """Measured inside the process that builds the lab."""

    def measure(hosts: int) -> Times:
        example = ROOT / "target/release/examples/updown"
        found = json.loads(subprocess.check_output([example, str(hosts), "1", "--json", *options], text=True))
        return found["up_ms"], found["down_ms"]

    return measure


def ip_batch(hosts: int) -> Times:
    """One process of `ip` for the switch's side, and one per host."""
    enter = ["unshare", "--net", "--mount", "sh", "-c", 'mount -t tmpfs none /run && exec "$@"', "sh"]
    return _two_numbers([*enter, "python3", "-c", IP_BATCH, str(hosts)])


def mininet(hosts: int) -> Times:
    """Mininet as its users start it, with a Linux bridge as the switch."""
    return _two_numbers(["/usr/bin/python3", "-c", MININET, str(hosts)])


def _two_numbers(command: list[str]) -> Times:
    output = subprocess.run(command, check=True, capture_output=True, text=True, timeout=300).stdout
    up, down = output.splitlines()[-1].split()
    return float(up), float(down)


def contenders() -> dict[str, Callable[[int], Times]]:
    """Returns the contenders that this machine has."""
    found = {CORE: ours(), LAB: ours("--switch"), LINE: ours("--line")}
    if shutil.which("ip") and shutil.which("unshare"):
        found["ip -batch"] = ip_batch
    has_mininet = subprocess.run(["/usr/bin/python3", "-c", "import mininet"], check=False, capture_output=True)
    if has_mininet.returncode == 0 and shutil.which("brctl"):
        found["Mininet"] = mininet
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--hosts", type=int, nargs="+", default=[2, 50, 200])
    parser.add_argument("--repeat", type=int, default=5)
    options = parser.parse_args()
    subprocess.run(["cargo", "build", "--release", "--quiet", "-p", "lab", "--example", "updown"], cwd=ROOT, check=True)
    rows = []
    for hosts in options.hosts:
        measured: dict[str, list[Times]] = {name: [] for name in contenders()}
        for _ in range(options.repeat):
            for name, measure in contenders().items():
                measured[name].append(measure(hosts))
                # The kernel frees namespaces in the background: not into the next measurement.
                time.sleep(0.2 + 0.01 * hosts)
        for name, times in measured.items():
            up, down = (statistics.median(column) for column in zip(*times, strict=True))
            target = TARGETS.get((hosts, name), ("", ""))
            rows.append([f"{hosts} hosts, {name}", f"{up:.1f}", target[0], f"{down:.1f}", target[1]])
    show(f"Medians of {options.repeat}, ms", ["", "up", "target", "down", "target"], rows)


if __name__ == "__main__":
    main()

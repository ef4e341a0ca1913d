"""The speed at which packets of wire size cross the emulator when no link slows them: one CUBIC flow, no rate, no
delay.

The same run without an emulator measures the machine: iperf3 over one plain veth pair, offloads off.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import tempfile

import dumbbell
from benches.table import show
from dumbbell.records.files import read_json

PLAIN_VETH = """
set -e
mount -t tmpfs none /run
mkdir /run/netns
ip netns add a
ip netns add b
ip link add va netns a type veth peer name vb netns b
for x in a b; do
    ip -n $x link set v$x up
    ip netns exec $x ethtool -K v$x tx off tso off gso off gro off >&2
done
ip -n a addr add 10.1.0.1/24 dev va
ip -n b addr add 10.1.0.2/24 dev vb
ip netns exec b iperf3 -s -1 >&2 &
sleep 0.5
ip netns exec a iperf3 -c 10.1.0.2 -C cubic -t "$1" --json
wait
"""
"""Run in new namespaces: nothing is left when it ends."""


def plain_veth_gbps(seconds: int) -> float | None:
    """Goodput of iperf3 over a plain veth pair; none without the tools or root."""
    if os.geteuid() != 0 or not all(shutil.which(tool) for tool in ("unshare", "ip", "ethtool", "iperf3")):
        return None
    command = ["unshare", "-n", "-m", "sh", "-c", PLAIN_VETH, "plain-veth", str(seconds)]
    found = subprocess.run(command, check=True, capture_output=True, text=True, timeout=seconds + 30)
    return float(json.loads(found.stdout)["end"]["sum_received"]["bits_per_second"]) / 1e9


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=6)
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    scenario = {
        "name": "unshaped",
        "duration": f"{options.seconds} s",
        "topology": {"kind": "path", "rtt": "0 ms", "bottleneck": {"rate": "unlimited", "buffer": "unlimited"}},
        "emulate": {"path": "wire"},
        "flows": [{"from": "h1", "to": "h2", "cc": "cubic"}],
    }
    rates, costs, plain = [], [], []
    for _ in range(options.repeat):
        plain.append(plain_veth_gbps(options.seconds))
        with tempfile.TemporaryDirectory() as directory:
            run = dumbbell.run(scenario, directory=directory)
            emulator = read_json(run.directory / "emulator.json")
            rates.append(run.summary["flows"][0]["goodput_bps"] / 1e9)
            costs.append(emulator["cpu_s"] / emulator["ring_packets"] * 1e6)
    rows = [
        ["goodput, Gbit/s", " ".join(f"{rate:.2f}" for rate in sorted(rates)), ">= 2.5"],
        ["emulator CPU per packet, us (median)", f"{statistics.median(costs):.2f}", ""],
    ]
    measured = [rate for rate in plain if rate is not None]
    if measured:
        ratios = [ours / veth for ours, veth in zip(rates, measured, strict=True)]
        rows.insert(1, ["plain veth, no emulator, Gbit/s", " ".join(f"{rate:.2f}" for rate in sorted(measured)), ""])
        rows.insert(2, ["ratio, pair by pair (median)", f"{statistics.median(ratios):.2f}", ""])
    show(
        f"Unshaped, one CUBIC flow, {options.seconds} s, {options.repeat} runs",
        ["", "measured (sorted)", "target"],
        rows,
    )


if __name__ == "__main__":
    main()

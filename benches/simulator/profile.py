"""Where the simulator's instructions go: by part of a packet's way, exactly, on however busy a machine.

Counted by valgrind's callgrind (Debian: `apt-get install valgrind`): the same dumbbell for 4 and for 8 simulated
seconds, and the difference of both. So what is done once, such as reading the plan, doesn't count, and neither does the
first slow start.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import tempfile
from collections import Counter
from pathlib import Path

from benches.table import show

ROOT = Path(__file__).parents[2]
SECONDS = (4, 8)
PARTS = {
    "TCP's sender": r"sim/src/tcp/sender|sim::tcp::sender",
    "TCP's receiver": r"sim/src/tcp/|sim::tcp::",
    "congestion control": r"crates/cc/|cc::",
    "links: queue, serializer, delay line": r"crates/link/|units/src/rate|link::|units::rate",
    "queue of events": r"event_queue",
    "time until an ACK is on the wire": r"turnaround",
    "hosts and paths: segments, hops, flows": r"crates/sim/|sim::|speed::main",
}
"""Part of the name of a source file of ours, or else that of the function that the instruction became a part of;
the first that fits."""


def count(cc: str, seconds: int) -> tuple[Counter[str], int]:
    """Instructions by part, and data packets."""
    with tempfile.TemporaryDirectory() as scratch:
        profile = Path(scratch) / "profile"
        program = [str(ROOT / "target/release/examples/speed"), cc, "10", "100", "50", str(seconds)]
        command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={profile}", *program]
        said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        packets = re.search(r"(\d+) packets", said)
        assert packets is not None, said
        return _by_part(profile.read_text()), int(packets[1])


def _by_part(text: str) -> Counter[str]:
    """The sums of a callgrind profile (https://valgrind.org/docs/manual/cl-format.html), calls excluded."""
    parts, names = Counter[str](), dict[str, str]()
    source = function = ""
    is_call = False
    for line in text.splitlines():
        if named := re.match(r"(c?f[nile]|cfi|cfl)=(\(\d+\))(?: (.*))?$", line):
            kind, number, name = named.groups()
            key = f"{'function' if kind.endswith('n') else 'file'} {number}"
            if name:
                names[key] = name
            if kind == "fn":
                function = names[key]
            elif not kind.startswith("c"):
                source = names[key]
        elif line.startswith("calls="):
            is_call = True
        elif cost := re.match(r"[+\-*\d]\d* (\d+)$", line):
            if not is_call:
                parts[_part(source, function)] += int(cost[1])
            is_call = False
    return parts


def _part(source: str, function: str) -> str:
    where = source if "/crates/" in source else function
    return next((part for part, pattern in PARTS.items() if re.search(pattern, where)), "everything else")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cc", nargs="+", default=["cubic", "bbr"])
    algorithms = parser.parse_args().cc
    if shutil.which("valgrind") is None:
        print("valgrind is not installed (apt-get install valgrind): nothing is counted\n")
        return
    subprocess.run(["cargo", "build", "--release", "--quiet", "-p", "sim", "--example", "speed"], cwd=ROOT, check=True)
    found = {}
    for cc in algorithms:
        (few, few_packets), (many, many_packets) = (count(cc, seconds) for seconds in SECONDS)
        found[cc] = {part: (many[part] - few[part]) / (many_packets - few_packets) for part in many}
    whole = {cc: sum(found[cc].values()) for cc in algorithms}
    rows = [
        [part, *(f"{found[cc].get(part, 0):,.0f} ({found[cc].get(part, 0) / whole[cc]:.0%})" for cc in algorithms)]
        for part in [*PARTS, "everything else"]
    ]
    rows.append(["all", *(f"{whole[cc]:,.0f}" for cc in algorithms)])
    show("instructions per data packet: 100 Mbit/s, 50 ms, 1 BDP, 10 flows", ["part", *algorithms], rows)


if __name__ == "__main__":
    main()

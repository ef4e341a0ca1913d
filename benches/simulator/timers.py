"""Watch the processes of a run in virtual time: what wakes them, and how often they look at the clock.

    python -m benches.simulator.timers                      # a Reno flow of 10 Mbit/s, for 12 s; as root
    python -m benches.simulator.timers mine.toml

A kernel in virtual time is an ordinary process. This machine's kernel notes when it comes to some of its functions
(uprobes), which takes none of its time: the run is the same, to the last byte. `crates/sim/src/simulation/clock.rs` has
what it shows. Not a part of `make bench`: it needs root.
"""

from __future__ import annotations

import argparse
import os
import re
import statistics
import struct
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from benches.table import show
from dumbbell.kernels import store

TRACEFS = Path("/sys/kernel/tracing")
KERNEL = "6.12"
GROUP = f"dumbbell_timers_{os.getpid()}"
FUNCTIONS = ("hrtimer_start_range_ns", "time_travel_update_time")
WAKES = "hrtimer_wakeup"
CURRENT, NOW, FIRST = "cpu_tasks", "time_travel_time", "init_task"
STEP_NS = 256
BUFFER_KB = 100_000
CELL = """
name = "reno-two-packets"
duration = "12 s"

[topology]
kind = "dumbbell"
rtt = "10 ms"
bottleneck = { rate = "10 Mbit/s", buffer = "0.3 bdp" }

[[flows]]
from = "s1"
to = "r1"
cc = "reno"
"""


def symbols(kernel: Path) -> dict[str, int]:
    """The address of each symbol."""
    lines = subprocess.run(["nm", kernel], check=True, capture_output=True, text=True).stdout.splitlines()
    return {name: int(address, 16) for address, _, name in (line.split() for line in lines if line[0] != " ")}


def place(image: bytes, address: int) -> int:
    """Where in the file that is which is at an address when it runs (ELF64: program headers)."""
    first, size, count = *struct.unpack_from("<Q", image, 32), *struct.unpack_from("<HH", image, 54)
    for header in range(first, first + size * count, size):
        kind, _, offset, start, _, length = struct.unpack_from("<IIQQQQ", image, header)
        if kind == 1 and start <= address < start + length:
            return int(offset + address - start)
    raise ValueError(f"{address:#x} is not in the file")


@contextmanager
def watched(kernel: Path, at: dict[str, int]) -> Iterator[list[str]]:
    """Note what the kernel comes to, whose symbols are `at`. The lines are there at the end."""
    image = kernel.read_bytes()
    lines: list[str] = []
    first = place(image, at[FIRST])
    name = image.index(b"swapper\0", first) - first
    told = f"comm=+{name}(@{at[CURRENT]:#x}):string now=@{at[NOW]:#x}:s64"
    start, look = (f"{kernel}:{place(image, at[function]):#x}" for function in FUNCTIONS)
    probes = {
        "sleep": f"{start} function=+40(%di):x64 until=%si:s64 {told}",
        "look": f"{look} next=%di:s64 idle=%si:u8 {told}",
    }
    # A buffer of our own, for what this process starts.
    buffer = TRACEFS / "instances" / GROUP
    with ExitStack() as undo:
        for probe, what in probes.items():
            _say(f"p:{GROUP}/{probe} {what}")
            undo.callback(_say, f"-:{GROUP}/{probe}")
        buffer.mkdir()
        undo.callback(buffer.rmdir)
        (buffer / "buffer_size_kb").write_text(str(BUFFER_KB // (os.cpu_count() or 1)))
        (buffer / "options/event-fork").write_text("1")
        (buffer / "set_event_pid").write_text(str(os.getpid()))
        (buffer / f"events/{GROUP}/enable").write_text("1")
        yield lines
        lines += (buffer / "trace").read_text().splitlines()
        kept = re.search(r"entries-in-buffer/entries-written: (\d+)/(\d+)", "\n".join(lines[:10]))
        if kept is None or kept[1] != kept[2]:
            raise SystemExit("the buffer was too small: watch a shorter run")


def _say(line: str) -> None:
    """Append to the list of probes, which is a file that cannot be sought in."""
    file = os.open(TRACEFS / "uprobe_events", os.O_WRONLY | os.O_APPEND)
    try:
        os.write(file, line.encode())
    finally:
        os.close(file)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("scenario", nargs="?", type=Path)
    options = parser.parse_args()
    if os.geteuid() or not (TRACEFS / "uprobe_events").exists():
        parser.error(f"needs root, and tracefs at {TRACEFS}: mount -t tracefs nodev {TRACEFS}")
    kernel = store.find(KERNEL).path
    at = symbols(kernel)
    with tempfile.TemporaryDirectory() as folder:
        scenario = options.scenario or Path(folder, "cell.toml")
        if not options.scenario:
            scenario.write_text(CELL)
        with watched(kernel, at) as lines:
            program = Path(sys.executable).with_name("dumbbell")
            how = ["--engine", "virtual", "--kernel", KERNEL, "--quiet", "--output", folder]
            subprocess.run([program, "run", scenario, *how], check=True)
    rows = [
        [process, by, f"{len(turns):,}", *(f"{statistics.median(found):.1f}" for found in zip(*turns, strict=True))]
        for (process, by), turns in sorted(turns_of(lines, at).items())
        if len(turns) > 10
    ]
    if not rows:
        raise SystemExit("nothing was seen: the kernel that ran is another one, or has other names for its functions")
    columns = ["process", "woken by", "times", "looks at the clock, median", "then waits for, median, ms"]
    show("Processes of a run in virtual time", columns, rows)


def turns_of(lines: list[str], at: dict[str, int]) -> dict[tuple[str, str], list[tuple[int, float]]]:
    """(Process, what woke it) -> its turns: looks at the clock, and for how long it sleeps then at most, ms."""
    turns: dict[tuple[str, str], list[tuple[int, float]]] = defaultdict(list)
    looks: dict[str, int] = defaultdict(int)
    until: dict[str, int] = {}
    for line in lines:
        if not (found := re.search(r': (sleep|look): .*comm="(.*)" now=(\d+)', line)):
            continue
        kind, process, now = found[1], found[2], int(found[3])
        value = {key: int(value, 0) for key, value in re.findall(r"(\w+)=(0x[0-9a-f]+|\d+)\b", line)}
        if kind == "sleep" and value["function"] == at[WAKES]:
            if process in until:
                by = "its timer" if now >= until[process] else "something else"
                turns[process, by].append((looks[process], (value["until"] - now) / 1e6))
            looks[process], until[process] = 0, value["until"]
        elif kind == "look" and not value["idle"] and value["next"] == now + STEP_NS:
            looks[process] += 1
    return turns


if __name__ == "__main__":
    main()

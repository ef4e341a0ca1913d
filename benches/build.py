"""Times a build: `make run` from a fresh clone on an empty Debian 12, and what a change of one line costs afterwards.

With `--test` also `make test` after it, whose output stays in `target/build-test.log`.

The clone is of what is committed. Root only: debootstrap makes the empty system (tests/wheel/root.py), which is kept
below `target/`. CPU seconds are those of all processes; those of single crates are the compiler's.
Usage: python -m benches.build [--crates 20] [--test]
"""

from __future__ import annotations

import argparse
import resource
import shutil
import subprocess
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from benches.table import show
from tests.wheel.root import REPOSITORY, Root, bare

EMPTY: Final = ("ca-certificates", "git", "make")
"""Packages that a newcomer has: enough to clone and to type `make`."""

RUSTC: Final = """#!/usr/bin/env python3
import resource, subprocess, sys
done = subprocess.run(sys.argv[1:], close_fds=False)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
if "--crate-name" in sys.argv:
    with open("/crates", "a") as log:
        print(used.ru_utime + used.ru_stime, sys.argv[sys.argv.index("--crate-name") + 1], file=log)
sys.exit(done.returncode)
"""
"""Stands between cargo and the compiler, and notes what each crate costs."""

EDITS: Final = {
    "a line of crates/sim": ("echo '// A line.' >> crates/sim/src/lib.rs", "make build", 60),
    "a line of Python": ("echo '# A line.' >> python/dumbbell/units/__init__.py", "make build", 2),
    "a line of the page": ("echo '// A line.' >> web/ui/main.tsx", "make build .venv/.page", 15),
}
"""Change -> how it is made, what is built then, and the most seconds that it may take."""


@dataclass(frozen=True)
class Cost:
    """Seconds of the wall clock, and CPU seconds of all processes."""

    wall: float
    cpu: float


def measure(root: Root, script: str) -> Cost:
    """Measures the cost of a command in the clone. Ends with its output if it fails."""
    began, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    done = root.run(f"cd /dumbbell; {{ {script}; }} >/output 2>&1", more={"RUSTC_WRAPPER": "/rustc"}, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        raise SystemExit(f"{script}\n{root.path('/output').read_text(encoding='utf-8', errors='replace')[-8000:]}")
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Cost(time.perf_counter() - began, cpu)


def crates(root: Root, most: int) -> list[tuple[str, float]]:
    """The dearest crates since the last call, and their CPU seconds."""
    seconds: dict[str, float] = {}
    lines = root.path("/crates").read_text(encoding="utf-8").splitlines()
    root.path("/crates").unlink()
    for line in lines:
        used, name = line.split()
        seconds[name] = seconds.get(name, 0) + float(used)
    return sorted(seconds.items(), key=lambda one: -one[1])[:most]


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--crates", type=int, default=20, metavar="N", help="name the N dearest crates")
    parser.add_argument("--test", action="store_true", help="time `make test`, too")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=REPOSITORY / "target") as folder:
        root = Root(bare("bookworm", EMPTY), Path(folder) / "root")
        # An installed Debian has these, too: debootstrap leaves them out.
        root.run(
            "sed 's/bookworm/bookworm-updates/; p; s/-updates/-security/; s,/debian ,/debian-security ,' "
            "/etc/apt/sources.list >/etc/apt/sources.list.d/updates.list"
        )
        root.write("/rustc", RUSTC.encode())
        root.path("/rustc").chmod(0o755)
        clone = ["git", "clone", "--quiet", "--depth=1", f"file://{REPOSITORY}", str(root.path("/dumbbell"))]
        root.path("/dumbbell").parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(clone, check=True)
        cold = measure(root, "make run")
        dear, tested = crates(root, options.crates), []
        warm, alone = measure(root, "make run"), measure(root, ".venv/bin/dumbbell run bbr-vs-cubic")
        rows = [
            ("make run, the first time", f"{cold.wall:.0f}", f"{cold.cpu:.0f}", "300 s, 450 CPU s"),
            ("make run, nothing changed", f"{warm.wall:.1f}", f"{warm.cpu:.1f}", f"{alone.wall + 2:.1f} s"),
            ("dumbbell run alone", f"{alone.wall:.1f}", f"{alone.cpu:.1f}", ""),
        ]
        if options.test:
            test = measure(root, "make test")
            shutil.copy(root.path("/output"), REPOSITORY / "target" / "build-test.log")
            rows.append(("make test after it", f"{test.wall:.0f}", f"{test.cpu:.0f}", "1500 s"))
            tested = crates(root, options.crates)
        page = measure(root, "make .venv/.page")
        rows.append(("the page of `make ui`, the first time", f"{page.wall:.0f}", f"{page.cpu:.0f}", ""))
        for name, (edit, build, most) in EDITS.items():
            root.run(f"cd /dumbbell; {edit}")
            cost = measure(root, build)
            rows.append((name, f"{cost.wall:.1f}", f"{cost.cpu:.1f}", f"{most} s"))
    show("a build on an empty Debian 12", ("what", "s", "CPU s", "at most"), rows)
    for title, found in (("the dearest crates", dear), ("the dearest crates of make test", tested)):
        if found:
            show(title, ("crate", "CPU s"), [(name, f"{used:.1f}") for name, used in found])


if __name__ == "__main__":
    main()

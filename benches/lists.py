"""Times the lists of many runs and of many files: `python -m benches.lists`.

10,000 runs are to be listed in 1 s, and 100,000 files in 2 s, on two idle cores.
"""

from __future__ import annotations

import math
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dumbbell
from benches.table import show
from dumbbell.records.kept import kept
from dumbbell.server.results import Listing
from dumbbell.server.run_messages import AskRows, AskTable
from dumbbell.server.workspace import Workspace

RUNS = 10_000
FILES = 100_000
SCENARIO = {
    "name": "small",
    "duration": "300 ms",
    "topology": {"kind": "path", "rtt": "10 ms", "bottleneck": {"rate": "5 Mbit/s", "buffer": "1 bdp"}},
    "flows": [{"from": "h1", "to": "h2", "cc": "cubic"}, {"from": "h1", "to": "h2", "cc": "bbr"}],
}


def main() -> None:
    """Make the folders, list them, print the times."""
    with tempfile.TemporaryDirectory(prefix="dumbbell-lists-") as name:
        os.environ["XDG_CACHE_HOME"] = f"{name}/cache"
        root = Path(name)
        (root / "many").mkdir()
        for number in range(FILES):
            (root / "many" / f"{number:06}.txt").touch()
        make_runs(root / "runs")
        workspace, listing, first = Workspace(root), Listing(root, math.inf), Listing(root)
        names = os.listdir(root / "runs")
        rows = [
            _timed("runs, in Python", lambda: kept(root / "runs")),
            _timed("runs, in Python again", lambda: kept(root / "runs")),
            _timed("runs, by `dumbbell runs list`", lambda: _command(root)),
            _timed("runs, the page's first table", lambda: first.table(AskTable())),
            _timed("runs, the page's whole table", lambda: listing.table(AskTable())),
            _timed("runs, searched", lambda: listing.table(AskTable(search="cubic"))),
            _timed("runs, sorted and grouped", lambda: listing.table(AskTable(sort="seed", group="topology.rtt"))),
            _timed("runs, 100 further rows", lambda: listing.rows(AskRows(ids=names[:100], columns=["seed"]))),
            _timed("folder of files", lambda: workspace.entries("many")),
            _timed("folder of runs", lambda: workspace.entries("runs")),
        ]
        show("Lists", ["list", "elapsed (s)", "CPU (s)"], rows)


def make_runs(folder: Path) -> None:
    """Runs of different seeds, round-trip times and rates, whose large files are the same ones on disk."""
    first = dumbbell.run(SCENARIO, directory=folder, engine="simulate").directory
    own = ("manifest.json", "summary.json")
    text = (first / "scenario.toml").read_text()
    for number in range(1, RUNS):
        path = folder / f"{first.name}.{number}"
        path.mkdir()
        for file in first.iterdir():
            if file.is_dir():
                (path / file.name).mkdir()
            elif file.name in own:
                shutil.copyfile(file, path / file.name)
            elif file.name == "scenario.toml":
                changed = text.replace("5 Mbit/s", f"{5 + number % 7} Mbit/s").replace("10 ms", f"{10 + number % 5} ms")
                (path / file.name).write_text(f"seed = {number}\n{changed}")
            else:
                os.link(file, path / file.name)


def _command(root: Path) -> None:
    subprocess.run(
        [Path(sys.executable).with_name("dumbbell"), "runs", "list"], cwd=root, check=True, stdout=subprocess.DEVNULL
    )


def _timed(what: str, work: Callable[[], Any]) -> list[str]:
    before, began = _cpu_s(), time.perf_counter()
    work()
    return [what, f"{time.perf_counter() - began:.2f}", f"{_cpu_s() - before:.2f}"]


def _cpu_s() -> float:
    used = [resource.getrusage(of) for of in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


if __name__ == "__main__":
    main()

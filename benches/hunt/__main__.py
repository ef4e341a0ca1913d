"""`python -m benches.hunt`."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Final

from benches.hunt.faults import FAULTS
from benches.table import show
from dumbbell.hunt.search import SEARCHES

_NONE: Final = "none"


def main() -> None:
    """Search for each fault in each way with each seed, and show how many networks each needed."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--runs", type=int, default=1000, help="networks that a search may simulate")
    options.add_argument("--seeds", type=int, default=3, help="searches for each fault in each way")
    options.add_argument("--fault", type=int, action="append", help="number of a fault, from 1; default: all")
    given = options.parse_args()
    rows = []
    with tempfile.TemporaryDirectory(prefix="dumbbell-bench-") as folder:
        place = Path(folder)
        for number, (title, scenario, arguments) in enumerate(FAULTS, 1):
            if given.fault and number not in given.fault:
                continue
            (place / "scenario.toml").write_text(scenario)
            for name in SEARCHES:
                found = [needed(place, arguments, name, seed, given.runs) for seed in range(1, given.seeds + 1)]
                counts = [_NONE if one is None else f"{one:,}" for one in found]
                middle = median(given.runs + 1 if one is None else one for one in found)
                rows.append(
                    [title, name, *counts, f"above {given.runs:,}" if middle > given.runs else f"{middle:,.0f}"]
                )
                print(*rows[-1], file=sys.stderr, flush=True)
    seeds = [f"seed {seed}" for seed in range(1, given.seeds + 1)]
    show("Networks simulated until the first fault", ["fault", "search", *seeds, "median"], rows)


def needed(place: Path, arguments: Sequence[str], search: str, seed: int, runs: int) -> int | None:
    """Networks that a search simulates until its first fault; `None` if it finds none."""
    command = [sys.executable, "-m", "dumbbell", "hunt", "scenario.toml", *arguments]
    command += ["--search", search, "--seed", str(seed), "--budget", str(runs), "--first", "--json"]
    told = subprocess.run(command, cwd=place, stdout=subprocess.PIPE, check=False)
    if told.returncode not in (0, 4):
        raise SystemExit(f"{' '.join(command)} failed")
    first: int | None = json.loads(told.stdout)["first_fault"]
    return first


main()

"""Draws `docs/images/hunt.png`: how near each way to search comes to the low-rate attack on CUBIC.

Run in the folder of the repository: `PYTHONPATH=. python docs/draw/hunt.py`.
"""

from __future__ import annotations

import tempfile
from itertools import accumulate
from pathlib import Path
from typing import Final

import matplotlib.pyplot as plt

from benches.hunt.faults import ONE_FLOW
from dumbbell.hunt.goals import goal
from dumbbell.hunt.hunting import Wanted, run_hunt
from dumbbell.hunt.log import FILE, Log
from dumbbell.hunt.network import with_algorithm
from dumbbell.hunt.search import SEARCHES
from dumbbell.scenario.file.loading import read

RUNS: Final = 1000
IMAGE: Final = Path(__file__).parents[1] / "images" / "hunt.png"


def main() -> None:
    """Search in each way, and draw the least score so far over the number of networks."""
    figure, axes = plt.subplots(figsize=(6.4, 3.0), layout="constrained")
    with tempfile.TemporaryDirectory(prefix="dumbbell-draw-") as folder:
        scenario = Path(folder) / "one-flow.toml"
        scenario.write_text(ONE_FLOW)
        draft = with_algorithm(read(scenario), "cubic")
        for name in SEARCHES:
            wanted = Wanted(draft, goal("stall"), search=name, budget=RUNS, threads=2)
            found = run_hunt(wanted, Path(folder), lambda event: None)
            results = list(Log(found.directory / FILE).results.values())[:RUNS]
            scores = [float("inf") if one.score is None else max(one.score, 0.01) for one in results]
            axes.step(range(1, len(scores) + 1), list(accumulate(scores, min)), where="post", label=name)
    axes.axhline(1, color="black", linewidth=0.8, linestyle="--")
    axes.set(yscale="log", xlabel="networks simulated", ylabel="least goodput ÷ limit", xlim=(0, RUNS))
    axes.legend(frameon=False)
    figure.savefig(IMAGE, dpi=120)


main()

"""Run each pair, say how far apart the windows are, and draw docs/images/frame.png.

`python -m benches.frame`, as root. The algorithms take turns to be alone on the machine.
"""

from __future__ import annotations

import tempfile
import tomllib
from pathlib import Path
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

import dumbbell
from benches.frame.curves import PATHS, Curve, of, scenario

SECONDS = {"reno": 30, "cubic": 60}
ATTEMPTS = 3
PICTURE = Path(__file__).parents[2] / "docs" / "images" / "frame.png"
NAMES = {"reno": "Reno", "cubic": "CUBIC"}

mpl.rcParams.update({"font.size": 9, "axes.spines.top": False, "axes.spines.right": False})


def main() -> None:
    """Measure, print, draw."""
    figure = Figure(figsize=(7.2, 4.2), layout="constrained")
    panels = figure.subplots(2, 1)
    print("| | cycles | period s | peak packets | mean window packets | end of slow start packets | goodput Mbit/s |")
    print("|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as scratch:
        for panel, (name, path) in zip(panels, PATHS.items(), strict=True):
            for cc, words, style in (
                (name, f"the kernel's {NAMES[name]}", {"color": "#d9dee3", "lw": 4.0}),
                (f"bpf_{name}", "ours, in BPF", {"color": "#0072b2", "lw": 1.2}),
            ):
                curve = of(best(tomllib.loads(scenario(cc, *path, seconds=SECONDS[name])), Path(scratch)))
                print(row(words if cc == name else f"{words}: `{cc}`", curve))
                panel.plot(curve.seconds, curve.window, label=words, **style)
            panel.set_ylabel("window [packets]")
            panel.set_xlim(0, SECONDS[name])
            panel.set_ylim(0)
            panel.legend(frameon=False, ncols=2, loc="lower right")
    panels[-1].set_xlabel("time [s]")
    figure.savefig(PICTURE, dpi=110, metadata={"Software": ""})
    print(PICTURE)


def best(wanted: dict[str, Any], scratch: Path) -> dumbbell.Run:
    """A run whose verdict is valid; if there is none, one that is suspect: on a busy machine some losses come early."""
    suspect = None
    for _ in range(ATTEMPTS):
        run = dumbbell.run(wanted, directory=scratch)
        if run.verdict == "valid":
            return run
        if run.verdict == "suspect":
            suspect = run
    if suspect is None:
        raise SystemExit(f"{ATTEMPTS} runs were invalid: measure again on an idle machine")
    return suspect


def row(words: str, curve: Curve) -> str:
    """A row of the table: means over the cycles."""
    cycles = curve.cycles()
    mean = {key: sum(getattr(cycle, key) for cycle in cycles) / len(cycles) for key in ("period", "peak", "mean")}
    figures = f"{mean['period']:.2f} | {mean['peak']:.1f} | {mean['mean']:.1f}"
    return f"| {words} | {len(cycles)} | {figures} | {curve.slow_start:.0f} | {curve.goodput_bps / 1e6:.2f} |"


if __name__ == "__main__":
    main()

"""Which congestion control is it? Makes the model of `dumbbell pcap --identify`, and measures how often it is right.

    python -m benches.identify --train                          # writes the model, of 60 paths that are simulated
    python -m benches.identify                                  # the tables of docs/results/identify.md: 30 other paths
    python -m benches.identify --engine virtual --paths 4       # the same, over the TCP of Linux

Paths are drawn by chance from a fixed seed. Over each, every algorithm sends for 25 s with a link of its own. What is
not enough for a guess counts as no guess.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from json import dumps
from pathlib import Path as File
from typing import Final

import numpy as np

from benches.identify.grow import grow
from benches.identify.paths import SECONDS, Drawn, draw, observed
from benches.table import show, write_csv
from dumbbell.captures.identify import ALGORITHMS, Guess, digest, guess

TRAINED: Final = (1000, 60)
HELD_OUT: Final = (5000, 30)
MODEL: Final = File(__file__).parents[2] / "python/dumbbell/captures/identify/model.json"

Seen = Sequence[tuple[str, dict[str, float] | str]]


def runs(paths: Sequence[Drawn], engine: str, jobs: int) -> Iterator[Seen]:
    """Yields the observations of every algorithm on each path."""
    with tempfile.TemporaryDirectory() as scratch, ProcessPoolExecutor(jobs) as pool:
        yield from pool.map(partial(observed, engine=engine, folder=File(scratch)), paths)


def train(engine: str, jobs: int) -> None:
    """Write the model."""
    rows: list[dict[str, float]] = []
    classes: list[int] = []
    for seen in runs(draw(*TRAINED), engine, jobs):
        for algorithm, found in seen:
            if not isinstance(found, str):
                rows.append(found)
                classes.append(ALGORITHMS.index(algorithm))
    names = list(rows[0])
    values = np.array([[row[name] for name in names] for row in rows])
    trees = grow(values, np.array(classes), len(ALGORITHMS))
    made = {
        "comment": "Made by `python -m benches.identify --train`; do not edit.",
        "digest": digest(),
        "trained": {"engine": engine, "paths": TRAINED[1], "seconds": SECONDS, "flows": len(rows)},
        "algorithms": ALGORITHMS,
        "features": names,
    }
    head = dumps(made, indent=1)[:-2]
    body = ",\n".join(dumps(tree, separators=(",", ":")) for tree in trees)
    MODEL.write_text(f'{head},\n "trees": [\n{body}\n]}}\n', encoding="utf-8")
    print(f"{MODEL}: {len(rows)} flows over {TRAINED[1]} paths, {MODEL.stat().st_size / 1e3:.0f} kB")


def score(paths: Sequence[Drawn], engine: str, jobs: int, tables: File | None) -> None:
    """Print how many guesses are right; write `identify-ENGINE.csv` and `identify-ENGINE-missed.csv` into `tables`."""
    told: Counter[tuple[str, str]] = Counter()
    missed: list[tuple[str, str, str]] = []
    shares: list[tuple[float, bool]] = []
    for path, seen in zip(paths, runs(paths, engine, jobs), strict=True):
        for algorithm, found in seen:
            one = Guess(None, None, found) if isinstance(found, str) else guess(found)
            told[algorithm, one.algorithm or "none"] += 1
            if one.algorithm is not None:
                shares.append((one.share or 0.0, one.algorithm == algorithm))
            if one.algorithm != algorithm:
                why = f"taken for {one.algorithm}" if one.algorithm else one.why_not
                missed.append((algorithm, path.words, why or ""))
    flows, guesses = sum(told.values()), len(shares)
    right = sum(is_right for _, is_right in shares)
    print(
        f"{flows} flows over {len(paths)} paths (`--engine {engine}`): {guesses} guesses, of which {right} are right "
        f"({100 * right / max(1, guesses):.1f} %); no guess of {flows - guesses} "
        f"({100 * (flows - guesses) / max(1, flows):.1f} %).\n"
    )
    columns = [*ALGORITHMS, "none"]
    counts = [[algorithm, *(told[algorithm, column] or "" for column in columns)] for algorithm in ALGORITHMS]
    for name, head, rows in (
        (f"identify-{engine}", ["true, and guessed", *columns], counts),
        (f"identify-{engine}-missed", ["true", "path", "instead"], missed),
    ):
        show(name, head, [[str(cell) for cell in row] for row in rows])
        if tables is not None:
            write_csv(tables / f"{name}.csv", head, rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--train", action="store_true")
    parser.add_argument("--engine", choices=("simulate", "virtual"), default="simulate")
    parser.add_argument("--paths", type=int, default=HELD_OUT[1])
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--csv", type=File, metavar="FOLDER", help="write the tables there, too: docs/results/data")
    options = parser.parse_args()
    if options.train:
        train(options.engine, options.jobs)
    else:
        score(draw(HELD_OUT[0], options.paths), options.engine, options.jobs, options.csv)


if __name__ == "__main__":
    main()

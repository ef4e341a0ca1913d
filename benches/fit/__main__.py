"""How often is `dumbbell fit` right? Draws hidden paths, captures a transfer over each, and judges every estimate.

    python -m benches.fit                        # the tables of docs/results/fit.md: 300 paths, simulated
    python -m benches.fit --engine virtual --paths 16     # the same, over the TCP of Linux
    python -m benches.fit --fast                 # 18 paths of 100 Mbit/s to 1 Gbit/s
    python -m benches.fit --both --paths 32      # from captures of both ends together
    python -m benches.fit --logs --paths 96      # from logs of ss, iperf3 and qlog
    python -m benches.fit --what-if --paths 32   # goodput of other algorithms: predicted, and over the true path

Targets: capacity within 2 %, base RTT within 1 ms, buffer within 10 %, a policer found and none where there is none,
loss within 20 %, others' rate within 5 % of the capacity, on average and in 90 % of its windows. `inside`: the truth
lies within the interval that the fit gives.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path as File
from typing import Final

from benches.fit.beside import OTHERS, judged_others
from benches.fit.judged import PROPERTIES, Judged, judged, refused
from benches.fit.logs import judge_logs
from benches.fit.paths import FAMILIES, SIDES, Hidden, captured, draw, fast
from benches.fit.predicted import predict, tell_predicted
from benches.table import show, write_csv
from dumbbell.errors import DumbbellError
from dumbbell.fitting import fit

SEED: Final = 1129
PATHS: Final = 300
BOTH: Final = "both"


def judge(path: Hidden, engine: str, folder: File, seen_from: Sequence[str] = SIDES) -> list[Judged]:
    """A transfer over a path, captured and fitted at each side. A fit that is refused identifies nothing."""
    rows: list[Judged] = []
    with captured(path, engine, folder) as (run, file, sides):
        for side in seen_from:
            try:
                found = fit(file.parent, other=file.parent) if side == BOTH else fit(file, None, None, sides[side])
                rows += judged(path, side, found)
                rows += judged_others(path, side, found, run) if side != BOTH else []
            except DumbbellError as error:
                names = PROPERTIES if side == BOTH else (*PROPERTIES, *OTHERS)
                rows += refused(path, side, error.problems[0].what, names)
    return rows


def tell(rows: Sequence[Judged], tables: File | None, stem: str = "fit") -> None:
    """Print how many estimates are right; write `fit.csv` with each that is not into `tables`."""
    names = list(dict.fromkeys(one.name for one in rows))
    head = ["property", "seen from", "paths with it", "identified", "within the target", "inside the interval"]
    cells = []
    for name in names:
        for side in dict.fromkeys(one.side for one in rows):
            of = [one for one in rows if one.name == name and one.side == side]
            known = [one for one in of if one.value is not None]
            right, inside = sum(one.is_right is True for one in known), sum(one.is_inside is True for one in known)
            real = [one for one in of if one.truth is not None]
            cells.append([name, side, str(len(real)), str(len(known)), _share(right, known), _share(inside, known)])
    show(stem, head, cells)
    by: dict[tuple[str, str], list[Judged]] = defaultdict(list)
    for one in rows:
        by[one.path.family, one.name].append(one)
    families = [
        [family, *(_family(by[family, name]) for name in names)]
        for family in FAMILIES
        if any(by[family, name] for name in names)
    ]
    show(f"{stem}-families", ["family", *names], families)
    real = [one for one in rows if one.name == "policer" and one.path.policer_bps is not None]
    others = [one for one in rows if one.name == "policer" and one.path.policer_bps is None]
    found = sum(one.value is not None for one in real)
    bounded = sum(one.value is None and one.low is not None and one.high is not None for one in real)
    print(
        f"policers found: {found} of {len(real)}, and {bounded} with bounds alone; "
        f"false alarms: {sum(one.value is not None for one in others)} of {len(others)}\n"
    )
    wrong = [one for one in rows if one.is_right is False or one.is_inside is False]
    columns = ["path", "family", "algorithm", "seen from", "property", "truth", "value", "low", "high", "within target"]
    failures = [
        [
            one.path.words, one.path.family, one.path.cc, one.side, one.name,
            *(_figure(x) for x in (one.truth, one.value, one.low, one.high)), "yes" if one.is_right else "no",
        ]
        for one in wrong
    ]  # fmt: skip
    show(f"{stem}-wrong", columns, failures)
    if tables is not None:
        write_csv(tables / f"{stem}.csv", head, cells)
        write_csv(tables / f"{stem}-families.csv", ["family", *names], families)
        write_csv(tables / f"{stem}-wrong.csv", columns, failures)


def _share(count: int, of: Sequence[Judged]) -> str:
    return f"{count} ({100 * count / len(of):.1f} %)" if of else "0"


def _family(of: Sequence[Judged]) -> str:
    """`right / identified / cases`."""
    return f"{sum(one.is_right is True for one in of)} / {sum(one.value is not None for one in of)} / {len(of)}"


def _figure(value: float | None) -> str:
    return "none" if value is None else f"{value:.6g}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engine", choices=("simulate", "virtual"), default="simulate")
    parser.add_argument("--paths", type=int, default=PATHS)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--what-if", action="store_true", help="judge predictions of other algorithms instead")
    parser.add_argument("--both", action="store_true", help="fit captures of both ends together")
    parser.add_argument("--fast", action="store_true", help="take 18 paths of 100 Mbit/s to 1 Gbit/s instead")
    parser.add_argument("--logs", action="store_true", help="fit logs of ss, iperf3 and qlog in place of captures")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--csv", type=File, metavar="FOLDER", help="write the tables there, too: docs/results/data")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch, ProcessPoolExecutor(options.jobs) as pool:
        if options.what_if:
            ask = partial(predict, engine=options.engine, folder=File(scratch))
            predicted = [row for of_path in pool.map(ask, draw(options.seed, options.paths)) for row in of_path]
            tell_predicted(predicted, options.csv)
            return
        if options.logs:
            ask = partial(judge_logs, folder=File(scratch))
            rows = [row for of_path in pool.map(ask, draw(options.seed, options.paths)) for row in of_path]
            tell(rows, options.csv, "fit-logs")
            return
        work = partial(judge, engine=options.engine, folder=File(scratch), seen_from=(BOTH,) if options.both else SIDES)
        paths = fast() if options.fast else draw(options.seed, options.paths)
        rows = [row for of_path in pool.map(work, paths) for row in of_path]
    tell(rows, options.csv, "fit-fast" if options.fast else "fit")


if __name__ == "__main__":
    main()

"""Recompute a random tenth of what `docs/results/trust.md` rests on; nothing in it depends on the machine.

    python -m validation.truth                 # the tenth of today
    python -m validation.truth --seed 20261123 # the tenth of another day
    python -m validation.truth --part links

Exit code 1 if a part is not as documented.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from math import log
from pathlib import Path
from random import Random
from statistics import median

from scipy.stats import binom

import dumbbell
from benches.table import show
from dumbbell.agree.figures import TOTAL_GOODPUT
from dumbbell.agree.study import Subject, run_both
from dumbbell.agree.targets import judge, overall
from dumbbell.engines.registry import engine
from validation.conformance.__main__ import replay
from validation.conformance.cases import CASES
from validation.drawn import About, draw
from validation.matrix import matrix

SCENARIOS = 200
"""Number of random scenarios behind the documented figures."""
REPEAT = 4
STARTS_NS = 10_000_000
"""Each flow starts by chance up to so much later, as in the documented figures."""
MATRIX_OUTSIDE = 0.02
"""Share of the matrix's cells that is outside a target with four repetitions, at most; many are undecided then. With
five it was 1 of 243."""
RANDOM_OUTSIDE = 0.05
"""The same, of scenarios at random, where it was 2 of 200."""
MEDIAN = 0.01
"""Median of |ln ratio| of the goodput, at most: wide intervals may not hide that one engine carries more. With four
repetitions it was 0.0013 and 0.0015; of twenty scenarios a few with large scatter may come together."""
IMPROBABLE = 0.01
"""A part is not as documented if so many cells outside would come in fewer than this share of days."""

Result = tuple[bool, str]
Part = Callable[[Random, float], Result]


def cells_agree(cells: Sequence[About], documented: float) -> Result:
    """Kernel and simulator, over these cells, of which the share `documented` is outside."""
    with tempfile.TemporaryDirectory() as root:
        settings = {"simulate": ["simulate.hosts=virtual"]}
        subjects = [Subject.of(cell.scenario(), [], REPEAT, Path(root), settings, STARTS_NS) for cell in cells]
        outcomes = run_both(subjects, {name: engine(name) for name in ("virtual", "simulate")})
    found = {outcome.subject.name: overall(judge(outcome.comparison)).value for outcome in outcomes}
    counted = Counter(found.values())
    outside = sorted(name for name, status in found.items() if status == "outside")
    goodputs = [row.ratio.value for one in outcomes if (row := one.comparison.get(TOTAL_GOODPUT)) and row.ratio]
    off = median(abs(log(ratio)) for ratio in goodputs)
    said = f"{counted['inside']} inside, {counted['undecided']} undecided, {len(outside)} outside of {len(cells)}"
    is_rare = binom.sf(len(outside) - 1, len(cells), documented) < IMPROBABLE
    return off <= MEDIAN and not is_rare, "; ".join([said, f"median |ln ratio| {off:.2%}", *outside])


def of_matrix(random: Random, share: float) -> Result:
    """Simulator against kernel: cells of the matrix."""
    cells = matrix()
    return cells_agree(random.sample(cells, _part(len(cells), share)), MATRIX_OUTSIDE)


def at_random(random: Random, share: float) -> Result:
    """Simulator against kernel: scenarios that nobody has seen before."""
    return cells_agree(draw(random.randrange(2**31), _part(SCENARIOS, share)), RANDOM_OUTSIDE)


def links(random: Random, share: float) -> Result:
    """The link against a model that shares no code with it."""
    cases = random.sample(list(CASES), _part(len(CASES), share))
    packets, wrong = 0, []
    for case in cases:
        for name in ("virtual", "simulate"):
            found = replay(case, 3, name)
            packets += found.packets
            if found.first:
                wrong.append(f"{case.name} under {name}: {found.first}")
    names = ", ".join(case.name for case in cases)
    return not wrong, "; ".join([f"{packets:,} packets of {names}: {len(wrong)} runs differ", *wrong])


def repeats(random: Random, share: float) -> Result:
    """The same scenario and seed give the same bytes."""
    cells = random.sample(matrix(), _part(20, share))
    differing = []
    for cell in cells:
        for name in ("virtual", "simulate"):
            with tempfile.TemporaryDirectory() as root:
                runs = [dumbbell.run(cell.scenario(), directory=f"{root}/{n}", engine=name, report=False) for n in "ab"]
                if len({_digest(run.directory) for run in runs}) > 1:
                    differing.append(f"{cell.name} under {name}")
    return not differing, "; ".join([f"{2 * len(cells)} runs made twice, {len(differing)} differ", *differing])


PARTS: dict[str, Part] = {"matrix": of_matrix, "random": at_random, "links": links, "repeats": repeats}


def _part(n: int, share: float) -> int:
    return max(1, round(n * share))


def _digest(directory: Path) -> str:
    """Digest of all tables of a run."""
    digest = hashlib.sha256()
    for table in sorted(directory.glob("*.parquet")):
        digest.update(table.name.encode() + table.read_bytes())
    return digest.hexdigest()


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "--seed", type=int, default=int(f"{datetime.now(UTC):%Y%m%d}"), help="default: today, as YYYYMMDD"
    )
    parser.add_argument("--share", type=float, default=0.1, help="of each part, 0 to 1")
    parser.add_argument("--part", action="append", choices=list(PARTS), help="default: all")
    options = parser.parse_args()
    rows, is_well = [], True
    for name in options.part or PARTS:
        part = PARTS[name]
        well, said = part(Random(f"{options.seed}/{name}"), options.share)
        is_well &= well
        rows.append([(part.__doc__ or "").rstrip("."), "as documented" if well else "NOT AS DOCUMENTED", said])
    show(f"A random part of {options.share:.0%}, seed {options.seed}", ["what", "", "found"], rows)
    return 0 if is_well else 1


if __name__ == "__main__":
    sys.exit(main())

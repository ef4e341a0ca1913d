"""An engine's record of a link replayed through an independent model of the link, mechanism by mechanism.

For each packet that reached the bottleneck, the model says when it left the queue, the serializer and the link, what
waited when it came, whether it was dropped or marked, and why. The record should say the same.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

import dumbbell
from benches.table import show
from validation.conformance import kernel
from validation.conformance.cases import CASES, Case
from validation.conformance.compare import Difference, compare


def replay(case: Case, seconds: int, engine: str) -> Difference:
    """Run it once and compare."""
    with tempfile.TemporaryDirectory() as scratch:
        run = dumbbell.run(case.scenario(seconds, Path(scratch)), directory=scratch, engine=engine, report=False)
        return compare(run.directory)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--only", default="", help="cases whose names contain this")
    parser.add_argument("--engine", default="emulate", choices=["emulate", "virtual", "simulate"])
    parser.add_argument("--against", default="model", choices=["model", "kernel"], help="the kernel's own links")
    options = parser.parse_args()
    if options.against == "kernel":
        kernel.main(options.seconds, options.only)
        return
    rows = []
    for case in (case for case in CASES if options.only in case.name):
        found = replay(case, options.seconds, options.engine)
        if found.first:
            print(f"{case.name}: {found.first}", file=sys.stderr)
        fates = ", ".join(f"{n} {what}" for what, n in found.fates.items() if what != "delivered")
        wrong = found.largest_ns, found.wrong_fates, found.wrong_marks, found.wrong_queues
        rows.append([case.name, f"{found.packets:,}", *(f"{number:,}" for number in wrong), fates])
    show(
        f"The record of {options.engine} against the model, {options.seconds} s each: "
        "largest difference in time, how many others differ",
        ["mechanism", "packets", "largest ns", "fates", "marks", "queues", "among them"],
        rows,
    )


if __name__ == "__main__":
    main()

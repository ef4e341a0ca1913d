"""The cost of live figures at 1 Gbit/s: CPU time and lateness of the same run with them and without, in turn."""

from __future__ import annotations

import argparse
import statistics
import tempfile

import dumbbell
from benches.table import show
from benches.turns import in_turns
from dumbbell.engines.emulate.engine import SILENCE_S, EmulateEngine
from dumbbell.engines.realm.machine import HELPER
from dumbbell.records.files import read_json
from dumbbell.statistics.intervals import paired_difference

SILENT = EmulateEngine((*HELPER, "--no-live"), {**SILENCE_S, "running": 3600.0})
ENGINES = {"live figures": EmulateEngine(), "none": SILENT}
MEASURES = ("emulator, cores", "traffic, cores", "lateness p99, us")


def measure(engine: EmulateEngine, seconds: int, rate: str) -> tuple[float, ...]:
    """The measures of a run of ten flows."""
    scenario = {
        "name": "live",
        "duration": f"{seconds} s",
        "topology": {"kind": "path", "rtt": "20 ms", "bottleneck": {"rate": rate, "buffer": "1 bdp"}},
        # The busy-wait would hide what is measured.
        "emulate": {"spin": "0 s"},
        "flows": [{"from": "h1", "to": "h2", "cc": "cubic", "connections": 10}],
    }
    with tempfile.TemporaryDirectory() as directory:
        run = dumbbell.run(scenario, directory=directory, engine=engine, report=False)
        emulator, traffic = (read_json(run.directory / f"{name}.json") for name in ("emulator", "traffic"))
    cores = (told["cpu_s"] / told["wall_s"] for told in (emulator, traffic))
    return (*cores, emulator["lateness_us"]["p99"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=int, default=8)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--rate", default="1 Gbit/s")
    options = parser.parse_args()
    found = in_turns(ENGINES, options.repeat, lambda engine: measure(engine, options.seconds, options.rate))
    rows = []
    for i, what in enumerate(MEASURES):
        (shown, silent) = ([one[i] for one in found[name]] for name in ENGINES)
        cost = paired_difference(silent, shown)
        numbers = (statistics.median(shown), statistics.median(silent), cost.value)
        interval = "" if cost.low is None else f"{cost.low:.3f} to {cost.high:.3f}"
        rows.append([what, *(f"{number:.3f}" for number in numbers), interval])
    show(
        f"Live figures, {options.rate}, ten CUBIC flows; medians of {options.repeat}",
        ["measure", "with", "without", "mean difference of pairs", "its 95 % interval"],
        rows,
    )


if __name__ == "__main__":
    main()

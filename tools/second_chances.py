"""Second chances: a test marked `real_time` that fails beside other tests is run once more, alone.

Such a test measures real TCP or a real browser against the wall clock, and other tests, or another guest of the
machine, can take the CPU for longer than its tolerance. It is run again with new fixtures when all others have ended,
and that outcome counts. Failures of all other tests are final. A test that is not proven (`tests/proof.py`) gets its
second chance, too, if it is marked.

Each use is in the log `.second-chances.jsonl`, one line for each run of `make test`. A test that needed a second
chance in two of ten runs is a defect to mend.

Usage:
    python -m tools.second_chances PYTEST-ARGUMENTS...   runs tests, returns pytest's exit code
    python -m tools.second_chances                       prints the second chances of the latest run

Environment:
    SECOND_CHANCES   path of the log
    TEST_RUN         identity of a run that calls this program several times
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

FEW: Final = 10
"""More failures than this are no bad luck: none gets a second chance."""
RUNS: Final = 10
DEFECT: Final = 2
"""Second chances of a test, among the latest `RUNS` runs of its folder, from which on it is a defect."""


@dataclass
class Record:
    """A run's line of the log."""

    run: str
    date: str
    commit: str
    folders: list[str] = field(default_factory=list)
    second_chances: dict[str, str] = field(default_factory=dict)
    """Test -> outcome of its second chance: passed, failed, not proven or skipped."""
    not_proven: dict[str, str] = field(default_factory=dict)
    """Test -> reason."""


def main(arguments: list[str]) -> int:
    """Runs tests, or prints what the log says of the latest run."""
    log = Path(os.environ.get("SECOND_CHANCES", ".second-chances.jsonl"))
    code = run(arguments, log) if arguments else 0
    print("\n".join(summary(read(log))))
    return code


def run(arguments: list[str], log: Path) -> int:
    """Runs pytest, then failed tests marked `real_time` alone. Returns the exit code."""
    with tempfile.TemporaryDirectory() as directory:
        code, first = pytest(Path(directory), *arguments)
        not_proven = first["not_proven"]
        chances = [test for test, outcome in first["real_time"].items() if outcome in ("failed", "not proven")]
        # Neither an interrupt nor a broken collection is a test's outcome.
        if code not in (0, 1) or len(set(chances) - not_proven.keys()) > FEW:
            chances = []
        outcomes = dict[str, str]()
        if chances:
            print(f"\nA second chance, alone: {', '.join(chances)}\n", flush=True)
            strict = [option for option in arguments if option == "--strict-proof"]
            code, second = pytest(Path(directory), *strict, *chances)
            outcomes = {test: second["real_time"].get(test, "failed") for test in chances}
            not_proven = {test: why for test, why in not_proven.items() if test not in chances} | second["not_proven"]
            code = code or int(bool(first["failed"]))
    append(log, [one for one in arguments if Path(one.partition("::")[0]).exists()], outcomes, not_proven)
    return code


def pytest(directory: Path, *arguments: str) -> tuple[int, dict[str, Any]]:
    """Runs pytest once. Returns its exit code and what `tests/proof.py` recorded."""
    outcomes = directory / "outcomes.json"
    outcomes.unlink(missing_ok=True)
    # A cache of its own: failures of another day are not this run's.
    words = [sys.executable, "-m", "pytest", "-o", f"cache_dir={directory / 'cache'}", f"--outcomes={outcomes}"]
    code = subprocess.run([*words, *arguments], check=False).returncode
    if outcomes.exists():
        return code, json.loads(outcomes.read_text(encoding="utf-8"))
    return code, {"failed": [], "real_time": {}, "not_proven": {}}


def read(log: Path) -> list[Record]:
    """Reads all runs, the latest last."""
    lines = log.read_text(encoding="utf-8").splitlines() if log.exists() else []
    return [Record(**json.loads(line)) for line in lines]


def append(log: Path, folders: list[str], second_chances: dict[str, str], not_proven: dict[str, str]) -> None:
    """Adds outcomes to the log, to the line of the same run if that is the latest."""
    now = datetime.now(UTC).isoformat(timespec="seconds")
    identity, records = os.environ.get("TEST_RUN") or now, read(log)
    if not records or records[-1].run != identity:
        head = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False)
        records.append(Record(identity, now, head.stdout.strip()))
    latest = records[-1]
    latest.folders += [one for one in folders if one not in latest.folders]
    latest.second_chances |= second_chances
    latest.not_proven |= not_proven
    log.write_text("".join(f"{json.dumps(asdict(record))}\n" for record in records), encoding="utf-8")


def summary(records: list[Record]) -> list[str]:
    """Returns the lines about the latest run, and about tests with too many second chances."""
    if not records:
        return ["no run is recorded"]
    latest = records[-1]
    chances = [f"{test} ({outcome})" for test, outcome in latest.second_chances.items()]
    lines = [listed("second chances", chances), listed("not proven", [*latest.not_proven])]
    for test, count in defects(records).items():
        lines.append(f"a defect to mend: {test} needed a second chance in {count} of its last {RUNS} runs")
    return lines


def listed(what: str, tests: list[str]) -> str:
    """Returns a count with its tests: `2 not proven: a, b`."""
    return f"{len(tests)} {what}{': ' if tests else ''}{', '.join(tests)}"


def defects(records: list[Record]) -> dict[str, int]:
    """Returns tests with too many second chances among the latest runs of their folder, and how many."""
    counts = Counter[str]()
    for test in {test for record in records for test in record.second_chances}:
        runs = [record for record in records if any(test.startswith(folder) for folder in record.folders)]
        counts[test] = sum(test in record.second_chances for record in runs[-RUNS:])
    return {test: count for test, count in sorted(counts.items()) if count >= DEFECT}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Real-time tests: what fails beside other tests is measured once more, alone.

The tests in `tests/system` run real TCP in real time, three at once on two cores; those in `tests/e2e` watch such runs
in a browser, two at once. Another test, or another guest of the machine, can take the CPU for longer than a test's
tolerance. So a test that fails runs again with nothing beside it, with new runs and new fixtures, and that outcome
counts. Its first failure stays in the output. A defect fails both times. More failures than `FEW` are no bad luck:
they count as they are.

Usage: python -m tools.real_time [pytest's arguments]
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

FEW = 5


def main() -> int:
    """Run pytest, and its failures again; pytest's exit code."""
    with tempfile.TemporaryDirectory() as directory:
        # A cache of its own: failures of another day are not its business.
        first = pytest(directory, "-rs", *sys.argv[1:])
        record = Path(directory) / "v" / "cache" / "lastfailed"
        failed = json.loads(record.read_text(encoding="utf-8")) if record.exists() else {}
        if first != 1 or len(failed) > FEW:
            return first
        print(f"\nAgain, alone: {', '.join(failed)}\n", flush=True)
        return pytest(directory, *failed)


def pytest(cache: str, *arguments: str) -> int:
    """One run of pytest; its exit code."""
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-o", f"cache_dir={cache}", *arguments], check=False
    ).returncode


if __name__ == "__main__":
    sys.exit(main())

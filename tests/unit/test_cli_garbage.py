"""Commands look for garbage seldom: a search among what is imported finds none and costs time."""

from __future__ import annotations

import subprocess
import sys

CALL = """
import gc, sys
from dumbbell.__main__ import main

def searches():
    return sum(one["collections"] for one in gc.get_stats())

sys.argv = ["dumbbell", *sys.argv[1:]]
before = searches()
try:
    main()
except SystemExit as end:
    assert not end.code
print(searches() - before)
print(gc.get_threshold()[0])
gc.collect()
print(gc.get_threshold()[0])
"""


def test_a_short_command_never_searches_and_a_long_one_as_often_as_usual() -> None:
    words = [sys.executable, "-c", CALL, "plan", "bbr-vs-cubic", "--json"]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    searches, first, usual = map(int, done.stdout.splitlines()[-3:])
    assert searches == 0
    assert first > 100_000
    assert usual == 10_000

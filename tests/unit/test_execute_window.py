"""The number of runs at a time: what became of runs goes in, a number comes out. No clock takes part."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from random import Random
from statistics import fmean

from dumbbell.execute.window import BACKOFF, MOST_BACKOFFS, Window, rounds


def together(window: Window, disturbed: bool = False) -> None:
    """A windowful of runs that ran together."""
    size, era = window.size, window.era
    for _ in range(size):
        window.end(disturbed, size, era)


def sizes(window: Window, runs: int, is_disturbed: Callable[[int], bool]) -> list[int]:
    """The window's size at the beginning of each windowful; whether runs are disturbed depends on their number."""
    found = []
    while runs > 0:
        found.append(window.size)
        runs -= window.size
        together(window, is_disturbed(window.size))
    return found


def test_it_begins_with_what_is_safe_and_grows_while_runs_are_valid() -> None:
    assert sizes(Window(1, 32), 21, lambda size: False) == [1, 2, 3, 4, 5, 6]
    assert sizes(Window(4, 32), 15, lambda size: False) == [4, 5, 6]


def test_it_never_exceeds_the_most() -> None:
    assert sizes(Window(1, 3), 12, lambda size: False) == [1, 2, 3, 3, 3]
    assert Window(8, 3).size == 3


def test_it_shrinks_at_the_first_disturbed_run_and_once_for_those_beside_it() -> None:
    window = Window(1, 32)
    sizes(window, 36, lambda size: False)
    assert window.size == 9
    era = window.era
    window.end(True, 9, era)
    assert window.size == 6
    for _ in range(8):
        window.end(True, 9, era)
    assert window.size == 6


def test_valid_runs_of_before_don_t_make_it_grow() -> None:
    window = Window(1, 32)
    together(window)
    era = window.era
    window.end(True, 2, era)
    assert window.size == 1
    window.end(False, 2, era)
    assert window.size == 1


def test_runs_that_did_not_fill_it_say_nothing() -> None:
    window = Window(4, 32)
    for _ in range(20):
        window.end(False, 3, window.era)
    assert window.size == 4


def test_it_never_shrinks_below_what_is_safe() -> None:
    """A run that had CPUs of its own was not disturbed by the others."""
    window = Window(4, 32)
    for _ in range(9):
        together(window, disturbed=True)
    assert window.size == 4
    together(window)
    assert window.size == 5


def test_a_number_that_was_too_large_is_tried_more_and_more_rarely() -> None:
    """With room for two, the share of windowfuls at three falls to the last backoff, and stays there."""
    found = sizes(Window(1, 32), 4000, lambda size: size >= 3)
    tries = [i for i, size in enumerate(found) if size == 3]
    gaps = [b - a for a, b in pairwise(tries)]
    assert gaps == sorted(gaps)
    # A series of that many windows at two, and the failure itself.
    assert gaps[0] == BACKOFF + 1
    assert gaps[-1] == BACKOFF**MOST_BACKOFFS + 1
    assert max(found) == 3
    assert 3 * len(tries) < 0.1 * 4000


def test_noise_does_not_make_it_small() -> None:
    """One disturbed run says little of a number that went well for a window: it is soon tried again."""
    window, random = Window(1, 32), Random(1)
    found = []
    for _ in range(500):
        found.append(window.size)
        size, era = window.size, window.era
        for _ in range(size):
            window.end(size > 6 or random.random() < 0.05, size, era)
    assert 3 < fmean(found) < 6.5


def test_when_the_machine_becomes_calm_it_grows_again() -> None:
    window = Window(1, 8)
    sizes(window, 200, lambda size: size >= 3)
    assert window.size <= 3
    assert sizes(window, 2000, lambda size: False)[-1] == 8


def test_on_a_machine_that_disturbs_every_run_it_stays_at_what_is_safe() -> None:
    assert set(sizes(Window(1, 32), 50, lambda size: True)) == {1}


def test_the_number_of_rounds_if_nothing_disturbs_them() -> None:
    assert [rounds(runs, 1, 32) for runs in (0, 1, 2, 3, 4, 6, 7)] == [0, 1, 2, 2, 3, 3, 4]
    assert rounds(12, 1, 3) == 5
    assert rounds(12, 4, 4) == 3

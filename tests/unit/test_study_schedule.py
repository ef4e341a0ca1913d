"""Runs keep their numbers, whatever is asked for later."""

from __future__ import annotations

from dumbbell.studies.schedule import Schedule, Scheduled


def test_a_round_is_a_repetition_of_all_cells() -> None:
    schedule = Schedule(2)
    assert schedule.want(2) == [Scheduled(0, 0, 0), Scheduled(1, 1, 0), Scheduled(2, 0, 1), Scheduled(3, 1, 1)]
    assert schedule.rounds == [[0, None], [1, None]]


def test_more_come_last_and_fewer_are_the_first() -> None:
    schedule = Schedule(3)
    few = schedule.want(1)
    some = schedule.want({0: 1, 1: 3, 2: 2})
    assert some == [*few, Scheduled(3, 1, 1), Scheduled(4, 2, 1), Scheduled(5, 1, 2)]
    again = Schedule(3, schedule.rounds)
    assert again.want({0: 1, 1: 3, 2: 2}) == some
    assert again.want(1) == few
    assert again.want(2)[:6] == some
    assert again.want(2)[6:] == [Scheduled(6, 0, 1)]
    assert again.want({0: 2, 1: 3, 2: 3})[7:] == [Scheduled(7, 2, 2)]
    assert again.rounds == [[0, None], [1, [1, 2]], [2, [1]], [1, [0]], [2, [2]]]

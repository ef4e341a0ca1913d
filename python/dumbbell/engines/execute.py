"""A run from its start to its end, and the signals meanwhile."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from dumbbell.engines.events import OnEvent
from dumbbell.engines.orders import Stop, StopNow
from dumbbell.engines.protocol import Engine, LiveRun, Outcome
from dumbbell.engines.signals import taken_over
from dumbbell.plan.types import Plan

OnLive = Callable[[LiveRun], None]


def execute(
    engine: Engine,
    plan: Plan,
    directory: Path,
    lock: int,
    on_event: OnEvent,
    on_live: OnLive | None = None,
) -> Outcome:
    """Carry out `plan`, whose `plan.json` lies in `directory`, and write the records there.

    The first Ctrl-C stops early and keeps what was measured, the second ends at once.

    Args:
        engine: what carries it out.
        plan: the expanded run.
        directory: the run directory, made and locked.
        lock: descriptor of the lock.
        on_event: told of each event. What it raises ends the run.
        on_live: gets the run as it begins, to give it orders.

    Raises:
        RunFailed: with what failed, why, and a hint.
        Interrupted: it was ended at once, or before it began.
    """
    orders = iter([Stop()])
    live = engine.prepare(plan, directory, lock)
    with taken_over(lambda: live.order(next(orders, StopNow()))), live:
        if on_live is not None:
            on_live(live)
        for event in live.events():
            on_event(event)
        return live.wait()

"""The plan's events in words: what each link is from then on, and what happens to daemons."""

from __future__ import annotations

from textwrap import shorten
from typing import Final

from dumbbell.plan import words
from dumbbell.plan.network import network
from dumbbell.plan.parts import full_frame
from dumbbell.plan.types import Plan
from dumbbell.records import Run
from dumbbell.report.facts import Facts
from dumbbell.report.model import Change
from dumbbell.report.words import seconds

_SHORT: Final = 48
"""Letters of a label beside a line."""


def changes(run: Run, known: Facts) -> tuple[Change, ...]:
    """The changes in order of time."""
    return of_plan(run.plan, known)


def of_plan(plan: Plan, known: Facts) -> tuple[Change, ...]:
    """The same of a plan."""
    rtt_ns = max(network(plan).base_rtts_ns, default=0)
    now = {link.name: link for link in plan.links}
    found = []
    for event in plan.events:
        after = event.link
        name = after.name
        said = "; ".join(words.changes(now[name], after, full_frame(plan, after), rtt_ns))
        is_only = not known.has_several and known.bottleneck is not None and name == known.bottleneck.name
        of = "" if is_only else f"{name} "
        at = event.at_ns / 1e9
        found.append(Change(at, name, said, _label(at, f"{of}{said}")))
        now[name] = after
    for change in plan.daemon_events:
        at, said = change.at_ns / 1e9, words.daemon(change)
        found.append(Change(at, change.router, said, _label(at, f"{change.router} {said}")))
    return tuple(sorted(found, key=lambda one: one.time_s))


def _label(at: float, text: str) -> str:
    return shorten(f"{seconds(at)}: {text}", _SHORT, placeholder=" …")

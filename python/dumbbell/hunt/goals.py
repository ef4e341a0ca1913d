"""Goals of a hunt: a metric with a bound beyond which a run shows a fault."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, Literal

from dumbbell.errors import InputError
from dumbbell.frozen import dataclass
from dumbbell.hints import nearest
from dumbbell.hunt.network import Base, added_ns, offered_bps
from dumbbell.hunt.space import Candidate
from dumbbell.studies import measures
from dumbbell.units import QuantityError

if TYPE_CHECKING:
    from dumbbell.statistics.frames import Frames

Unit = Literal["fair", "rtt", "plain"]
"""Unit of a bound: the fair share of the link, the RTT without queues, or the metric's own."""
LEAST_OFFERED: Final = 0.2
"""Share of the link's rate that cross traffic, policers and rates must leave. A network that leaves less is no find."""


@dataclass(frozen=True)
class Goal:
    """A metric and the bound beyond which a run shows a fault."""

    name: str
    """The goal as the user wrote it."""
    metric: str
    below: bool
    """True if small values are faults."""
    bound: float
    unit: Unit = "plain"
    pick: Literal["worst", "best"] = "worst"
    """The flow under test that decides."""
    of: str | None = None
    """The only subject that counts: a flow, a group, an algorithm or a link."""
    flows: int = 1
    """The least number of TCP flows with which the goal makes sense."""
    about: str = ""

    @property
    def shown(self) -> str:
        """The goal in words."""
        return self.about or self.name


GOALS: Final[Mapping[str, Goal]] = {
    goal.name: goal
    for goal in (
        Goal(
            "stall", "goodput", True, 0.1, "fair", "best", about="each flow has less than a tenth of what is left to it"
        ),
        Goal(
            "starvation", "goodput", True, 0.1, "fair", flows=2, about="a flow has less than a tenth of its fair share"
        ),
        Goal("delay", "rtt_p95", False, 4.0, "rtt", about="a flow's RTT is above four times the RTT without queues"),
        Goal("loss", "retransmitted_share", False, 0.1, about="a flow repeats more than a tenth of its segments"),
        Goal("unfair", "jain_index", True, 0.6, flows=2, about="Jain's index of the flows is below 0.6"),
    )
}
"""Goals that have a name."""

_COMPARISON: Final = re.compile(r"\s*(\w+)(?:\s+of\s+(\S+))?\s*([<>])\s*(.+?)\s*")


def goal(text: str) -> Goal:
    """The goal of `--for`: a name, or a comparison such as `goodput of f1 < 1 Mbit/s`. Raises `InputError`."""
    if text in GOALS:
        return GOALS[text]
    match = _COMPARISON.fullmatch(text)
    if match is None:
        why = f"expected {', '.join(GOALS)}, or a comparison of a metric"
        hint = nearest(text, GOALS, "--for 'goodput < 1 Mbit/s'")
        raise InputError(f"--for {text}: unknown goal", why, hint)
    from dumbbell.statistics.metrics import get

    name, of, sign, bound = match.groups()
    metric = get(name)
    try:
        number = measures.read(metric, _number(bound))
    except QuantityError as error:
        raise InputError(f"--for {text}: {error.wrong}", f"expected {error.expected}", error.hint) from None
    if number is None or number <= 0:
        raise InputError(f"--for {text}: the bound must be above zero", f"given: {bound}", "choose a small bound")
    return Goal(text, metric.name, sign == "<", number, of=of)


def _number(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


def check(goal: Goal, base: Base) -> None:
    """Raises `InputError` if the scenario has too few flows for the goal."""
    if base.bulk < goal.flows:
        why = f"the scenario has {base.bulk} flow of TCP, and {goal.name} is about several"
        raise InputError(f"--for {goal.name} needs {goal.flows} flows of TCP", why, "add [[flows]]")


def subjects(goal: Goal, base: Base, frames: Frames) -> dict[int, dict[str, float]]:
    """Run -> subject (a flow under test, the link, or "" for the run) -> the goal's metric."""
    from dumbbell.statistics.metrics import get, values

    metric = get(goal.metric)
    if goal.of is not None:
        rows = measures.by_run(frames, goal.metric, goal.of)
        return {run: {goal.of: value} for run, value in rows.select("run", "value").iter_rows()}
    scope = "group" if "group" in metric.scopes else measures.LINK if measures.LINK in metric.scopes else measures.RUN
    wanted = base.tested if scope == "group" else (base.link,) if scope == measures.LINK else ("",)
    found: dict[int, dict[str, float]] = {}
    for run, of, value in values(frames, metric, scope).select("run", "of", "value").iter_rows():
        if of in wanted:
            found.setdefault(run, {})[of] = value
    return found


def decisive(goal: Goal, values: Mapping[str, float]) -> tuple[str, float] | None:
    """The subject that decides, and its value; `None` if none has one."""
    if not values:
        return None
    least = goal.below == (goal.pick == "worst")
    return (min if least else max)(values.items(), key=lambda one: one[1])


def reference(goal: Goal, base: Base, candidate: Candidate) -> float | None:
    """The value, in the metric's unit, of which the goal's bound is a multiple.

    `None` if the network leaves too little to the flows under test to blame them.
    """
    left = offered_bps(base, candidate)
    if left < LEAST_OFFERED * base.rate_bps:
        return None
    match goal.unit:
        case "fair":
            return left / max(base.bulk, 1)
        case "rtt":
            return (base.rtt_ns + added_ns(candidate)) / 1e6
    return 1.0


def score(goal: Goal, value: float, limit: float) -> float:
    """The distance from a fault: below 1, the value is beyond `limit`. The least is 0."""
    if limit <= 0:
        return float("inf")
    ratio = value / limit
    return ratio if goal.below else 1 / max(ratio, 1e-9)


def worse(goal: Goal, other: float, by: float) -> float:
    """The limit of a comparison: a figure that is worse than that of the other algorithm by the share `by`."""
    return other * (1 - by) if goal.below else other / (1 - by)

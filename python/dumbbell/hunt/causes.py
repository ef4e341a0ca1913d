"""Groups faults by cause: the kinds of their events, and what held the flows back."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from dumbbell.frozen import dataclass
from dumbbell.hunt.evaluating import Result
from dumbbell.hunt.space import Candidate
from dumbbell.scenario.hunt import Kind

MUCH: Final = 0.5
"""Share of a flow's time from which on a limit is its cause."""
LOSSY: Final = 0.01
"""Share of repeated segments from which on losses take part in a fault."""
_EVENTS: Final[Mapping[Kind, str]] = {
    "rate": "changes of the rate",
    "loss": "losses of single packets",
    "delay": "delay spikes",
    "jitter": "jitter",
    "reorder": "reordering",
    "policer": "a policer",
    "cross": "cross traffic",
    "pulse": "bursts at equal intervals",
    "short": "short transfers",
}


@dataclass(frozen=True)
class Fault:
    """A candidate whose run shows a fault."""

    candidate: Candidate
    result: Result

    @property
    def rank(self) -> tuple[bool, int, float, Candidate]:
        """Order of faults: clear ones and one without events first, then those with the fewest events, then the
        worst."""
        return (
            bool(self.candidate) and not self.result.is_clear,
            len(self.candidate),
            self.result.score or 0.0,
            self.candidate,
        )


def cause(fault: Fault) -> str:
    """The cause in words: `bursts at equal intervals; held back by its congestion control, with retransmissions`."""
    events = " and ".join(_EVENTS[kind] for kind in _kinds(fault)) or "no event"
    return f"{events}; {_held_back(fault.result)}"


def _kinds(fault: Fault) -> list[Kind]:
    return sorted({gene.kind for gene in fault.candidate})


def _held_back(result: Result) -> str:
    facts = result.facts
    if facts.get("window", 0.0) >= MUCH:
        by = "the receiver's window"
    elif facts.get("bottleneck", 0.0) >= MUCH:
        by = "the link"
    else:
        by = "its congestion control"
    lost = "with" if facts.get("retransmitted", 0.0) >= LOSSY else "with few"
    return f"held back by {by}, {lost} retransmissions"


def clustered(faults: Iterable[Fault]) -> list[Fault]:
    """A fault of each cause, the first by rank.

    Two faults that are held back alike have one cause if one has all kinds of events of the other: the further kinds
    only make it worse. A fault without any event is the cause of all.
    """
    found: list[Fault] = []
    for fault in sorted(faults, key=lambda one: one.rank):
        if not any(_explains(one, fault) for one in found):
            found.append(fault)
    return found


def _explains(simpler: Fault, fault: Fault) -> bool:
    if not simpler.candidate:
        return True
    return set(_kinds(simpler)) <= set(_kinds(fault)) and _held_back(simpler.result) == _held_back(fault.result)

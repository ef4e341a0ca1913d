"""The source of panels: a run's tables, read once for all of them."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property

from dumbbell.errors import DamagedFile, DumbbellError
from dumbbell.records import Run
from dumbbell.report import words
from dumbbell.report.acks import MOST_FLOWS
from dumbbell.report.facts import Facts
from dumbbell.report.model import Group
from dumbbell.report.samples import Samples
from dumbbell.report.spread import MOST_CURVES, Many


@dataclass
class Source:
    """A run, and what all panels need to know of it."""

    run: Run
    known: Facts
    groups: tuple[Group, ...]
    sample_columns: Iterable[str] = ()
    """Columns of `samples` that any panel needs."""
    missing: list[str] = field(default_factory=list)
    """Sentences on what could not be drawn."""
    with_acks: set[str] = field(default_factory=set)
    """Flows whose ACKs were read."""

    @property
    def span_ns(self) -> int:
        """Length of the time axis."""
        return int(self.run.plan.duration_ns)

    @property
    def flows(self) -> list[str]:
        """All flows of the plan, group by group."""
        return [flow for group in self.groups for flow in group.flows]

    @property
    def has_few_flows(self) -> bool:
        """True if each flow can have curves of its ACKs."""
        return len(self.flows) <= MOST_FLOWS

    @property
    def has_too_many_flows(self) -> bool:
        """True if kinds are drawn, and not single flows."""
        return len(self.run.plan.flows) > MOST_CURVES

    @property
    def many(self) -> Many:
        """The tables, of which a part at a time is in memory."""
        return Many(self.run, self.groups)

    @cached_property
    def samples(self) -> Samples:
        """The `samples` table. Raises `DumbbellError` if it cannot be read."""
        return Samples.read(self.run, self.groups, self.sample_columns)

    def say(self, titles: Iterable[str], error: DumbbellError) -> None:
        """Note that plots of these titles cannot be drawn, and why."""
        what = error.what.rsplit("/", 1)[-1]
        reason = f"{what} ({error.why})" if error.why else what
        said = f"{words.listed(titles)}: {reason}."
        if said not in self.missing:
            self.lack(said)

    def lack(self, reason: str) -> None:
        """Note that something cannot be drawn because of its file, also for those who see no page."""
        self.missing.append(reason)
        warnings.warn(f"{self.run.directory}: {reason}", DamagedFile, stacklevel=2)

    @property
    def left_out(self) -> list[str]:
        """Flows that have neither a lane of states nor points, because there are too many flows."""
        return [] if self.has_few_flows else [flow for flow in self.flows if flow not in self.with_acks]

"""BBR's states over time: a lane per flow."""

from __future__ import annotations

from dataclasses import field, replace
from typing import Final

import numpy as np
import polars as pl

from dumbbell.frozen import dataclass
from dumbbell.report import words
from dumbbell.report.acks import Acks
from dumbbell.report.definition import Gatherer
from dumbbell.report.model import Lane, Panel, View
from dumbbell.report.source import Source
from dumbbell.report.states import COLUMNS, STATES, Blocks, blocks

_MOST_NAMED: Final = 4


@dataclass(frozen=True)
class _Definition:
    place: int = 20
    title: str = "BBR state"
    is_expected: bool = False
    sample_columns: frozenset[str] = frozenset()
    ack_columns: frozenset[str] = frozenset(COLUMNS)

    def start(self, source: Source) -> Gatherer:
        """Begin the panel of one run."""
        return _States(source)


@dataclass
class _States:
    source: Source
    found: list[Blocks] = field(default_factory=list)

    def add(self, acks: Acks) -> None:
        """Add the lane of a flow, if its ACKs say its state."""
        if (found := blocks(acks, len(self.found), self.source.span_ns)) is not None:
            self.found.append(found)

    def panel(self) -> Panel | None:
        """The panel of all lanes with the states that occur; a lane's states become indices into these."""
        if not self.found:
            return None
        occurring = np.unique(np.concatenate([one.states.state.to_numpy() for one in self.found]))
        place = {int(old): new for new, old in enumerate(occurring)}
        marks = tuple(
            replace(one.states, state=one.states.state.replace_strict(place, return_dtype=pl.UInt8))
            for one in self.found
        )
        lanes = tuple(Lane("", one.flow, one.group) for one in self.found)
        view = View("", pl.Series([], dtype=pl.Float64), marks, self._note(), lanes=lanes)
        states = tuple(STATES[int(old)] for old in occurring)
        return Panel("bbr_state", 1.0, PANEL.title, "", (view,), states=states)

    def _note(self) -> str:
        note = "The state as of each ACK. The higher a block, the faster BBR sends in it."
        widths = [one.width_ns for one in self.found if one.width_ns]
        if widths:
            note += f" States shorter than {words.seconds(max(widths) / 1e9)} can be missing."
        if left_out := self.source.left_out:
            few = len(left_out) <= _MOST_NAMED
            note += f"  Not drawn: {words.listed(left_out) if few else words.count(len(left_out), 'more flow')}."
        return note


PANEL: Final = _Definition()

"""Which varied key matters for a metric: effects, interactions and shares of the variation, in a metric's unit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from dumbbell.cc.names import title
from dumbbell.counts import listed
from dumbbell.errors import InputError
from dumbbell.frozen import dataclass
from dumbbell.report.study.axes import LEFT_OUT, Axis
from dumbbell.report.study.model import Panel, StudyPlots
from dumbbell.statistics.factorial import effects
from dumbbell.statistics.intervals import Interval

MOST_INTERACTING: Final = 2
"""Keys of one interaction."""
MEANING: Final = (
    "effect of a key with two values: the change from the first to the second; of an interaction: half of the "
    "difference of two such changes; of a key with more values: the deviation from the mean"
)


@dataclass(frozen=True)
class Effect:
    """The effect of one combination of values."""

    levels: str
    """`loss 5 %, delay 10 ms`."""
    size: Interval
    """In the metric's base unit."""


@dataclass(frozen=True)
class KeyEffects:
    """A key, or two that interact."""

    name: str
    """`loss`, or `loss and delay`."""
    share: Interval
    """Share of the variation between cells, 0 to 1."""
    effects: tuple[Effect, ...]


@dataclass(frozen=True)
class Effects:
    """The effects on a metric of one scope."""

    of: str
    """Title of the scope; empty if the metric has one only."""
    terms: tuple[KeyEffects, ...]
    """The largest share first."""

    @property
    def sizes(self) -> list[Effect]:
        """All effects, those of the largest share first."""
        return [one for term in self.terms for one in term.effects]


def effects_on(plots: StudyPlots, panel: Panel) -> list[Effects]:
    """The effects of a metric's scopes. Raises `InputError` if values of keys were not all combined."""
    found = []
    for of in panel.of:
        runs = {cell: list(panel.samples(cell, name).values()) for cell, name in panel.entries if name == of}
        cells = [cell for cell in runs if all(axis.cells[cell] != LEFT_OUT for axis in plots.axes)]
        # An algorithm that is swept has values in its own cells only: for it, the key does not vary.
        axes = [axis for axis in plots.axes if len({axis.cells[cell] for cell in cells}) > 1]
        if not axes:
            raise InputError(f"no effects on {panel.metric.name}", "no key varies", "vary keys in [sweep]")
        ordered = sorted(cells, key=lambda cell: [axis.cells[cell] for axis in axes])
        by_levels = {tuple(str(axis.cells[cell]) for axis in axes): runs[cell] for cell in ordered}
        try:
            terms = effects([axis.key for axis in axes], by_levels, plots.confidence, MOST_INTERACTING)
        except ValueError:
            raise InputError(
                f"the effects of {listed(axis.label for axis in axes)} on {panel.metric.name} can't be told apart",
                "some combination of their values has no run",
                "vary each key with each value of the others: no `zip`, no missing run",
            ) from None
        known = {axis.key: axis for axis in axes}
        found.append(
            Effects(
                title(of) if len(panel.of) > 1 else "",
                tuple(
                    KeyEffects(
                        " and ".join(known[key].label for key in term.factors), term.share,
                        tuple(_named([known[key] for key in term.factors], term.effects)),
                    )
                    for term in terms
                ),
            )
        )  # fmt: skip
    return found


def _named(axes: Sequence[Axis], sizes: Mapping[tuple[str, ...], Interval]) -> Iterator[Effect]:
    for levels, size in sizes.items():
        yield Effect(", ".join(axis.word(int(level)) for axis, level in zip(axes, levels, strict=True)), size)

"""One repetition under both engines on the same axes: the curves of both runs' reports."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

import polars as pl

from dumbbell.agree.comparison import Engines
from dumbbell.records import Run
from dumbbell.report.model import Group, Line, Panel, Plots, View
from dumbbell.report.series import build

PANELS: Final = {
    "Goodput": "goodput_bps",
    "Congestion window": "cwnd_packets",
    "RTT": "srtt_ms",
    "Queue": "queue_bytes",
}
"""Title of a panel -> the quantity drawn in it, which every engine samples."""

# Okabe & Ito's hues, on white and on black. Each flow has one for either engine, as different as possible.
_HUES: Final = (
    (("#0072b2", "#3d9fe0"), ("#e69f00", "#eeb23a")),
    (("#009e73", "#23bf92"), ("#d55e00", "#f07f2e")),
    (("#56b4e9", "#8fd0f5"), ("#cc79a7", "#dc93bb")),
)
_DASHES: Final[tuple[tuple[int, ...], ...]] = ((), (4, 2))
"""Line style of either engine: where they agree, one curve hides the other."""
_QUEUE: Final = (("#4d5866", "#9aa5b1"), ("#c2321d", "#e8735f"))


def overlay(engines: Engines, first: Run, second: Run) -> Plots:
    """Goodput, window and RTT of each flow, and the queue of the bottleneck, of both runs.

    Both runs have the same scenario. A panel that one run has no data for is left out, and `missing` says so.
    """
    both = build(first), build(second)
    panels, missing = [], []
    for title in PANELS:
        found = [next((panel for panel in one.panels if panel.title == title), None) for one in both]
        if found[0] is None or found[1] is None:
            missing.append(f"{title}: one of the two runs has no data.")
        else:
            panels.append(_panel(engines, found[0], found[1], len(both[0].groups)))
    duration_s = both[0].duration_s
    return Plots(first.name, duration_s, _groups(engines, both), tuple(panels), both[0].changes, tuple(missing))


def _groups(engines: Engines, both: tuple[Plots, Plots]) -> tuple[Group, ...]:
    """Each flow under each engine, then the queue under each."""
    flows = [
        Group(f"{group.label}, {word}", group.flows, *_HUES[i % len(_HUES)][which], _DASHES[which])
        for which, word in enumerate(engines)
        for i, group in enumerate(both[which].groups)
    ]
    queues = [Group(f"queue, {word}", (), *_QUEUE[which], _DASHES[which]) for which, word in enumerate(engines)]
    return (*flows, *queues)


def _panel(engines: Engines, first: Panel, second: Panel, n: int) -> Panel:
    """The panel of `n` groups of flows per engine, in the first one's unit."""
    view = first.views[0]
    # The same link of both: which comes first is found in each run.
    other = next((one for one in second.views if one.name == view.name), second.views[0])
    scale = second.per_unit / first.per_unit
    lines = [*_lines(first, view, 1.0, 0, 2 * n), *_lines(second, other, scale, n, 2 * n + 1)]
    note = f"{engines[0]}: {view.note} {engines[1]}: {other.note}"
    no_times = pl.Series([], dtype=pl.Float64)
    both = View(view.name, no_times, tuple(lines), note, view.references, view.second)
    return replace(first, key=PANELS[first.title], views=(both,), quantities=())


def _lines(panel: Panel, view: View, factor: float, flows: int, queue: int) -> Iterator[Line]:
    """The curves of the panel's quantity in a view of it, times `factor`; groups of flows begin at `flows`."""
    for line in view.lines:
        key = panel.quantities[line.quantity].key if panel.quantities else panel.key
        if not isinstance(line, Line) or line.is_level or key != PANELS[panel.title]:
            continue
        yield replace(
            line,
            values=line.values.cast(pl.Float64) * factor,
            group=queue if line.group is None else flows + line.group,
            quantity=0,
            time_s=view.time_s if line.time_s is None else line.time_s,
        )

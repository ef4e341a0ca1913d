"""Which metrics of a study are drawn, as which kind of plot, and what their files are called."""

from __future__ import annotations

from typing import Final

from dumbbell.errors import InputError
from dumbbell.report.study.arrangement import EVERY, MOST_CURVES, with_rows
from dumbbell.report.study.grid import grids
from dumbbell.report.study.matrices import Matrix, of_keys, of_pairs
from dumbbell.report.study.model import Panel, StudyPlots
from dumbbell.scenario.study import PlotKind

MOST_PLOTS: Final = 12
"""Plots of one figure."""
ROWS_APART: Final = 20.0
"""Bars of one plot may be so much smaller than others: they stand beside them to be compared."""
_FEW: Final = 3


def shown(plots: StudyPlots) -> tuple[Panel, ...]:
    """The metrics that have a figure and files. Raises `InputError` for a matrix of a study without pairs."""
    if is_of_pairs(plots) and plots.pairs is not None:
        return plots.pairs.panels
    if plots.described.kind == "matrix":
        why = "a matrix needs two entries of flows in each cell, with one algorithm each, and several algorithms"
        raise InputError(f"no matrix of {plots.name}", why, "see dumbbell scenarios show coexistence")
    if plots.described.kind == "effects" and plots.described.by is None:
        # A swept algorithm is no key of its own flows: effects are those on all flows, or on links.
        return tuple(one for one in plots.panels if one.scope in ("run", "link")) or plots.panels
    return plots.panels


def kind_of(plots: StudyPlots, panel: Panel) -> PlotKind:
    """The kind of plot of a metric. Raises `InputError` for lines over what are no numbers."""
    asked, x = plots.described.kind, plots.layout.x
    if asked == "lines" and (x is None or x.kind == "category"):
        why = f"the values of {x.label} are not numbers" if x else "the study varies no key"
        raise InputError("lines need numbers across", why, "write --kind bars, or --across with a key that has numbers")
    if asked != "auto":
        return asked
    if is_of_pairs(plots):
        return "matrix"
    found = list(grids(plots, panel))
    many = max(len(grid.columns) for grid in found) > MOST_CURVES or len(found) > MOST_PLOTS
    if many and x is not None and not plots.described.curves:
        return "heat"
    return "lines" if x is not None and x.kind != "category" else "bars"


def is_of_pairs(plots: StudyPlots) -> bool:
    """True if the study is one of pairs, and nobody wants other plots of it."""
    described, pairs = plots.described, plots.pairs
    if pairs is None or not pairs.panels or described.kind not in ("auto", "matrix"):
        return False
    if described.kind == "matrix":
        return True
    few = all(axis.kind == "category" or len(axis.texts) <= _FEW for axis in pairs.others)
    matrices = len({at for at, _, _ in pairs.places}) or 1
    # Of two algorithms one of which stays, three of four places are known: that is no study of pairs.
    least = 0.75 if len(pairs.names) > 2 else 1.0
    is_full = len(pairs.places) >= least * matrices * len(pairs.names) ** 2
    return few and is_full and not (described.across or described.curves)


def matrices(plots: StudyPlots, panel: Panel) -> list[Matrix] | None:
    """The matrices that show a metric; `None` if another kind of plot does."""
    kind = kind_of(plots, panel)
    if kind == "matrix":
        return of_pairs(plots, panel)
    return of_keys(plots, panel, with_rows(plots.layout)) if kind == "heat" else None


def stem(panel: Panel) -> str:
    """A metric with several scopes has its scope in the name."""
    return f"{panel.metric.name}_by_{panel.scope}" if len(panel.metric.scopes) > 1 else panel.metric.name


def name_of(plots: StudyPlots, panel: Panel) -> str:
    """The name of a metric's files, without their ending."""
    own, kind = plots.described.name, kind_of(plots, panel)
    if own:
        return own if len(shown(plots)) == 1 else f"{own}_by_{panel.scope}"
    return f"{stem(panel)}_{kind}" if kind == "matrix" or plots.described.metric != EVERY else stem(panel)


def tabled(plots: StudyPlots) -> list[tuple[str, Panel]]:
    """The metrics that have a table of cells, each with the name of its file. A described matrix has no other table."""
    if not is_of_pairs(plots):
        return [(name_of(plots, panel), panel) for panel in shown(plots)]
    return [(stem(panel), panel) for panel in plots.panels] if plots.described.metric == EVERY else []

"""What the page draws, as JSON. Values of runs and of flows are singles in base64, in panels' units."""

from __future__ import annotations

import json
import shlex
from base64 import b64encode
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

import numpy as np
import polars as pl

from dumbbell.engines.names import SIMULATE
from dumbbell.records.directory import RUNS
from dumbbell.report.groups import HUES
from dumbbell.report.study.model import Distribution, Panel, StudyPlots

MOST_VALUES: Final = 1_000_000
"""Values of runs on the page, of all metrics together."""
MOST_STEPS: Final = 400_000
"""Steps of distributions on the page."""
LEAST_STEPS: Final = 50


def payload(plots: StudyPlots) -> tuple[str, tuple[str, ...]]:
    """JSON that may stand inside a script element: no `<` in it; and sentences on what was thinned or left out."""
    notes: list[str] = []
    values = sum(panel.values.height for panel in plots.panels)
    with_values = values <= MOST_VALUES
    if not with_values:
        notes.append(f"Lists of runs are without values, of which there are {values:,}: dumbbell query has them.")
    steps, said = _steps(plots)
    notes += said
    notes += [
        f"{one.title}: {one.without:,} flows were not completed; curves end at the share that was."
        for one in plots.distributions
        if one.without
    ]
    layout = plots.layout
    content = {
        "confidence": plots.percent,
        "hues": [{"light": light, "dark": dark} for light, dark in HUES],
        "of": plots.of,
        "axes": [
            {"key": axis.key, "label": axis.label, "title": axis.title, "kind": axis.kind, "at": axis.at}
            | {"texts": axis.texts, "ticks": [axis.tick(i) for i in range(len(axis.texts))], "cells": axis.cells}
            for axis in plots.axes
        ],
        "x": plots.axes.index(layout.x) if layout.x else None,
        "lines": plots.axes.index(layout.lines) if layout.lines else None,
        "runs": _runs(plots),
        "command": _command(plots),
        "report": _report(plots),
        "panels": [_panel(panel, with_values) for panel in plots.panels],
        "distributions": [_distribution(one, steps) for one in plots.distributions],
    }
    return json.dumps(content, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c"), tuple(notes)


def _runs(plots: StudyPlots) -> list[list[tuple[int, str, int, int]]]:
    """Of each cell: number, id, seed and repetition of its usable runs."""
    found: list[list[tuple[int, str, int, int]]] = [[] for _ in range(plots.cells)]
    for cell, *run in plots.usable.select("cell", "run", "run_id", "seed", "repetition").iter_rows():
        found[cell].append((run[0], run[1], run[2], run[3]))
    return found


def _command(plots: StudyPlots) -> str:
    """What runs one of them again with all its records, before its `--cell` and `--repetition`."""
    engine = str(plots.manifest.get("engine", SIMULATE))
    return f"dumbbell run {shlex.quote(plots.directory + '/scenario.toml')} --engine {engine}"


def _report(plots: StudyPlots) -> str | None:
    """Before its id: where a run's own report lies, of studies whose runs have one."""
    return f"{RUNS}/{plots.name}-" if (Path(plots.directory) / RUNS).is_dir() else None


def _panel(panel: Panel, with_values: bool) -> dict[str, Any]:
    index = {of: i for i, of in enumerate(panel.of)}
    scaled = panel.points.with_columns(pl.col("mean", "median", "sd", "low", "high") / panel.factor)
    points = [
        [cell, index[of], n, *(None if value is None else float(f"{value:.7g}") for value in rest)]
        for cell, of, n, *rest in scaled.select("cell", "of", "n", "mean", "low", "high", "median", "sd").iter_rows()
    ]
    metric = panel.metric
    said = {"name": metric.name, "title": panel.title, "unit": panel.unit, "of": panel.of, "points": points}
    said |= {"direction": panel.metric.direction, "formula": panel.metric.formula, "source": panel.metric.source}
    return said | {"values": _values(panel, index) if with_values else None}


def _values(panel: Panel, index: dict[str, int]) -> dict[str, str]:
    rows = panel.values
    of = rows["of"].replace_strict(index, return_dtype=pl.UInt8)
    columns = {"run": (rows["run"], "<u4"), "of": (of, "<u1"), "value": (rows["value"] / panel.factor, "<f4")}
    return {name: _packed(column.to_numpy(), type_) for name, (column, type_) in columns.items()}


def _steps(plots: StudyPlots) -> tuple[int, Iterable[str]]:
    """Most steps of one distribution, and what to say of it."""
    lengths = [len(found) for one in plots.distributions for found in one.values.values()]
    if sum(lengths) <= MOST_STEPS:
        return max(lengths, default=0), ()
    steps = max(LEAST_STEPS, MOST_STEPS // len(lengths))
    return steps, (f"Distributions of more than {steps:,} flows are drawn from {steps:,} evenly spaced quantiles.",)


def _distribution(one: Distribution, steps: int) -> dict[str, Any]:
    curves = []
    for (cell, of), values in one.values.items():
        scaled = values.to_numpy() / one.factor
        thinned = len(scaled) > steps
        if thinned:
            scaled = np.quantile(scaled, np.linspace(0, 1, steps))
        curve = {"cell": cell, "of": of, "label": one.label(cell, of), "share": len(values) / one.counts[cell, of]}
        curves.append(curve | {"thinned": thinned, "values": _packed(scaled, "<f4")})
    return {"key": one.key, "title": one.title, "unit": one.unit, "curves": curves}


def _packed(values: Any, type_: str) -> str:
    return b64encode(np.asarray(values).astype(type_).tobytes()).decode("ascii")

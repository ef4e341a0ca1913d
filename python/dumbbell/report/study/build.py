"""Builds a study's report from the study's frames."""

from __future__ import annotations

from typing import Final

import polars as pl

from dumbbell.counts import count
from dumbbell.errors import InputError
from dumbbell.report import words
from dumbbell.report.study.axes import Axis, axes
from dumbbell.report.study.model import Distribution, Layout, Panel, StudyPlots
from dumbbell.statistics.cells import Method, check_confidence, summarize
from dumbbell.statistics.frames import Frames, limited_links, told_equal, usable
from dumbbell.statistics.metrics import METRICS, Scope, values
from dumbbell.statistics.metrics.model import group_of
from dumbbell.statistics.verdicts import suspect_runs, verdicts

BY_FLOWS: Final = "flows"
"""The word for "by algorithm", or "by group" if there is one algorithm only."""

HEADLINES: Final[tuple[tuple[str, str], ...]] = (
    ("goodput", "run"),
    ("goodput", BY_FLOWS),
    ("goodput_share", BY_FLOWS),
    ("application_rate", BY_FLOWS),
    ("utilisation", "link"),
    ("bottleneck_share", "link"),
    ("jain_index", "run"),
    ("rtt_p50", BY_FLOWS),
    ("rtt_p95", BY_FLOWS),
    ("queue_p50", "link"),
    ("queue_p95", "link"),
    ("retransmitted_segments", BY_FLOWS),
    ("retransmitted_share", BY_FLOWS),
    ("loss_share", "link"),
    ("marked_share", "link"),
    ("completed_share", BY_FLOWS),
    ("fct_mean", BY_FLOWS),
    ("fct_p50", BY_FLOWS),
    ("fct_p95", BY_FLOWS),
    ("fct_p99", BY_FLOWS),
    ("convergence_time", "run"),
    ("converged_share", "run"),
    ("harm_goodput", BY_FLOWS),
    ("harm_rtt", BY_FLOWS),
    ("reconvergence", "run"),
    ("outage", "run"),
    ("rerouting_lost", "run"),
    ("power", "run"),
)
"""The metrics in the order of the report. A metric without a value in any run, or with 0 in all runs, is left out."""

MOST_LINES: Final = 6
"""Values of a second key that are drawn into one plot."""
MOST_GROUPS: Final = 12
MOST_LINKS: Final = 6
"""Links with curves of their own: those that were the bottleneck for the longest time."""


def build(study: Frames, confidence: float, method: Method, reference: str | None = None) -> StudyPlots:
    """Raises `InputError` if no run can be used, or the confidence is none."""
    check_confidence(confidence)
    good = usable(study)
    if good.is_empty():
        why = f"none of its {count(study.runs.height, 'run')} is valid or suspect"
        raise InputError(
            f"nothing to report of {study.directory}", why, "dumbbell query STUDY 'select error from runs'"
        )
    varied = axes(study.cells, study.keys)
    of = tuple(study.flows.select(_told_apart(study).unique(maintain_order=True)).to_series())
    scenario = study.directory / "scenario.toml"
    return StudyPlots(
        name=str(study.manifest["name"]),
        directory=str(study.directory),
        manifest=study.manifest,
        scenario=scenario.read_text(encoding="utf-8") if scenario.exists() else "",
        confidence=confidence,
        method=method,
        reference=reference,
        axes=tuple(varied),
        layout=_layout(varied),
        of=of,
        cells=study.cells.height,
        runs=study.runs,
        usable=good,
        verdicts=verdicts(study.runs),
        suspect=suspect_runs(study),
        panels=_panels(study, of, confidence, method),
        distributions=_distributions(study),
        notes=_notes(study),
    )


def _notes(study: Frames) -> tuple[str, ...]:
    said = [f"{one}: equal results, not further evidence." for one in study.manifest.get("equal", [])]
    return (*said, *([told_equal(study)] if study.copies else []))


def _layout(varied: list[Axis]) -> Layout:
    rest = varied[1:]
    lines = next((axis for axis in sorted(rest, key=lambda one: len(one.texts)) if len(axis.texts) <= MOST_LINES), None)
    return Layout(varied[0] if varied else None, lines, tuple(axis for axis in rest if axis is not lines))


def _panels(study: Frames, order: tuple[str, ...], confidence: float, method: Method) -> tuple[Panel, ...]:
    by, links = by_flows(study), limited_links(study)[:MOST_LINKS]
    # If each scope has one flow, the rate of its application would repeat the goodput.
    single = study.flows.group_by("run", _told_apart(study).alias("of")).len()["len"].max() == 1
    found = []
    for name, wanted in HEADLINES:
        metric = METRICS[name]
        scope: Scope = by if wanted == BY_FLOWS else wanted  # type: ignore[assignment]
        if scope not in metric.scopes:
            continue
        rows = values(study, metric, scope)
        if scope == "link":
            rows = rows.filter(pl.col("of").is_in(links))
        # A share of the time as bottleneck says nothing where only one link can be it.
        if (name == "application_rate" and single) or (name == "bottleneck_share" and len(links) < 2):
            continue
        if rows.is_empty() or rows["value"].abs().max() == 0:
            continue
        there = set(rows["of"])
        of = tuple(name for name in (*order, *links) if name in there) or tuple(there)
        points = summarize(rows, confidence, method)
        factor, unit = unit_of(metric.unit, float(points["mean"].abs().max() or 0))  # type: ignore[arg-type]
        of_link = f", {links[0]}" if len(links) == 1 else " by link"
        whose = {"link": of_link, "run": ", all flows" if len(metric.scopes) > 1 else ""}.get(scope, "")
        found.append(Panel(metric, scope, metric.title + whose, unit, factor, of, points, rows))
    return tuple(found)


def by_flows(study: Frames) -> Scope:
    """The scopes that separate flows: their algorithms, or their entries if all have one algorithm."""
    flows = study.flows
    algorithms = flows.select(pl.coalesce("cc", "protocol").n_unique()).item()
    groups = flows.select(group_of(flows).n_unique()).item()
    return "group" if algorithms == 1 and 2 <= groups <= MOST_GROUPS else "algorithm"


def _told_apart(study: Frames) -> pl.Expr:
    return pl.coalesce("cc", "protocol") if by_flows(study) == "algorithm" else group_of(study.flows)


def _distributions(study: Frames) -> tuple[Distribution, ...]:
    good = study.flows.join(usable(study).select("run"), on="run", how="semi").with_columns(of=_told_apart(study))
    found = []
    for key, column, title, base in (
        ("fct", "fct_s", "Flow completion time", "s"),
        ("goodput", "goodput_bps", "Goodput of each flow", "bit/s"),
    ):
        rows = good.filter(pl.col(column).is_not_null()).select("cell", "of", value=pl.col(column).cast(pl.Float64))
        if rows.is_empty():
            continue
        grouped = rows.sort("value").group_by("cell", "of", maintain_order=True).agg("value").sort("cell", "of")
        of_all = good.filter(pl.col(column).is_not_null() | (pl.col("has_size") & (key == "fct")))
        counts = {(cell, of): n for cell, of, n in of_all.group_by("cell", "of").len().iter_rows()}
        factor, unit = unit_of(base, float(rows["value"].max()))  # type: ignore[arg-type]
        sorted_values = {(cell, of): values for cell, of, values in zip(*grouped.get_columns(), strict=True)}
        found.append(Distribution(key, title, unit, factor, sorted_values, counts))
    return tuple(found)


def unit_of(unit: str, largest: float) -> tuple[float, str]:
    """Divisor and name that suit values up to `largest`; shares in percent."""
    match unit:
        case "bit/s":
            return words.rate_unit(largest)
        case "B":
            return words.size_unit(largest)
        case "s" if 0 < largest < 1:
            return 1e-3, "ms"
        case "share":
            return 0.01, "%"
    return 1.0, unit

"""Builds a study's report from the study's frames."""

from __future__ import annotations

from typing import Final

import polars as pl

from dumbbell import inputs
from dumbbell.cc.names import title
from dumbbell.counts import count
from dumbbell.errors import InputError
from dumbbell.report.study.arrangement import EVERY, arranged, layout, ordered
from dumbbell.report.study.axes import Axis, axes
from dumbbell.report.study.model import Distribution, Panel, StudyPlots
from dumbbell.report.study.pairs import pairs
from dumbbell.report.study.panel import panel, unit_of
from dumbbell.scenario.file.loading import LARGEST
from dumbbell.scenario.study import Plot
from dumbbell.statistics.cells import Method, check_confidence
from dumbbell.statistics.frames import Frames, limited_links, told_equal, usable
from dumbbell.statistics.metrics import METRICS, Scope, get, scope_of, values
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

MOST_GROUPS: Final = 12
MOST_LINKS: Final = 6
"""Links with curves of their own: those that were the bottleneck for the longest time."""


def build(
    study: Frames, confidence: float, method: Method, reference: str | None = None, described: Plot | None = None
) -> StudyPlots:
    """Raises `InputError` if no run can be used, the confidence is none, or the study lacks what is `described`."""
    wanted = described or Plot(metric=EVERY)
    check_confidence(confidence)
    good = usable(study)
    if good.is_empty():
        why = f"none of its {count(study.runs.height, 'run')} is valid or suspect"
        raise InputError(
            f"nothing to report of {study.directory}", why, "dumbbell query STUDY 'select error from runs'"
        )
    varied = arranged(axes_of(study), wanted)
    of = tuple(study.flows.select(_told_apart(study).unique(maintain_order=True)).to_series())
    of = tuple(of[i] for i in ordered(range(len(of)), [(name, title(name)) for name in of], wanted.order))
    panels = _panels(study, of, confidence, method, described)
    scenario = study.directory / "scenario.toml"
    return StudyPlots(
        name=str(study.manifest["name"]),
        directory=str(study.directory),
        manifest=study.manifest,
        scenario=inputs.read_own(study.directory, scenario.name, LARGEST) if scenario.exists() else "",
        confidence=confidence,
        method=method,
        reference=reference,
        axes=tuple(varied),
        layout=layout(varied, of, wanted),
        of=of,
        cells=study.cells.height,
        runs=study.runs,
        usable=good,
        verdicts=verdicts(study.runs),
        suspect=suspect_runs(study),
        panels=panels,
        distributions=_distributions(study),
        notes=_notes(study),
        pairs=pairs(study, varied, of, confidence, method, wanted),
        described=wanted,
    )


def _notes(study: Frames) -> tuple[str, ...]:
    said = [f"{one}: equal results, not further evidence." for one in study.manifest.get("equal", [])]
    return (*said, *([told_equal(study)] if study.copies else []))


def axes_of(study: Frames) -> list[Axis]:
    """The axes of a study's keys. Where runs have flows of several entries, an algorithm's label says of which."""
    entries = study.flows.group_by("run").agg(group_of(study.flows).n_unique().alias("n"))["n"]
    return axes(study.cells, study.keys, several=bool(entries.max() != 1))


def _wanted(study: Frames, described: Plot | None) -> tuple[tuple[str, str], ...]:
    """Metrics and scopes: those of the page, or those that a description names."""
    if described is None or described.metric == EVERY:
        return HEADLINES
    metric = get(described.metric)
    if described.by is not None:
        return ((metric.name, scope_of(metric, described.by)),)
    shown = [(name, scope) for name, scope in HEADLINES if name == metric.name]
    return tuple(shown or [(metric.name, metric.scopes[0])])


def _panels(
    study: Frames, order: tuple[str, ...], confidence: float, method: Method, described: Plot | None
) -> tuple[Panel, ...]:
    by, links = by_flows(study), limited_links(study)[:MOST_LINKS]
    # If each scope has one flow, the rate of its application would repeat the goodput.
    single = described is None and study.flows.group_by("run", _told_apart(study).alias("of")).len()["len"].max() == 1
    found: list[Panel] = []
    for name, wanted in _wanted(study, described):
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
        # Nor does the share of an algorithm that is alone in each run.
        if name == "goodput_share" and described is None and rows["value"].min() == 1:
            continue
        if rows.is_empty() or rows["value"].abs().max() == 0:
            continue
        # Nor does a picture that was asked for show the only flow of each run twice.
        if described is not None and described.metric != EVERY and any(_are_alike(rows, one.values) for one in found):
            continue
        of_link = f", {links[0]}" if len(links) == 1 else " by link"
        whose = {"link": of_link, "run": ", all flows" if len(metric.scopes) > 1 else ""}.get(scope, "")
        title, ceilings = metric.title + whose, metric.ceilings(study)
        found.append(panel(metric, scope, title, (*order, *links), rows, confidence, method, ceilings))
    if not found and described is not None:
        raise InputError(f"no values of {described.metric!r}", "no run of the study has this metric")
    return tuple(found)


def _are_alike(rows: pl.DataFrame, others: pl.DataFrame) -> bool:
    """True if runs have the same values, one each, by another scope."""
    return rows.select("run", "value").sort("run").equals(others.select("run", "value").sort("run"))


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
    for key, column, said, base in (
        ("fct", "fct_s", "Flow completion time", "s"),
        ("goodput", "goodput_bps", "Goodput of each flow", "bit/s"),
    ):
        rows = good.filter(pl.col(column).is_not_null()).select("cell", "of", value=pl.col(column).cast(pl.Float64))
        if rows.is_empty():
            continue
        if rows.group_by("cell", "of").len()["len"].max() == 1:
            continue  # A value by itself has no distribution.
        grouped = rows.sort("value").group_by("cell", "of", maintain_order=True).agg("value").sort("cell", "of")
        of_all = good.filter(pl.col(column).is_not_null() | (pl.col("has_size") & (key == "fct")))
        counts = {(cell, of): n for cell, of, n in of_all.group_by("cell", "of").len().iter_rows()}
        factor, unit = unit_of(base, float(rows["value"].max()))  # type: ignore[arg-type]
        sorted_values = {(cell, of): values for cell, of, values in zip(*grouped.get_columns(), strict=True)}
        found.append(Distribution(key, said, unit, factor, sorted_values, counts))
    return tuple(found)

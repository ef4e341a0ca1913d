"""The report as one HTML file: style, script and data are inside, nothing is fetched."""

from __future__ import annotations

from importlib.resources import files
from string import Template
from typing import Final

from dumbbell.command import rebuild
from dumbbell.errors import DumbbellError
from dumbbell.records import Run
from dumbbell.report.facts import Facts, facts, has_summary
from dumbbell.report.model import Plots
from dumbbell.report.render import sections, tables
from dumbbell.report.render.markup import Html, digest, el, join
from dumbbell.report.render.payload import payload
from dumbbell.report.series import build

PROGRAMS: Final = ("report", "study")
"""Names of the programs that draw plots; a page has one of them."""


def page(run: Run) -> str:
    """The report of `run`. Raises DumbbellError if the front end was not built or the summary lacks a key."""
    plots, known = build(run), facts(run)
    measured = has_summary(run)
    return document(
        title=f"{run.name}: {run.verdict if measured else 'failed'}",
        verdict=sections.verdict(run),
        name=run.name,
        facts=sections.facts(run, known),
        main=of_run(
            tables=_tables(run, plots, known) if measured else Html(""),
            missing=sections.missing(plots.missing),
            checks=sections.checks(run),
            scenario=sections.scenario(run),
            machine=sections.machine(run),
            command=sections.command(run),
        ),
        footer=f"Run {run.manifest.get('run_id', '')} in {run.directory.name}. This file needs no network.",
        series=payload(plots),
    )


def document(
    title: str, verdict: Html, name: str, facts: Html, main: Html, footer: str, series: str, program: str = "report"
) -> str:
    """A page: its first line, its facts, what it shows, and the series and the program that draw its plots."""
    script = read(f"assets/{program}.js")
    return Template(read("page.html")).substitute(
        digest=digest(script),
        title=join(title),
        style=read(f"assets/{program}.css"),
        verdict=verdict,
        name=join(name),
        facts=facts,
        main=main,
        footer=join(footer),
        series=series,
        script=script,
    )


def of_run(tables: Html, missing: Html, checks: Html, scenario: Html, machine: Html, command: Html) -> Html:
    """The content of a run's page."""
    parts = {"tables": tables, "missing": missing, "checks": checks}
    return Html(
        Template(read("run.html")).substitute(parts, scenario=scenario, machine=machine, command=command).rstrip()
    )


def _tables(run: Run, plots: Plots, known: Facts) -> Html:
    return join(
        el("h2", "Flows"),
        tables.grouped(run, plots.groups),
        tables.flows(run, plots.groups, known.has_several),
        tables.algorithms(run),
        el("h2", "Links"),
        tables.links(run, known, plots),
        tables.packet_events(run),
        tables.changes(plots),
        tables.rerouting(run),
    )


def read(name: str) -> str:
    """A file of the page. Raises `DumbbellError` if the front end was not built."""
    try:
        return files("dumbbell.report").joinpath(name).read_text(encoding="utf-8")
    except FileNotFoundError:
        raise DumbbellError(
            "the report's front end is missing",
            f"{name} was not built into the package",
            rebuild(),
        ) from None

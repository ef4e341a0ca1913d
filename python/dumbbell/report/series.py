"""All plots of a run, from its tables: the one source of the page, the figures and the CSV files."""

from __future__ import annotations

from collections.abc import Container, Sequence
from itertools import chain

from dumbbell import parquet
from dumbbell.errors import DumbbellError
from dumbbell.records import Run
from dumbbell.report import acks as of_acks
from dumbbell.report import words
from dumbbell.report.changes import changes
from dumbbell.report.definition import Definition, Gatherer
from dumbbell.report.facts import facts
from dumbbell.report.groups import groups
from dumbbell.report.model import Panel, Plots
from dumbbell.report.panels import definitions
from dumbbell.report.source import Source


def build(run: Run, only: Container[str] | None = None) -> Plots:
    """Gather what to draw. A missing or truncated table costs its panels, and `missing` lists it.

    `only`: the titles of the panels that are wanted; by default, all.
    """
    known, legend = facts(run), groups(run)
    wanted = [one for one in definitions() if only is None or one.title in only]
    columns = chain.from_iterable(one.sample_columns for one in wanted)
    source = Source(run, known, legend, frozenset(columns))
    gatherers = _gather(wanted, source)
    if (why := of_acks.absent(run)) is not None:
        source.missing.append(why)
    drawn, absent = _draw(wanted, gatherers, source)
    if run.plan.record.packets and not run.has("packets"):
        source.lack("The queue of each packet, drops of each flow: packets.parquet is missing.")
    if absent:
        source.missing.append(f"{words.listed(absent)}: no flow has samples of it.")
    duration = run.plan.duration_ns / 1e9
    return Plots(run.plan.name, duration, legend, tuple(drawn), changes(run, known), tuple(source.missing))


def _gather(wanted: Sequence[Definition], source: Source) -> list[Gatherer]:
    """All panels; each flow's ACKs are read once, one flow after another."""
    gatherers = [one.start(source) for one in wanted]
    if not source.run.has("acks"):
        return gatherers
    columns = frozenset(chain.from_iterable(one.ack_columns for one in wanted))
    try:
        for acks in of_acks.each(source.run, source.groups, columns):
            source.with_acks.add(acks.flow)
            for gatherer in gatherers:
                gatherer.add(acks)
    except DumbbellError as error:
        source.say(["Every ACK"], error)
    except parquet.errors() as error:
        source.say(["Every ACK"], source.run.unreadable(error))
    else:
        return gatherers
    source.with_acks.clear()
    return [one.start(source) for one in wanted]


def _draw(wanted: Sequence[Definition], gatherers: Sequence[Gatherer], source: Source) -> tuple[list[Panel], list[str]]:
    """The panels that can be drawn, and titles of those that were expected and have nothing to show."""
    drawn: list[Panel] = []
    absent: list[str] = []
    failed: list[tuple[str, DumbbellError]] = []
    for one, gatherer in zip(wanted, gatherers, strict=True):
        try:
            panel = gatherer.panel()
        except DumbbellError as error:
            failed.append((one.title, error))
            continue
        except parquet.errors() as error:
            failed.append((one.title, source.run.unreadable(error)))
            continue
        if panel is not None:
            drawn.append(panel)
        elif one.is_expected:
            absent.append(one.title)
    for said in dict.fromkeys(str(error) for _, error in failed):
        of = [(title, error) for title, error in failed if str(error) == said]
        source.say([title for title, _ in of], of[0][1])
    return drawn, absent

"""All plots of a run, from its tables: the one source of the page, the figures and the CSV files."""

from __future__ import annotations

from dumbbell.errors import DumbbellError
from dumbbell.records import Run
from dumbbell.report import words
from dumbbell.report.capacity import VaryingCapacity
from dumbbell.report.changes import changes
from dumbbell.report.events import NOTHING, events
from dumbbell.report.facts import facts
from dumbbell.report.flow_panels import Samples
from dumbbell.report.flow_panels import panels as flow_panels
from dumbbell.report.groups import groups
from dumbbell.report.model import Panel, Plots
from dumbbell.report.queue_panel import panels as queue_panels

_ORDER = ("goodput", "cwnd", "srtt", "queue", "sojourn", "bytes_in_flight")
_TITLES = ("Throughput", "Congestion window", "RTT", "Bytes in flight")


def build(run: Run) -> Plots:
    """Gather what to draw. A table that is missing or cut short costs its panels, and `missing` says so."""
    known, legend = facts(run), groups(run)
    drawn: list[Panel] = []
    missing: list[str] = []
    samples = capacity = None
    try:
        capacity = VaryingCapacity.read(run, known)
    except DumbbellError as error:
        missing.append(f"Capacity: {_reason(error)}.")
    try:
        samples = Samples.read(run, legend)
        drawn += flow_panels(samples, known, capacity)
    except DumbbellError as error:
        missing.append(f"{words.listed(_TITLES)}: {_reason(error)}.")
    try:
        drawn += queue_panels(run, known, legend)
    except DumbbellError as error:
        missing.append(f"Queue: {_reason(error)}.")
    try:
        found = events(run, legend, samples.rows if samples else None)
    except DumbbellError as error:
        found = NOTHING
        missing.append(f"Drops and retransmissions: {_reason(error)}.")
    if run.plan["record"]["packets"] and not run.has("packets"):
        missing.append("The queue of each packet, drops of each flow: packets.parquet is missing.")
    if samples is not None:
        absent = [title for title in _TITLES if title not in {panel.title for panel in drawn}]
        if absent:
            missing.append(f"{words.listed(absent)}: no flow has samples of it.")
    drawn.sort(key=lambda panel: next(i for i, start in enumerate(_ORDER) if panel.key.startswith(start)))
    duration = run.plan["duration_ns"] / 1e9
    return Plots(
        run.plan["name"],
        duration,
        legend,
        tuple(drawn),
        changes(run, known),
        found.kinds,
        found.events,
        found.note,
        found.per_flow,
        tuple(missing),
    )


def _reason(error: DumbbellError) -> str:
    what = error.what.rsplit("/", 1)[-1]
    return f"{what} ({error.why})" if error.why else what

"""All plots of a run, from its tables: the one source of the page, the figures and the CSV files."""

from __future__ import annotations

from dataclasses import dataclass

from dumbbell.errors import DumbbellError
from dumbbell.records import Run
from dumbbell.report import acks as of_acks
from dumbbell.report import flow_panels, states, words
from dumbbell.report.ack_panels import Gathered
from dumbbell.report.capacity import VaryingCapacity
from dumbbell.report.changes import changes
from dumbbell.report.events import NOTHING, events
from dumbbell.report.facts import Facts, facts
from dumbbell.report.flow_panels import Samples
from dumbbell.report.groups import groups
from dumbbell.report.kleinrock import Clouds, kleinrock
from dumbbell.report.model import Bands, Kleinrock, Panel, Plots
from dumbbell.report.queue_panel import panels as queue_panels

_ORDER = ("goodput", "delivery_rate", "bbr_bw", "cwnd", "srtt", "rtt", "queue", "sojourn", "bytes_in_flight", "snd_nxt")
_TITLES = ("Goodput", "Congestion window", "RTT", "Bytes in flight")


def build(run: Run) -> Plots:
    """Gather what to draw. A table that is missing or cut short costs its panels, and `missing` says so."""
    known, legend = facts(run), groups(run)
    drawn: list[Panel] = []
    missing: list[str] = []
    samples = capacity = flows = None
    try:
        capacity = VaryingCapacity.read(run, known)
    except DumbbellError as error:
        missing.append(f"Capacity: {_reason(error)}.")
    try:
        samples = Samples.read(run, legend)
        goodput = flow_panels.goodput_panel(samples, known, capacity)
        drawn += [goodput] if goodput is not None else []
        try:
            flows = _Flows.read(run, known, samples, run.has("acks"))
        except DumbbellError as error:
            missing.append(f"Every ACK: {_reason(error)}.")
            flows = _Flows.read(run, known, samples, with_acks=False)
        drawn += flows.panels
        if (why := of_acks.absent(run)) is not None:
            missing.append(why)
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
        flows.bands if flows else None,
        flows.kleinrock if flows else None,
    )


@dataclass(frozen=True)
class _Flows:
    """What is drawn of the flows' ACKs, or of the samples."""

    panels: list[Panel]
    bands: Bands | None
    kleinrock: Kleinrock | None

    @classmethod
    def read(cls, run: Run, known: Facts, samples: Samples, with_acks: bool) -> _Flows:
        """Each flow's ACKs once, one flow after another."""
        flows, span = samples.flows, samples.span_ns
        few = len(flows) <= of_acks.MOST_FLOWS
        gathered, clouds, lanes = Gathered(samples), Clouds(min(len(flows), of_acks.MOST_FLOWS)), []
        read: set[str] = set()
        if with_acks:
            for acks in of_acks.each(run, samples.groups):
                read.add(acks.flow)
                clouds.add(acks)
                if (lane := states.lane(acks, span)) is not None:
                    lanes.append(lane)
                if few:
                    gathered.add(acks)
        if few and not read:
            clouds.add_samples(samples)
        if few:
            gathered.add_samples()
        left_out = [] if few else [flow for flow in flows if flow not in read]
        bands = states.bands(lanes, left_out)
        return cls(
            gathered.panels(known) if few else flow_panels.of_samples(samples, known),
            bands,
            kleinrock(run, known, clouds, bands, left_out),
        )


def _reason(error: DumbbellError) -> str:
    what = error.what.rsplit("/", 1)[-1]
    return f"{what} ({error.why})" if error.why else what

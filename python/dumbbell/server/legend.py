"""What a browser needs of a run's plan to draw its measurements: names, colours, levels."""

from __future__ import annotations

from pathlib import Path

from dumbbell.plan.network import network
from dumbbell.plan.types import Link
from dumbbell.records import Run
from dumbbell.report.changes import changes
from dumbbell.report.facts import buffer_bytes, facts
from dumbbell.report.groups import groups
from dumbbell.report.states import STATES
from dumbbell.server.run_messages import Legend, LegendEvent, LegendFlow, LegendGroup, LegendLink, LegendState


def legend(path: Path) -> Legend:
    """The legend of a run, which may still go on. Raises `DumbbellError` if it has no plan yet."""
    run = Run(path, incomplete=True)
    plan = run.plan
    known = groups(run)
    group_of = {flow: (number, one.label) for number, one in enumerate(known) for flow in one.flows}
    rtts = network(plan).base_rtts_ns
    return Legend(
        duration_s=plan.duration_ns / 1e9,
        flows=[
            LegendFlow(
                id=flow.id,
                label=group_of[flow.id][1] if len(known[group_of[flow.id][0]].flows) == 1 else flow.id,
                group=group_of[flow.id][0],
                sender=flow.from_,
                receiver=flow.to,
                start_s=flow.start_ns / 1e9,
            )
            for flow in plan.flows
        ],
        groups=[
            LegendGroup(label=one.label, light=one.light, dark=one.dark, dash=[round(n) for n in one.dash])
            for one in known
        ],
        links=[_link(link) for link in plan.links],
        changes=[LegendEvent(at_s=one.time_s, words=one.label) for one in changes(run, facts(run))],
        base_rtt_s=min(rtts) / 1e9 if rtts else None,
        mtu=plan.mtu,
        states=[
            LegendState(key=one.key, word=one.word, light=one.light, dark=one.dark, height=one.height) for one in STATES
        ],
    )


def _link(link: Link) -> LegendLink:
    return LegendLink(
        name=link.name,
        sender=link.from_,
        receiver=link.to,
        rate_bps=link.rate_bps,
        buffer_bytes=None if link.rate_bps is None else buffer_bytes(link),
        delay_s=link.delay_ns / 1e9,
    )

"""Names, colours and levels that a browser needs of a run's plan to draw its measurements."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from dumbbell.plan.network import network
from dumbbell.plan.types import Link, Plan
from dumbbell.records import Run
from dumbbell.report.changes import changes
from dumbbell.report.changes import of_plan as changes_of
from dumbbell.report.facts import buffer_bytes, facts
from dumbbell.report.facts import of_plan as facts_of
from dumbbell.report.groups import groups, of_flows
from dumbbell.report.model import Change, Group
from dumbbell.report.states import STATES
from dumbbell.server.run_messages import Legend, LegendEvent, LegendFlow, LegendGroup, LegendLink, LegendState


def legend(path: Path) -> Legend:
    """The legend of a run, which may still go on. Raises `DumbbellError` if it has no plan yet."""
    run = Run(path, incomplete=True)
    return _legend(run.plan, groups(run), changes(run, facts(run)))


def of_plan(plan: Plan) -> Legend:
    """The legend of a run that nobody has carried out."""
    return _legend(plan, of_flows(plan.flows, {}), changes_of(plan, facts_of(plan, {})))


def _legend(plan: Plan, known: Sequence[Group], changed: Sequence[Change]) -> Legend:
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
        changes=[LegendEvent(at_s=one.time_s, words=one.label) for one in changed],
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

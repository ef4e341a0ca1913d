"""The verdict so far of a run that goes on: rules that judge it at its end, on the evidence that its events have."""

from __future__ import annotations

from typing import Final

from dumbbell.analysis.evidence import Evidence
from dumbbell.analysis.rules import packets, timing
from dumbbell.analysis.rules.rule import Check, Rule, Verdict, worst
from dumbbell.engines.capabilities import HANDOVER
from dumbbell.engines.events import Health
from dumbbell.engines.registry import capabilities
from dumbbell.plan.types import Plan

RULES: Final[tuple[Rule, ...]] = (timing.lateness, timing.stall, timing.read_lag, packets.ring_drops)
"""The rules whose evidence an event `progress` has: how late packets were handed over, and what the kernel lost."""


class SoFar:
    """Judges the events of one run."""

    def __init__(self, plan: Plan, engine: str) -> None:
        """A judge of runs of a plan by an engine."""
        self._plan, self._engine = plan, engine
        self.applies = HANDOVER in capabilities(engine).evidence
        """False if nothing can be late: there is no verdict so far."""

    def judge(self, health: Health) -> tuple[Verdict, list[Check]]:
        """The verdict so far, and the checks that did not pass.

        Args:
            health: `health` of an event `progress`.
        """
        network = {
            "lateness_us": {"p99": health["lateness_p99_ns"] / 1e3, "max": health["lateness_max_ns"] / 1e3},
            "read_lag_us": {"p99": health["read_lag_p99_ns"] / 1e3},
            "sent_packets": health["sent_packets"],
            "late_over_1ms": health["late_over_1ms"],
            "ring_drops": health["ring_drops"],
            "ring_packets": "all",
        }
        evidence = Evidence(
            engine=self._engine,
            plan=self._plan,
            network=network,
            traffic={},
            lab={},
            paces={},
            logged_packets=None,
            corrupted_packets=None,
            min_rtt_us={},
        )
        checks = [rule.check(evidence) for rule in RULES]
        failed = [check for check in checks if check.verdict is not Verdict.VALID]
        return worst(check.verdict for check in checks), failed
